// Blocks of packed snapshots, from bits to checked values (WIRE.md, Packed snapshots): each with its base at hand.

import { BitReader } from './bits';
import { check } from './bytes';
import { fieldsFor, kindOf, noReplication, type Audience, type Replication } from './replication';
import { cellSteps } from './snapshot';

const entitiesMax = 48;
const groupEntitiesMax = 16;

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
  /** Added ones for all, in steps, by their numbers in the kind. */
  fields: number[];
}

export type Cell = [number, number, number];

/** What a block was at a tick. */
export interface BlockState {
  cell: Cell;
  /** By ascending id. */
  entities: MovingEntity[];
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
  return { id, place, velocity, kind, yaw, pitch, health, state, flags, fields: [] };
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

/** The added fields for all, of those whose kind has any: by what differs from the base. */
function readFields(
  bits: BitReader, entities: MovingEntity[], base: readonly MovingEntity[], replication: Replication,
): void {
  const before = new Map(base.map((entity) => [entity.id, entity]));
  const telling = entities.filter((entity) => fieldsFor(replication, entity.kind, 'all').length > 0);
  for (let i = 0; i < telling.length; ) {
    const same = bits.gamma();
    check(same <= telling.length - i, 'the fields of a block');
    for (let n = 0; n <= same && i < telling.length; ++n, ++i) {
      const entity = telling[i];
      const was = before.get(entity.id);
      const kept = was && was.kind === entity.kind ? was.fields : [];
      entity.fields = kindOf(replication, entity.kind)!.fields.map((_, field) => kept[field] ?? 0);
      if (n < same) continue;
      for (const field of fieldsFor(replication, entity.kind, 'all')) {
        if (bits.bit()) entity.fields[field.number] = bits.get(field.bits);
      }
    }
  }
}

/** Of a group of entities whose fields only some are told. */
export interface PrivateEntity {
  id: number;
  kind: number;
  /** In steps, by their numbers in the kind; 0 for those of another audience. */
  fields: number[];
}

/** Throws a WireError for what is no group. */
export function readGroup(bytes: Uint8Array, to: Audience, replication: Replication): PrivateEntity[] {
  const bits = new BitReader(bytes);
  const count = bits.gamma();
  check(count <= groupEntitiesMax, 'a group of fields');
  let before = 0;
  const entities = Array.from({ length: count }, (): PrivateEntity => {
    const [id, kind] = [bits.get(32), bits.get(8)];
    const told = fieldsFor(replication, kind, to);
    check(id > before && told.length > 0, 'an entity of a group');
    before = id;
    const fields = kindOf(replication, kind)!.fields.map(() => 0);
    for (const field of told) fields[field.number] = bits.get(field.bits);
    return { id, kind, fields };
  });
  bits.end();
  return entities;
}

/** @param base the block as it was `age` ticks ago; undefined with age 0. Throws a WireError for what is no block. */
export function readBlock(
  bytes: Uint8Array, base: BlockState | undefined, age: number, tickRateHz: number,
  replication: Replication = noReplication,
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
  entities.sort((a, b) => a.id - b.id);
  check(entities.every((entity, i) => i === 0 || entity.id > entities[i - 1].id), 'the ids of a block');
  readFields(bits, entities, base?.entities ?? [], replication);
  bits.end();
  return { cell, entities };
}
