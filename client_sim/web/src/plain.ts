// Parts of plain snapshots, from tables to items (WIRE.md, Snapshots).

import type { GroupedEntity } from '../generated/ashlar/wire/grouped-entity';
import type { EntityRecord } from '../generated/ashlar/wire/entity-record';
import type { Snapshot as WireSnapshot } from '../generated/ashlar/wire/snapshot';
import type { BlockState, Cell, MovingEntity, PrivateEntity } from './block_delta';
import { check, present } from './bytes';
import { checkedCue, type Cue } from './cues';
import { checkOwn, type OwnState } from './own_delta';
import { fieldsFor, kindOf, type Audience, type Replication } from './replication';
import { checkMotion, checkSlice, motionsMax } from './sectors';
import {
  appliedAheadMax, checkEntity, entitiesMax, groupEntitiesMax, isCell, partsMax, type SnapshotItem,
  type SnapshotPart, type Triple,
} from './snapshot';

const cuesMax = 32;

function each<T>(length: number, at: (i: number) => T | null, what: string): T[] {
  return Array.from({ length }, (_, i) => present(at(i), what));
}

/** The next so many of a list. */
class Walk<T> {
  private taken = 0;
  constructor(private readonly list: readonly T[], private readonly what: string) {}
  next(count: number): T[] {
    check(this.taken + count <= this.list.length, this.what);
    this.taken += count;
    return this.list.slice(this.taken - count, this.taken);
  }
  end(): void {
    check(this.taken === this.list.length, this.what);
  }
}

function ascends(ids: readonly number[]): boolean {
  return ids.every((id, i) => i === 0 || id > ids[i - 1]);
}

function readEntity(record: EntityRecord): MovingEntity {
  const place: Triple = [record.x(), record.y(), record.z()];
  checkEntity(record.id(), place, record.pitch());
  return {
    id: record.id(), place, velocity: [0, 0, 0], kind: record.kind(), yaw: record.yaw(), pitch: record.pitch(),
    health: record.health(), state: record.state(), flags: record.flags(), fields: [],
  };
}

/** The added fields for all, one after the other from the lowest bit on. */
function unpackFields(kind: number, bits: bigint, replication: Replication): number[] {
  const told = fieldsFor(replication, kind, 'all');
  const fields = told.length === 0 ? [] : kindOf(replication, kind)!.fields.map(() => 0);
  let left = bits;
  for (const { number, bits: wide } of told) {
    fields[number] = Number(BigInt.asUintN(wide, left));
    left >>= BigInt(wide);
  }
  check(left === 0n, 'the fields of an entity');
  return fields;
}

/** A block as its part tells it. */
export interface PlainBlock {
  cell: Cell;
  changed: MovingEntity[];
  /** By changed entity; none where no kind has fields for all. */
  fields: bigint[];
  removed: number[];
}

/** The block that changes and their base come to. Throws a WireError where they do not fit each other. */
export function applyBlock(block: PlainBlock, base: BlockState | undefined, replication: Replication): BlockState {
  const shares = replication.kinds.some(({ fields }) => fields.some(({ to }) => to === 'all'));
  check(block.fields.length === (shares ? block.changed.length : 0), 'the fields of a block');
  const entities = new Map((base?.entities ?? []).map((entity) => [entity.id, entity]));
  for (const id of block.removed) check(entities.delete(id), 'whom a block removes');
  block.changed.forEach((entity, i) => {
    const fields = shares ? unpackFields(entity.kind, block.fields[i], replication) : [];
    entities.set(entity.id, { ...entity, fields });
  });
  check(entities.size <= entitiesMax, 'the size of a block');
  return { cell: block.cell, entities: [...entities.values()].sort((a, b) => a.id - b.id) };
}

function readBlocks(wire: WireSnapshot): SnapshotItem[] {
  const records = each(wire.entitiesLength(), (i) => wire.entities(i), 'an entity').map(readEntity);
  const bits = each(wire.fieldsLength(), (i) => wire.fields(i), 'fields').map(
    (told) => BigInt(told.low()) | (BigInt(told.high()) << 32n));
  check(bits.length === 0 || bits.length === records.length, 'the fields of entities');
  const entities = new Walk(records, 'the entities of blocks');
  const fields = new Walk(bits, 'the fields of entities');
  const gone = new Walk(each(wire.removedLength(), (i) => wire.removed(i), 'an id'), 'the ids of blocks');
  const items = each(wire.blocksLength(), (i) => wire.blocks(i), 'a block').map((header): SnapshotItem => {
    const cell: Cell = [header.x(), header.y(), header.z()];
    const [count, removedCount, age] = [header.entityCount(), header.removedCount(), header.age()];
    check(isCell(cell) && header.flags() <= 1 && count <= entitiesMax && removedCount <= entitiesMax, 'a block');
    check(age !== 0 || removedCount === 0, 'a block');
    const [changed, removed] = [entities.next(count), gone.next(removedCount)];
    const ids = changed.map(({ id }) => id);
    check(ascends(ids) && ascends(removed) && !removed.some((id) => ids.includes(id)), 'the ids of a block');
    const block = { cell, changed, fields: bits.length === 0 ? [] : fields.next(count), removed };
    return { type: 'block', number: header.number(), age, read: (base, _rate, told) => applyBlock(block, base, told) };
  });
  entities.end();
  gone.end();
  return items;
}

function readOwn(wire: WireSnapshot): SnapshotItem[] {
  const own = wire.own();
  if (!own) {
    const age = wire.ownAge();
    return age === 0 ? [] : [{ type: 'own', age, read: (base) => present(base ?? null, 'the own player') }];
  }
  const vectors = [own.velocityMps(), own.positionM(), own.lastFreeM(), own.recoveryVelocityMps(), own.recoveryTargetM()];
  const numbers = vectors.flatMap((vector) => {
    const { x, y, z } = { x: vector!.x(), y: vector!.y(), z: vector!.z() };
    return [x, y, z];
  });
  numbers.push(own.eyeOffsetM());
  const state: OwnState = {
    id: own.id(), numbers, grounded: own.grounded(), stuckTicks: own.stuckTicks(), noclip: own.noclip(),
    health: own.health(), deltaYaw: wire.ownDeltaYaw(),
  };
  checkOwn(state);
  return [{ type: 'own', age: 0, read: () => state }];
}

/** Of a group, by what the world tells of its kinds. */
export function groupOf(
  told: readonly { id: number; kind: number; values: number[] }[], to: Audience, replication: Replication,
): PrivateEntity[] {
  return told.map(({ id, kind, values }) => {
    const declared = fieldsFor(replication, kind, to);
    check(declared.length > 0 && declared.length === values.length, 'an entity of a group');
    const fields = kindOf(replication, kind)!.fields.map(() => 0);
    declared.forEach(({ number, bits }, i) => {
      check(values[i] < 2 ** bits, 'a field');
      fields[number] = values[i];
    });
    return { id, kind, fields };
  });
}

function readGroups(wire: WireSnapshot): SnapshotItem[] {
  const grouped = new Walk(each(wire.groupedLength(), (i) => wire.grouped(i), 'an entity'), 'the entities of groups');
  const values = new Walk(each(wire.valuesLength(), (i) => wire.values(i), 'a value'), 'the values of groups');
  const items = each(wire.groupsLength(), (i) => wire.groups(i), 'a group').map((header): SnapshotItem => {
    check((header.to() === 1 || header.to() === 2) && header.entityCount() <= groupEntitiesMax, 'a group');
    const to: Audience = header.to() === 1 ? 'owner' : 'team';
    const told = grouped.next(header.entityCount()).map((entity: GroupedEntity) =>
      ({ id: entity.id(), kind: entity.kind(), values: values.next(entity.valueCount()) }));
    const ids = told.map(({ id }) => id);
    check(ascends(ids) && !ids.includes(0), 'the ids of a group');
    return { type: 'fields', to, number: header.number(), read: (replication) => groupOf(told, to, replication) };
  });
  grouped.end();
  values.end();
  return items;
}

function readCues(wire: WireSnapshot): SnapshotItem[] {
  check(wire.cuesLength() <= cuesMax, 'a list of cues');
  if (wire.cuesLength() === 0) return [];
  const cues = each(wire.cuesLength(), (i) => wire.cues(i), 'a cue').map((cue): Cue => {
    check(cue.flags() <= 1, 'a cue');
    const steps = cue.flags() === 1 ? [cue.x(), cue.y(), cue.z()] : undefined;
    return checkedCue(cue.kind(), cue.detail(), cue.age(), cue.who(), steps);
  });
  return [{ type: 'cues', cues }];
}

function checkSectors(wire: WireSnapshot): void {
  const heights = new Walk(each(wire.heightsLength(), (i) => wire.heights(i)?.sector() ?? null, 'a height'), 'heights');
  for (let i = 0; i < wire.slicesLength(); ++i) {
    const slice = present(wire.slices(i), 'a slice of heights');
    checkSlice(slice.map(), slice.number(), heights.next(slice.count()));
  }
  heights.end();
  check(wire.motionsLength() <= motionsMax, 'the number of motions');
  for (let i = 0; i < wire.motionsLength(); ++i) {
    const told = present(wire.motions(i), 'a motion');
    checkMotion({
      map: told.map(), plane: told.plane(), motion: told.motion(), phase: told.phase(), resume: told.resume(),
      heightM: told.heightM(), lowM: told.lowM(), highM: told.highM(), speedMps: told.speedMps(), waitS: told.waitS(),
      leftS: told.leftS(),
    });
  }
}

/** @param wire verified. Heights and motions of sectors are left where they are. */
export function readSnapshot(wire: WireSnapshot): SnapshotPart {
  check(wire.partCount() >= 1 && wire.partCount() <= partsMax && wire.part() < wire.partCount(), 'a part');
  check(wire.epoch() !== 0 && wire.appliedTick() <= wire.tick() + appliedAheadMax, 'a part');
  checkSectors(wire);
  const gone = each(wire.goneLength(), (i) => wire.gone(i), 'a block');
  const moved = each(wire.movedLength(), (i) => wire.moved(i), 'who moved').map((told): SnapshotItem => {
    check(told.id() !== 0, 'who moved');
    return { type: 'moved', id: told.id(), number: told.block() };
  });
  return {
    tick: wire.tick(),
    world: wire.world(),
    epoch: wire.epoch(),
    appliedTick: wire.appliedTick(),
    inputAhead: wire.inputAhead() === -128 ? undefined : wire.inputAhead(),
    part: wire.part(),
    partCount: wire.partCount(),
    items: [
      ...readOwn(wire), ...moved, ...readBlocks(wire), ...gone.map((number): SnapshotItem => ({ type: 'gone', number })),
      ...readGroups(wire), ...readCues(wire),
    ],
  };
}
