// Blocks of packed snapshots, from bits to checked values and back (WIRE.md, Packed snapshots): each with its base at
// hand. One piece of code is reader and writer; a client only reads.

import { BitReader } from './bits';
import { alwaysFalls, beginOdds, gaits, models, motionOf, newOdds, type Motion } from './block_models';
import { check } from './bytes';
import { EntityCoding, usualRules, type BlockRules, type BlockTime, type MovingEntity } from './entity_coding';
import { codeNumber, RangeReader, RangeWriter, type Coder, type Odds } from './range_coder';
import { fieldsFor, kindOf, noReplication, type Audience, type Replication } from './replication';
import { entitiesMax, groupEntitiesMax, isCell } from './snapshot';

export type { BlockTime, MovingEntity } from './entity_coding';

export type Cell = [number, number, number];

/** What a block was at a tick. */
export interface BlockState {
  cell: Cell;
  /** By ascending id. */
  entities: MovingEntity[];
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

function codeCell(coder: Coder, now: Cell): Cell {
  const cell = now.map((at) => (coder.raw(16, at & 0xffff) << 16) >> 16) as Cell;
  check(isCell(cell), 'a cell');
  return cell;
}

const nobody: MovingEntity = {
  id: 0, place: [0, 0, 0], velocity: [0, 0, 0], kind: 0, yaw: 0, pitch: 0, health: 0, state: 0, flags: 0, fields: [],
};

/** The added fields for all, of those whose kind has any: by what differs from the base, or plainly. */
function codeFields(
  coder: Coder, odds: Odds, entities: MovingEntity[], now: readonly MovingEntity[], base: readonly MovingEntity[],
  plain: boolean, replication: Replication,
): void {
  const before = new Map(base.map((entity) => [entity.id, entity]));
  entities.forEach((entity, i) => {
    const told = fieldsFor(replication, entity.kind, 'all');
    if (told.length === 0) return;
    const was = plain ? undefined : before.get(entity.id);
    const kept = was && was.kind === entity.kind ? was.fields : [];
    const fields = kindOf(replication, entity.kind)!.fields.map((_, field) => kept[field] ?? 0);
    const wanted = coder.writing ? now[i].fields : fields;
    const other = told.some(({ number }) => wanted[number] !== fields[number]);
    if (plain) {
      for (const { number, bits } of told) fields[number] = coder.raw(bits, wanted[number]);
    } else if (coder.bit(odds, models.fieldChanged, other)) {
      for (const { number, bits } of told) {
        if (!coder.bit(odds, models.fieldOther + number, wanted[number] !== fields[number])) continue;
        const all = 2 ** bits;
        const up = (((wanted[number] - fields[number]) % all) + all) % all;
        const way = codeNumber(coder, odds, models.field + 16 * number, up >= all / 2 ? up - all : up, Math.max(bits, 17));
        fields[number] = (((fields[number] + way) % all) + all) % all;
      }
    }
    entity.fields = fields;
  });
}

/** Who is gone and who is new, those whole. @return those of the base that stay, and the new ones */
function codeOthers(
  coder: Coder, odds: Odds, coding: EntityCoding, now: readonly MovingEntity[], base: readonly MovingEntity[],
): { staying: MovingEntity[]; fresh: MovingEntity[] } {
  const ids = new Set(now.map(({ id }) => id));
  const staying = base.filter(({ id }) => !coder.bit(odds, models.gone, coder.writing && !ids.has(id)));
  const old = new Set(base.map(({ id }) => id));
  const wanted = now.filter(({ id }) => !old.has(id));
  const fresh: MovingEntity[] = [];
  while (staying.length + fresh.length < entitiesMax && coder.bit(odds, models.fresh, fresh.length < wanted.length)) {
    fresh.push(coding.whole(wanted[fresh.length] ?? nobody));
  }
  return { staying, fresh };
}

/** How fast things fall, as the first one shows that flew, still does and is of those that always fall. */
function pullOf(now: readonly MovingEntity[], base: readonly MovingEntity[], { age, rate }: BlockTime): number {
  const up = ({ flags, kind, velocity }: MovingEntity): number =>
    ((flags & 1) === 0 && alwaysFalls(kind) ? velocity[2] : 0);
  for (const was of base) {
    const is = now.find(({ id }) => id === was.id);
    if (!is || up(was) === 0 || up(is) === 0) continue;
    const perS = (was.velocity[2] - is.velocity[2]) * rate;
    const pull = Math.floor((perS + 8 * age) / (16 * age));
    if (perS >= 0 && pull < 64) return pull;
  }
  return usualRules.pull;
}

/** What a block says of its entities' rules, in the odds that come with how those of its base move. */
function codeRules(
  coder: Coder, odds: Odds, now: readonly MovingEntity[], base: readonly MovingEntity[], time: BlockTime,
): { rules: BlockRules; motions: Motion[] } {
  const rules = { ...usualRules };
  if (!coder.bit(odds, models.usualPace, true)) rules.pace = coder.raw(10, rules.pace);
  const motions = base.map((entity) => motionOf(entity, rules.pace));
  beginOdds(odds, motions);
  const flies = motions.some(({ gait }) => gait === gaits.flies);
  const pull = flies && coder.writing ? pullOf(now, base, time) : rules.pull;
  if (flies && !coder.bit(odds, models.usualPull, pull === rules.pull)) rules.pull = coder.raw(6, pull);
  return { rules, motions };
}

function codeBlock(
  coder: Coder, now: BlockState | undefined, plainly: boolean, base: BlockState | undefined, time: BlockTime,
  replication: Replication,
): BlockState {
  const odds = newOdds();
  beginOdds(odds, []);
  const plain = coder.bit(odds, models.whole, plainly);
  coder.bit(odds, models.quiet, false);  // whether it was at rest: of use to who draws between two snapshots
  const cell = base ? base.cell : codeCell(coder, now?.cell ?? [0, 0, 0]);
  const before = base?.entities ?? [];
  const wanted = now?.entities ?? [];
  let entities: MovingEntity[] = [];
  const level = before.length > 0 ? before[0].place[2] : 0;
  if (plain) {
    const coding = new EntityCoding(coder, odds, time, level);
    const count = coder.raw(6, wanted.length);
    check(count <= entitiesMax, 'the entities of a block');
    for (let i = 0; i < count; ++i) entities.push(coding.plain(wanted[i] ?? nobody));
  } else {
    const { rules, motions } = codeRules(coder, odds, wanted, before, time);
    const coding = new EntityCoding(coder, odds, time, level, rules);
    let staying: readonly MovingEntity[] = before;
    const ids = (list: readonly MovingEntity[]): string => list.map(({ id }) => id).join();
    if (coder.bit(odds, models.others, coder.writing && ids(wanted) !== ids(before))) {
      ({ staying, fresh: entities } = codeOthers(coder, odds, coding, wanted, before));
    }
    const known = new Map(wanted.map((entity) => [entity.id, entity]));
    const moved = new Map(before.map(({ id }, i) => [id, motions[i]]));
    for (const was of staying) entities.push(coding.change(known.get(was.id) ?? was, was, moved.get(was.id)!));
    entities.sort((a, b) => a.id - b.id);
  }
  check(entities.every((entity, i) => i === 0 || entity.id > entities[i - 1].id), 'the ids of a block');
  codeFields(coder, odds, entities, wanted, before, plain, replication);
  return { cell, entities };
}

/** @param base as the block was `age` ticks before; undefined with age 0. Throws a WireError for what is no block. */
export function readBlock(
  bytes: Uint8Array, base: BlockState | undefined, time: BlockTime, replication: Replication = noReplication,
): BlockState {
  const reader = new RangeReader(bytes);
  const block = codeBlock(reader, undefined, false, base, time, replication);
  reader.end();
  return block;
}

/** The reverse, for tests and tools. @param plain told as it is and by nothing that was before */
export function writeBlock(
  now: BlockState, base: BlockState | undefined, time: BlockTime, replication: Replication = noReplication,
  plain = false,
): Uint8Array {
  const writer = new RangeWriter();
  codeBlock(writer, now, plain, base, time, replication);
  return writer.finish();
}
