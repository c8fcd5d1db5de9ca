// Plain snapshots: the recorded one, what blocks and bases come to, and a view that follows them over a link that
// loses, doubles and overtakes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BlockState, MovingEntity } from '../src/block_delta';
import { WireError } from '../src/bytes';
import { applyBlock, type PlainBlock } from '../src/plain';
import { noReplication } from '../src/replication';
import { readServerMessage } from '../src/server_messages';
import type { SnapshotItem, SnapshotPart } from '../src/snapshot';
import { View } from '../src/view';
import { Seeded, example } from './support';

test('snapshot: the recorded one', () => {
  const message = readServerMessage(example('Snapshot'));
  assert.ok(message.type === 'snapshot');
  const { part } = message;
  assert.deepEqual([part.tick, part.appliedTick, part.part, part.partCount, part.epoch], [998, 997, 0, 1, 2]);
  assert.equal(part.inputAhead, 2);
  assert.deepEqual(part.items.map(({ type }) => type), ['own', 'moved', 'block', 'block', 'gone', 'cues']);
  const [, , whole, changes] = part.items;
  assert.ok(whole.type === 'block' && changes.type === 'block');
  assert.deepEqual([whole.number, whole.age, changes.number, changes.age], [5, 0, 300, 6]);
  const view = new View(60);
  view.take(part);
  assert.deepEqual(view.own?.positionM, [-63, 130, 3]);
  assert.equal(view.own?.deltaYaw, 0xc000);
  assert.deepEqual(view.entities().map(({ id, positionM }) => [id, positionM]), [[(3 << 20) | 5, [-63, 130, 3]]]);
  assert.equal(view.lostEpoch, 2, 'nobody has the base of block 300');

  const id = (slot: number): number => (1 << 20) | slot;
  const before: BlockState = { cell: [0, 2, 0], entities: [300, 301, 302].map((slot) => entity(id(slot), 8000)) };
  const after = changes.read(before, 60, noReplication);
  assert.deepEqual(after.entities.map((one) => [one.id, one.place[0]]), [[id(300), 8191], [id(301), 8000]]);
});

const entity = (id: number, x = 0): MovingEntity => ({
  id, place: [x, 0, 0], velocity: [0, 0, 0], kind: 0, yaw: 0, pitch: 0, health: 255, state: 0, flags: 0, fields: [],
});

test('plain: changes that do not fit their base are refused', () => {
  const base: BlockState = { cell: [1, 2, 3], entities: [entity(4), entity(5), entity(6)] };
  const block = (changed: MovingEntity[], removed: number[]): PlainBlock =>
    ({ cell: [1, 2, 3], changed, fields: [], removed });
  const ids = (state: BlockState): number[] => state.entities.map(({ id }) => id);
  assert.deepEqual(ids(applyBlock(block([], []), base, noReplication)), [4, 5, 6]);
  assert.deepEqual(ids(applyBlock(block([entity(3)], [5]), base, noReplication)), [3, 4, 6]);
  assert.throws(() => applyBlock(block([], [7]), base, noReplication), WireError);
  assert.throws(() => applyBlock(block([], [4]), undefined, noReplication), WireError);
  const many = Array.from({ length: 48 }, (_, i) => entity(100 + i));
  assert.throws(() => applyBlock(block(many, []), base, noReplication), WireError);
});

/** What a server tells of a block against one of its earlier ticks. */
function itemOf(number: number, now: BlockState, base: BlockState | undefined, age: number): SnapshotItem {
  const before = new Map((base?.entities ?? []).map((one) => [one.id, one]));
  const changed = now.entities.filter((one) => JSON.stringify(before.get(one.id)) !== JSON.stringify(one));
  const here = new Set(now.entities.map(({ id }) => id));
  const removed = [...before.keys()].filter((id) => !here.has(id));
  const block: PlainBlock = { cell: now.cell, changed, fields: [], removed };
  return { type: 'block', number, age, read: (held, _rate, told) => applyBlock(block, held, told) };
}

for (const loss of [0, 0.05, 0.3]) {
  test(`plain: a view follows blocks that move and change members with ${loss * 100} % loss`, () => {
    const random = new Seeded(81 + loss * 100);
    const view = new View(60);
    const truth = new Map<number, BlockState[]>();
    const underway: { at: number; part: SnapshotPart }[] = [];
    let [held, heard] = [0, 0];
    const people = Array.from({ length: 12 }, (_, i) => ({ id: i + 1, x: 0, block: i % 2 }));
    for (let tick = 1; tick < 400; ++tick) {
      const calm = tick > 360;
      for (const one of people) {
        if (!calm && random.chance(0.3)) one.x = random.below(8192);
        if (!calm && random.chance(0.02)) one.block = 1 - one.block;
      }
      const blocks = [0, 1].map((number): BlockState => ({
        cell: [number, 0, 0], entities: people.filter(({ block }) => block === number).map(({ id, x }) => entity(id, x)),
      }));
      truth.set(tick, blocks);
      const items = blocks.map((block, number) =>
        itemOf(number, block, truth.get(held)?.[number], held === 0 ? 0 : tick - held));
      const part: SnapshotPart = {
        tick, items, world: 1, epoch: 1, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1,
      };
      if (calm || !random.chance(loss)) underway.push({ at: tick + (calm ? 0 : random.below(6)), part });
      if (random.chance(0.05)) underway.push({ at: tick + random.below(30), part });
      for (const { part: arrived } of underway.filter(({ at }) => at <= tick)) {
        view.take(arrived);
        heard = Math.max(heard, arrived.tick);
      }
      if (random.chance(0.8)) held = heard;  // an acknowledgement names all that came until then
      underway.splice(0, underway.length, ...underway.filter(({ at }) => at > tick));
      assert.equal(view.lostEpoch, 0, `tick ${tick}`);
    }
    const known = view.entities().map(({ id, positionM }) => [id, positionM[0]]);
    assert.deepEqual(known, people.map(({ id, x, block }) => [id, block * 64 + x / 128]));
  });
}

/** A server that tells of blocks without anybody, each time as if it had never told of them. */
function emptyBlocks(tick: number, count: number): SnapshotPart {
  const items = Array.from({ length: count }, (_, number): SnapshotItem =>
    ({ type: 'block', number, age: 0, read: () => ({ cell: [0, 0, 0], entities: [] }) }));
  return { tick, items, world: 1, epoch: 7, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1 };
}

test('view: of a block no more states are kept than can be bases', () => {
  for (const [age, lostEpoch] of [[256, 0], [257, 7]]) {
    const view = new View(60);
    for (let tick = 1; tick <= 600; ++tick) view.take(emptyBlocks(tick, 1));
    const part = emptyBlocks(601, 1);
    view.take({ ...part, items: [{ ...part.items[0], age } as SnapshotItem] });
    assert.equal(view.lostEpoch, lostEpoch, `${age} ticks before`);
  }
});

test('view: empty states of many blocks are forgotten before they take all memory', () => {
  const view = new View(60);
  for (let tick = 1; tick <= 255; ++tick) view.take(emptyBlocks(tick, 1024));
  assert.equal(view.lostEpoch, 0);
  for (let tick = 256; tick <= 257; ++tick) view.take(emptyBlocks(tick, 1100));
  assert.equal(view.lostEpoch, 7);
});
