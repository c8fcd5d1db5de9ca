// Plain snapshots: the recorded one, and the rules of what replaces what.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ByteWriter, WireError } from '../src/bytes';
import { readServerMessage } from '../src/server_messages';
import { readBlocks, type Block, type PlainPart } from '../src/plain';
import { View } from '../src/view';
import { Seeded, example } from './support';

test('snapshot: the recorded one', () => {
  const message = readServerMessage(example('Snapshot'));
  assert.ok(message.type === 'snapshot');
  const { part } = message;
  assert.deepEqual([part.tick, part.appliedTick, part.part, part.partCount], [998, 997, 0, 1]);
  assert.equal(part.inputAhead, 2);
  assert.deepEqual(part.own?.positionM, [-63, 130, 3]);
  assert.equal(part.own?.deltaYaw, 0xc000);
  assert.deepEqual(part.blocks.map((block) => [block.cell, block.first, block.last, block.entities.length]), [
    ['-1,2,0', 0, 0xffffffff, 1], ['0,2,0', 200, 0x10012c, 1],
  ]);
});

test('snapshot: blocks that are cut, unordered or of another range are refused', () => {
  const block = (count: number, ids: number[], first = 0, last = 0xffffffff): Uint8Array => {
    const writer = new ByteWriter();
    for (const cell of [1, 2, 3]) writer.u16(cell);
    writer.u16(count);
    writer.u32(first);
    writer.u32(last);
    for (const id of ids) {
      writer.u32(id);
      writer.zeros(12);
    }
    return writer.finish();
  };
  assert.equal(readBlocks(block(2, [4, 5]))[0].entities.length, 2);
  assert.deepEqual(readBlocks(block(1, [4]))[0].entities[0].positionM, [64, 128, 192]);
  for (const wrong of [block(3, [4, 5]), block(2, [5, 4]), block(1, [0]), block(1, [9], 10), block(0, [], 3, 2)]) {
    assert.throws(() => readBlocks(wrong), WireError);
  }
  assert.throws(() => readBlocks(block(1, [4]).subarray(0, 30)), WireError);
});

function partOf(tick: number, blocks: Block[], refreshTicks = 0): PlainPart {
  return {
    tick, blocks, refreshTicks, world: 1, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1, own: undefined,
  };
}
const entity = (id: number, x = 0) => ({
  id, positionM: [x, 0, 0] as [number, number, number], kind: 0, yaw: 0, pitch: 0, health: 255, state: 0, flags: 0,
});
const blockOf = (cell: string, first: number, last: number, ...ids: number[]): Block =>
  ({ cell, first, last, entities: ids.map((id) => entity(id)) });

test('view: a block replaces its range unless something of that is newer', () => {
  const view = new View(60);
  const ids = (): number[] => view.entities().map(({ id }) => id);
  view.takePlain(partOf(10, [blockOf('a', 0, 0xffffffff, 1, 5, 9)]));
  assert.deepEqual(ids(), [1, 5, 9]);
  view.takePlain(partOf(12, [blockOf('a', 4, 6, 6)]));
  assert.deepEqual(ids(), [1, 6, 9]);
  view.takePlain(partOf(11, [blockOf('a', 0, 5, 2)]));
  assert.deepEqual(ids(), [1, 6, 9], 'a part of it is newer');
  view.takePlain(partOf(11, [blockOf('a', 0, 3, 2)]));
  assert.deepEqual(ids(), [2, 6, 9], 'older parts come late');
  view.takePlain(partOf(13, [blockOf('a', 0, 0xffffffff)]));
  assert.deepEqual(ids(), []);
});

test('view: what is not mentioned for a second and twice the refresh is gone, and who moved is seen once', () => {
  const view = new View(60);
  view.takePlain(partOf(10, [blockOf('a', 0, 9, 1), blockOf('b', 0, 9, 2)], 5));
  view.takePlain(partOf(11, [{ cell: 'c', first: 0, last: 9, entities: [entity(2, 65)] }], 5));
  assert.deepEqual(view.entities().map(({ id, positionM }) => [id, positionM[0]]), [[1, 0], [2, 65]]);
  view.takePlain(partOf(80, [], 5));
  assert.equal(view.entities().length, 2);
  view.takePlain(partOf(81, [], 5));
  assert.deepEqual(view.entities().map(({ id }) => id), [2]);
});

test('view: what is known of an id is what the newest block over it said', () => {
  const random = new Seeded(81);
  for (let round = 0; round < 300; ++round) {
    const view = new View(60);
    const twin = new Map<number, { tick: number; here: boolean }>();
    for (let step = 0; step < 15; ++step) {
      const tick = 100 + random.below(20);
      const first = random.below(12);
      const last = first + random.below(12 - first);
      const here = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(() => random.chance(0.5));
      const over = [...twin].filter(([id]) => id >= first && id <= last);
      if (!over.some(([, known]) => known.tick >= tick)) {
        for (let id = first; id <= last; ++id) twin.set(id, { tick, here: here.includes(id) });
      }
      view.takePlain(partOf(tick, [blockOf('a', first, last, ...here)]));
    }
    const expected = [...twin].filter(([, known]) => known.here).map(([id]) => id).sort((a, b) => a - b);
    assert.deepEqual(view.entities().map(({ id }) => id), expected, `round ${round}`);
  }
});
