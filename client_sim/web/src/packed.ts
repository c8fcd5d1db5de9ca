// Packed snapshots, from bits to checked values (WIRE.md, Packed snapshots): each item with its base at hand.

import { BitReader } from './bits';
import { ByteReader, WireError } from './bytes';
import type { SnapshotHead } from './snapshot';

const mark = 1;
const partsMax = 32;
const appliedAheadMax = 256;
const blockNumbersMax = 65536;
const entitiesMax = 48;
const cellSteps = 8192;
const motionBytes = 56;
const mapsMax = 10;
const slicesMax = 1024;

// Widths in bits, by the class that stands before them.
const placeWidths = [0, 3, 6, 14];
const heightWidths = [5, 14];
const speedWidths = [3, 6, 9, 17];
const climbWidths = [7, 17];
const turnWidths = [4, 8];

/** An entity as blocks hold it: its place in steps within its cell, its velocity in 1/16 m/s. */
export interface MovingEntity {
  id: number;
  place: [number, number, number];
  velocity: [number, number, number];
  kind: number;
  yaw: number;
  pitch: number;
  health: number;
  state: number;
  flags: number;
}

export type Cell = [number, number, number];

/** What a block was at a tick. */
export interface BlockState {
  cell: Cell;
  /** By ascending id. */
  entities: MovingEntity[];
}

/** The own player: its 16 numbers in the order in which they travel, velocity and position first. */
export interface OwnState {
  id: number;
  numbers: number[];
  grounded: number;
  stuckTicks: number;
  noclip: number;
  health: number;
  deltaYaw: number;
}

export type PackedItem =
  | { type: 'block'; number: number; age: number; bytes: Uint8Array }
  | { type: 'gone'; number: number }
  | { type: 'own'; age: number; bytes: Uint8Array }
  /** Heights and motions of sectors are left as they are. */
  | { type: 'heights'; map: number; slice: number; age: number; bytes: Uint8Array }
  | { type: 'motion'; bytes: Uint8Array };

export interface PackedPart extends SnapshotHead {
  epoch: number;
  items: PackedItem[];
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new WireError(`${what} is out of bounds`);
}

/** Is an unreliable message a part of a packed snapshot? A FlatBuffer begins with an even byte. */
export function isPacked(message: Uint8Array): boolean {
  return (message[0] & 1) === 1;
}

function varint32(reader: ByteReader): number {
  const value = reader.varint();
  check(value < 2 ** 32, 'a number');
  return value;
}

function blockNumber(reader: ByteReader): number {
  const number = varint32(reader);
  check(number < blockNumbersMax, 'the number of a block');
  return number;
}

function readItems(reader: ByteReader): PackedItem[] {
  const type = reader.u8();
  switch (type) {
    case 1: {
      const [age, count] = [reader.u8(), reader.u8()];
      check(count > 0, 'a list of blocks');
      return Array.from({ length: count }, () =>
        ({ type: 'block', number: blockNumber(reader), age, bytes: reader.take(varint32(reader)) }));
    }
    case 2: {
      const count = reader.u8();
      check(count > 0, 'a list of blocks');
      return Array.from({ length: count }, () => ({ type: 'gone', number: blockNumber(reader) }));
    }
    case 3: {
      const age = reader.u8();
      return [{ type: 'own', age, bytes: reader.take(reader.u8()) }];
    }
    case 4: {
      const [age, map, slice] = [reader.u8(), reader.u8(), varint32(reader)];
      check(map < mapsMax && slice < slicesMax, 'a slice of heights');
      return [{ type: 'heights', map, slice, age, bytes: reader.take(varint32(reader)) }];
    }
    case 5:
      return [{ type: 'motion', bytes: reader.take(motionBytes) }];
    default:
      throw new WireError(`there is no item ${type} of snapshots`);
  }
}

/** Throws a WireError for what is no part. */
export function readPackedPart(message: Uint8Array): PackedPart {
  const reader = new ByteReader(message);
  check(reader.u8() === mark, 'a packed part');
  const [world, epoch, inputAhead, tick] = [reader.u8(), reader.u8(), reader.i8(), reader.u32()];
  const [part, partCount, applied] = [reader.u8(), reader.u8(), varint32(reader)];
  check(epoch !== 0 && part < partCount && partCount <= partsMax && applied <= tick + appliedAheadMax, 'a packed part');
  const items: PackedItem[] = [];
  while (reader.left > 0) items.push(...readItems(reader));
  return {
    tick, world, epoch, part, partCount, items,
    appliedTick: applied === 0 ? 0 : tick + appliedAheadMax - applied,
    inputAhead: inputAhead === -128 ? undefined : inputAhead,
  };
}

function sized(bits: BitReader, width: number): number {
  return width === 0 ? 0 : bits.signed(width);
}

function readVelocity(bits: BitReader, before: MovingEntity['velocity']): MovingEntity['velocity'] {
  if (!bits.bit()) return before;
  const width = speedWidths[bits.get(2)];
  const x = before[0] + sized(bits, width);
  const y = before[1] + sized(bits, width);
  const z = before[2] + (bits.bit() ? bits.signed(climbWidths[bits.get(1)]) : 0);
  check([x, y, z].every((steps) => steps >= -32768 && steps <= 32767), 'a velocity');
  return [x, y, z];
}

function readWhole(bits: BitReader): MovingEntity {
  const id = bits.get(32);
  const place: MovingEntity['place'] = [bits.get(13), bits.get(13), bits.get(13)];
  const [kind, yaw, flags] = [bits.get(8), bits.get(8), bits.get(8)];
  const pitch = bits.bit() ? bits.signed(8) : 0;
  const health = bits.bit() ? bits.get(8) : 255;
  const state = bits.bit() ? bits.get(8) : 0;
  const velocity = readVelocity(bits, [0, 0, 0]);
  check(id !== 0 && Math.abs(pitch) <= 64, 'an entity');
  return { id, place, velocity, kind, yaw, pitch, health, state, flags };
}

/** Where it will be on an axis after so many ticks, kept within its cell. */
function foretoldPlace(place: number, velocity: number, ticks: number, tickRateHz: number): number {
  const steps = Math.floor((Math.abs(velocity) * ticks * 16 + tickRateHz) / (2 * tickRateHz));
  return Math.max(0, Math.min(cellSteps - 1, place + (velocity < 0 ? -steps : steps)));
}

function foretell(base: MovingEntity, age: number, tickRateHz: number): MovingEntity {
  const place = base.place.map((at, axis) => foretoldPlace(at, base.velocity[axis], age, tickRateHz));
  return { ...base, place: place as MovingEntity['place'] };
}

function readChange(bits: BitReader, told: MovingEntity): MovingEntity {
  const width = placeWidths[bits.get(2)];
  const x = told.place[0] + sized(bits, width);
  const y = told.place[1] + sized(bits, width);
  const z = told.place[2] + (bits.bit() ? bits.signed(heightWidths[bits.get(1)]) : 0);
  check([x, y, z].every((steps) => steps >= 0 && steps < cellSteps), 'the place of an entity');
  const changed: MovingEntity = { ...told, place: [x, y, z], velocity: readVelocity(bits, told.velocity) };
  if (bits.bit()) changed.yaw = (told.yaw + bits.signed(turnWidths[bits.get(1)])) & 255;
  if (!bits.bit()) return changed;
  const which = bits.get(5);
  if (which & 1) changed.pitch = bits.signed(8);
  if (which & 2) changed.health = bits.get(8);
  if (which & 4) changed.state = bits.get(8);
  if (which & 8) changed.flags = bits.get(8);
  if (which & 16) changed.kind = bits.get(8);
  check(Math.abs(changed.pitch) <= 64, 'the pitch of an entity');
  return changed;
}

function readCell(bits: BitReader): Cell {
  const cell: Cell = [bits.signed(17), bits.signed(17), bits.signed(17)];
  check(cell[0] >= -16384 && cell[0] < 16384 && cell[1] >= -16384 && cell[1] < 16384, 'a cell');
  check(cell[2] >= -64 && cell[2] < 64, 'a cell');
  return cell;
}

/** Those of the base that stay: all but the gone ones, whose places in the base come first. */
function readStaying(bits: BitReader, base: readonly MovingEntity[]): MovingEntity[] {
  const gone = new Set<number>();
  const count = bits.gamma();
  check(count <= base.length, 'the number of those gone');
  for (let i = 0, at = 0; i < count; ++i, ++at) {
    at += bits.gamma();
    check(at < base.length, 'who is gone');
    gone.add(at);
  }
  return base.filter((_, i) => !gone.has(i));
}

/** @param base the block as it was `age` ticks ago; undefined with age 0. Throws a WireError for what is no block. */
export function readBlock(
  bytes: Uint8Array, base: BlockState | undefined, age: number, tickRateHz: number,
): BlockState {
  const bits = new BitReader(bytes);
  bits.bit();  // whether it was at rest: of use to who draws between two snapshots
  const cell = base ? base.cell : readCell(bits);
  let staying: readonly MovingEntity[] = base ? base.entities : [];
  const entities: MovingEntity[] = [];
  if (bits.bit()) {
    staying = readStaying(bits, staying);
    const fresh = bits.gamma();
    check(staying.length + fresh <= entitiesMax, 'the entities of a block');
    for (let i = 0; i < fresh; ++i) entities.push(readWhole(bits));
  }
  for (let i = 0; i < staying.length; ) {
    const asForetold = bits.gamma();
    check(asForetold <= staying.length - i, 'the entities of a block');
    for (const end = i + asForetold; i < end; ++i) entities.push(foretell(staying[i], age, tickRateHz));
    if (i < staying.length) entities.push(readChange(bits, foretell(staying[i++], age, tickRateHz)));
  }
  bits.end();
  entities.sort((a, b) => a.id - b.id);
  check(entities.every((entity, i) => i === 0 || entity.id > entities[i - 1].id), 'the ids of a block');
  return { cell, entities };
}

const doubleBytes = new DataView(new ArrayBuffer(8));
const sign = 1n << 63n;

/** A double's place in the order of all doubles. */
function orderOf(value: number): bigint {
  doubleBytes.setFloat64(0, value);
  const bits = doubleBytes.getBigUint64(0);
  return bits & sign ? BigInt.asUintN(64, ~bits) : bits | sign;
}

function doubleAt(order: bigint): number {
  doubleBytes.setBigUint64(0, order & sign ? order & ~sign : BigInt.asUintN(64, ~order));
  return doubleBytes.getFloat64(0);
}

function readNumber(bits: BitReader, told: number): number {
  if (!bits.bit()) return told;
  const bytes = bits.get(3) + 1;
  let folded = 0n;
  for (let i = 0; i < bytes; ++i) folded |= BigInt(bits.get(8)) << BigInt(8 * i);
  const off = folded & 1n ? ~(folded >> 1n) : folded >> 1n;
  return doubleAt(BigInt.asUintN(64, orderOf(told) + off));
}

/** Number i as the base foretells it, those before it known. */
function foretoldNumber(known: number[], base: number[], i: number, age: number, tickRateHz: number): number {
  if (i >= 3 && i < 6) {
    const stepM = known[i - 3] * (1 / tickRateHz);
    let at = base[i];
    for (let tick = 0; tick < age; ++tick) at += stepM;
    return at;
  }
  return i >= 6 && i < 9 && base[i - 3] === base[i] ? known[i - 3] : base[i];
}

/** What an own player without a base is told against. */
const nobody: OwnState = {
  id: 0, numbers: new Array<number>(16).fill(0), grounded: 0, stuckTicks: 0, noclip: 0, health: 0, deltaYaw: 0,
};

/** Throws a WireError for what is no own player. */
export function readOwnState(
  bytes: Uint8Array, base: OwnState | undefined, age: number, tickRateHz: number,
): OwnState {
  const bits = new BitReader(bytes);
  const before = base ?? nobody;
  const own: OwnState = { ...before, id: bits.bit() ? bits.get(32) : before.id, numbers: [] };
  for (let i = 0; i < before.numbers.length; ++i) {
    own.numbers.push(readNumber(bits, foretoldNumber(own.numbers, before.numbers, i, age, tickRateHz)));
  }
  if (bits.bit()) {
    [own.grounded, own.stuckTicks, own.noclip, own.health] = [bits.get(8), bits.get(8), bits.get(8), bits.get(8)];
    own.deltaYaw = bits.get(16);
  }
  bits.end();
  check(own.id !== 0 && own.numbers.every(Number.isFinite), 'the own player');
  const [x, y, z] = own.numbers.slice(3, 6);
  check(Math.abs(x) < 2 ** 20 && Math.abs(y) < 2 ** 20 && Math.abs(z) < 2 ** 12, 'the place of the own player');
  return own;
}
