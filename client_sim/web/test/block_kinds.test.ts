// Kinds of blocks: such as a world can have, and none that contradict themselves or each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readBlockKinds } from '../src/block_kinds';
import { ByteWriter, WireError } from '../src/bytes';
import { Seeded } from './support';
import { usualKinds, writeKinds, type WrittenKind } from './kinds_writer';

test('blocks: kinds are read as they are', () => {
  const ice: Partial<WrittenKind> = {
    name: 'ice_2', flags: 1 | 16, slots: 5, light: 3, damage: 7, drops: 1, hardness: [-1, 0.5, 2, 600], friction: 0.1,
    timer: 2.5, blast: 3, boxes: [[0, 0, 0, 16, 16, 8], [4, 4, 8, 12, 12, 16]],
  };
  const kinds = readBlockKinds(writeKinds({ 30: ice, 31: { name: 'drill', tool: 2 } }));
  assert.deepEqual([kinds.length, kinds[0].name, kinds[29].name], [32, 'air', 'lamp']);
  const { hardnessS, boxes, ...rest } = kinds[30];
  assert.deepEqual(rest, {
    name: 'ice_2', slots: 5, light: 3, damage: 7, drops: 1, friction: 0.1, jump: 1, timerS: 2.5, becomes: 0, blastM: 3,
    tool: 0, opaque: true, liquid: false, climbable: false, falls: false, text: true,
  });
  assert.deepEqual(hardnessS, [-1, 0.5, 2, 600]);
  assert.deepEqual(boxes[1], { min: [4, 4, 8], max: [12, 12, 16] });
  assert.equal(kinds[31].tool, 2);
});

const cube = [0, 0, 0, 16, 16, 16];

test('blocks: kinds that no world can have are refused', () => {
  const wrong: Record<string, Record<number, Partial<WrittenKind>>> = {
    'a name': { 30: { name: 'Ice' } },
    'no name': { 30: { name: '' } },
    'a long name': { 30: { name: 'x'.repeat(33) } },
    'a name twice': { 30: { name: 'stone' } },
    'another kind in its place': { 3: { name: 'turf' } },
    'a tool that worlds are made of': { 3: { tool: 1 } },
    'an air that hurts': { 0: { damage: 1 } },
    'an air of some shape': { 0: { boxes: [cube] } },
    'an air that is seen': { 0: { flags: 1 } },
    'a liquid of some shape': { 30: { flags: 2, boxes: [cube] } },
    'a slab that falls': { 30: { flags: 8, boxes: [[0, 0, 0, 16, 16, 8]] } },
    'a chest that falls': { 30: { flags: 8, slots: 3, boxes: [cube] } },
    'a liquid with a timer': { 30: { flags: 2, timer: 1, becomes: 1, boxes: [] } },
    'a tool that holds something': { 30: { tool: 1, slots: 1 } },
    'a tool that falls': { 30: { tool: 1, flags: 8, boxes: [cube] } },
    'what becomes another without a timer': { 30: { becomes: 1 } },
    'what explodes without a timer': { 30: { blast: 1 } },
    'what explodes and becomes another': { 30: { timer: 1, blast: 1, becomes: 1 } },
    'what becomes itself': { 30: { timer: 1, becomes: 30 } },
    'what becomes a tool': { 30: { timer: 1, becomes: 31 }, 31: { name: 'drill', tool: 1 } },
    'what becomes a treasure': { 30: { timer: 1, becomes: 31 }, 31: { name: 'treasure' } },
    'a treasure that falls': { 30: { name: 'treasure', flags: 8, boxes: [cube] } },
    'what drops what there is not': { 30: { drops: 31 } },
    'a timer of nothing': { 30: { timer: NaN } },
    'a friction of nothing': { 30: { friction: NaN } },
    'a hardness of nothing': { 30: { hardness: [NaN, 1, 1, 1] } },
    'a box turned over': { 30: { boxes: [[8, 0, 0, 8, 16, 16]] } },
    'a box beyond its block': { 30: { boxes: [[0, 0, 0, 16, 16, 17]] } },
  };
  assert.equal(readBlockKinds(writeKinds({ 30: { flags: 8, boxes: [cube] } })).length, 31);
  for (const [what, kinds] of Object.entries(wrong)) {
    assert.throws(() => readBlockKinds(writeKinds(kinds)), WireError, what);
  }
  const few = new ByteWriter();
  few.u8(4);
  few.u16(0);
  assert.throws(() => readBlockKinds(few.finish()), WireError, 'none');
});

test('blocks: what is cut or changed is read or refused, never anything else', () => {
  const bytes = writeKinds({ 30: { name: 'ice_2', boxes: [cube] } });
  const random = new Seeded(65);
  for (let length = 0; length < bytes.length; ++length) {
    assert.throws(() => readBlockKinds(bytes.subarray(0, length)), WireError);
    const changed = bytes.slice();
    changed[length] = random.below(256);
    try {
      readBlockKinds(changed);
    } catch (error) {
      assert.ok(error instanceof WireError);
    }
  }
  assert.equal(usualKinds.length, 30);
});
