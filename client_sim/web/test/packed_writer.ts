// Writes packed snapshots by the words of WIRE.md: what the reader is held against.

import { BitWriter } from '../src/bits';
import type { BlockTime, MovingEntity } from '../src/block_delta';
import { ByteWriter } from '../src/bytes';
import type { OwnState } from '../src/own_delta';

/** Of who keeps its velocity. */
export function foretoldPlace(base: MovingEntity, { tick, age, rate }: BlockTime): MovingEntity['place'] {
  const down = (ticks: number): number => (ticks - (((ticks % rate) + rate) % rate)) / rate;
  const t = tick % rate;
  return base.place.map((at, axis) => {
    const a = base.velocity[axis];
    return Math.max(0, Math.min(8191, at + down(8 * a * t) - down(8 * a * (t - age))));
  }) as MovingEntity['place'];
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
  writer.varint(2 * bytes.length);
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
