// Writes packed snapshots by the words of WIRE.md: what the reader is held against.

import { BitWriter } from '../src/bits';
import type { BlockState, MovingEntity } from '../src/block_delta';
import { ByteWriter } from '../src/bytes';
import type { OwnState } from '../src/own_delta';

const fits = (value: number, width: number): boolean =>
  width === 0 ? value === 0 : value >= -(2 ** (width - 1)) && value < 2 ** (width - 1);

/** A class, then the values, each as wide as the narrowest class that holds all. */
function putClassed(bits: BitWriter, classBits: number, widths: number[], ...values: number[]): void {
  const at = widths.findIndex((width) => values.every((value) => fits(value, width)));
  bits.put(at, classBits);
  for (const value of values) if (widths[at] > 0) bits.signed(value, widths[at]);
}

function putVelocity(bits: BitWriter, now: number[], before: number[]): void {
  const [x, y, z] = now.map((steps, axis) => steps - before[axis]);
  bits.bit(x !== 0 || y !== 0 || z !== 0);
  if (x === 0 && y === 0 && z === 0) return;
  putClassed(bits, 2, [3, 6, 9, 17], x, y);
  bits.bit(z !== 0);
  if (z !== 0) putClassed(bits, 1, [7, 17], z);
}

function putWhole(bits: BitWriter, entity: MovingEntity): void {
  bits.put(entity.id, 32);
  for (const steps of entity.place) bits.put(steps, 13);
  for (const byte of [entity.kind, entity.yaw, entity.flags]) bits.put(byte, 8);
  bits.bit(entity.pitch !== 0);
  if (entity.pitch !== 0) bits.signed(entity.pitch, 8);
  bits.bit(entity.health !== 255);
  if (entity.health !== 255) bits.put(entity.health, 8);
  bits.bit(entity.state !== 0);
  if (entity.state !== 0) bits.put(entity.state, 8);
  putVelocity(bits, entity.velocity, [0, 0, 0]);
}

export function foretoldPlace(base: MovingEntity, age: number, tickRateHz: number): number[] {
  return base.place.map((at, axis) => {
    const exact = (base.velocity[axis] * age * 8) / tickRateHz;
    const steps = Math.sign(exact) * Math.round(Math.abs(exact));
    return Math.max(0, Math.min(8191, at + steps));
  });
}

function putChange(bits: BitWriter, now: MovingEntity, base: MovingEntity, told: number[]): void {
  const [x, y, z] = now.place.map((at, axis) => at - told[axis]);
  putClassed(bits, 2, [0, 3, 6, 14], x, y);
  bits.bit(z !== 0);
  if (z !== 0) putClassed(bits, 1, [5, 14], z);
  putVelocity(bits, now.velocity, base.velocity);
  const turn = ((now.yaw - base.yaw + 128) & 255) - 128;
  bits.bit(turn !== 0);
  if (turn !== 0) putClassed(bits, 1, [4, 8], turn);
  const fields = ['pitch', 'health', 'state', 'flags', 'kind'] as const;
  const changed = fields.filter((field) => now[field] !== base[field]);
  bits.bit(changed.length > 0);
  if (changed.length === 0) return;
  bits.put(fields.reduce((sum, field, i) => sum + (changed.includes(field) ? 1 << i : 0), 0), 5);
  for (const field of changed) bits.put(now[field] & 255, 8);
}

const same = (now: MovingEntity, base: MovingEntity, told: number[]): boolean =>
  JSON.stringify(now) === JSON.stringify({ ...base, place: told });

export function writeBlock(
  now: BlockState, base: BlockState | undefined, age: number, tickRateHz: number,
): Uint8Array {
  const bits = new BitWriter();
  bits.bit(false);
  if (!base) for (const index of now.cell) bits.signed(index, 17);
  const before = base?.entities ?? [];
  const ids = new Set(now.entities.map(({ id }) => id));
  const old = new Set(before.map(({ id }) => id));
  const fresh = now.entities.filter(({ id }) => !old.has(id));
  const gone = before.filter(({ id }) => !ids.has(id));
  bits.bit(fresh.length + gone.length > 0);
  if (fresh.length + gone.length > 0) {
    bits.gamma(gone.length);
    let stayed = 0;
    for (const { id } of before) {
      if (ids.has(id)) {
        ++stayed;
      } else {
        bits.gamma(stayed);
        stayed = 0;
      }
    }
    bits.gamma(fresh.length);
    for (const entity of fresh) putWhole(bits, entity);
  }
  let run = 0;
  for (const entity of before.filter(({ id }) => ids.has(id))) {
    const here = now.entities.find(({ id }) => id === entity.id)!;
    const told = foretoldPlace(entity, age, tickRateHz);
    if (same(here, entity, told)) {
      ++run;
    } else {
      bits.gamma(run);
      run = 0;
      putChange(bits, here, entity, told);
    }
  }
  if (run > 0) bits.gamma(run);
  return bits.finish();
}

const order = (value: number): bigint => {
  const bits = new BigInt64Array(new Float64Array([value]).buffer)[0];
  return bits < 0n ? BigInt.asUintN(64, ~bits) : BigInt.asUintN(64, bits) + 2n ** 63n;
};

export function writeOwn(now: OwnState, base: OwnState | undefined, age: number, tickRateHz: number): Uint8Array {
  const zero = { id: 0, numbers: new Array<number>(16).fill(0) };
  const before = base ?? { ...zero, grounded: 0, stuckTicks: 0, noclip: 0, health: 0, deltaYaw: 0 };
  const bits = new BitWriter();
  bits.bit(now.id !== before.id);
  if (now.id !== before.id) bits.put(now.id, 32);
  now.numbers.forEach((number, i) => {
    let told = before.numbers[i];
    if (i >= 3 && i < 6) {
      for (let tick = 0; tick < age; ++tick) told += now.numbers[i - 3] * (1 / tickRateHz);
    } else if (i >= 6 && i < 9 && before.numbers[i - 3] === told) {
      told = now.numbers[i - 3];
    }
    const off = BigInt.asIntN(64, order(number) - order(told));
    const folded = off < 0n ? -2n * off - 1n : 2n * off;
    bits.bit(folded !== 0n);
    if (folded === 0n) return;
    const bytes = Math.ceil(folded.toString(2).length / 8);
    bits.put(bytes - 1, 3);
    for (let byte = 0; byte < bytes; ++byte) bits.put(Number((folded >> BigInt(8 * byte)) & 255n), 8);
  });
  const others = (own: OwnState): number[] => [own.grounded, own.stuckTicks, own.noclip, own.health];
  const changed = others(now).join() !== others(before).join() || now.deltaYaw !== before.deltaYaw;
  bits.bit(changed);
  if (changed) {
    for (const byte of others(now)) bits.put(byte, 8);
    bits.put(now.deltaYaw, 16);
  }
  return bits.finish();
}

export interface WrittenPart {
  tick: number;
  epoch?: number;
  part?: number;
  partCount?: number;
  appliedTick?: number;
  items: Uint8Array[];
}

export function writePart({ tick, epoch = 1, part = 0, partCount = 1, appliedTick = 0, items }: WrittenPart): Uint8Array {
  const writer = new ByteWriter();
  for (const byte of [1, 1, epoch, 2]) writer.u8(byte);
  writer.u32(tick);
  writer.u8(part);
  writer.u8(partCount);
  writer.varint(appliedTick === 0 ? 0 : tick + 256 - appliedTick);
  for (const item of items) writer.put(item);
  return writer.finish();
}

export function blockItem(number: number, age: number, bytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter();
  for (const byte of [1, age, 1]) writer.u8(byte);
  writer.varint(number);
  writer.varint(bytes.length);
  writer.put(bytes);
  return writer.finish();
}

export function goneItem(number: number): Uint8Array {
  const writer = new ByteWriter();
  for (const byte of [2, 1]) writer.u8(byte);
  writer.varint(number);
  return writer.finish();
}

export function ownItem(age: number, bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([3, age, bytes.length, ...bytes]);
}
