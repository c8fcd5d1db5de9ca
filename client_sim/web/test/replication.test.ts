// What a world tells of its kinds: read by the page, and blocks, groups and lists by that.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BitWriter } from '../src/bits';
import { readBlock, readGroup, writeBlock, type BlockState } from '../src/block_delta';
import { ByteWriter, WireError } from '../src/bytes';
import { readPackedPart } from '../src/packed';
import { applyBlock, groupOf, type PlainBlock } from '../src/plain';
import { noReplication, readReplication, type AddedField, type Replication } from '../src/replication';
import { View } from '../src/view';
import { writeReplication } from './kinds_writer';

function field(number: number, name: string, bits: number, to: AddedField['to'], low = 0, step = 1): AddedField {
  return { name, number, bits, to, interpolated: false, low, step };
}

const told: Replication = {
  kinds: [
    {
      first: 0, last: 0, name: 'player', motionPredicted: true,
      fields: [field(0, 'mood', 7, 'all', -5, 0.5), field(1, 'secret', 32, 'owner'), field(2, 'plan', 9, 'team')],
    },
    { first: 16, last: 79, name: 'monster', motionPredicted: true, fields: [] },
    { first: 80, last: 80, name: 'flag', motionPredicted: false, fields: [field(0, 'carrier', 32, 'all')] },
  ],
  messages: [{ name: 'scored', bytesMax: 20 }],
  clientMessages: [{ name: 'order', bytesMax: 256 }],
};

test('replication: what is written by the page is read', () => {
  const bytes = writeReplication(told);
  assert.deepEqual(readReplication(bytes), told);
  for (let cut = 0; cut < bytes.length; ++cut) {
    assert.throws(() => readReplication(bytes.subarray(0, cut)), WireError);
  }
  assert.throws(() => readReplication(Uint8Array.of(...bytes, 0)), WireError);
  const otherStandard = bytes.slice();
  otherStandard[4] = 14;
  assert.throws(() => readReplication(otherStandard), WireError);
  const kinds = [told.kinds[0], { ...told.kinds[2], first: 0 }];
  assert.throws(() => readReplication(writeReplication({ kinds, messages: [], clientMessages: [] })), WireError);
});

test('replication: who has neither owner nor team has no fields for them', () => {
  const kindOf = (first: number, to: AddedField['to']): Uint8Array => writeReplication({
    kinds: [{ first, last: first, name: 'thing', motionPredicted: true, fields: [field(0, 'secret', 8, to)] }],
    messages: [], clientMessages: [],
  });
  for (const first of [0, 80, 127]) assert.equal(readReplication(kindOf(first, 'owner')).kinds[0].first, first);
  for (const first of [1, 16, 79, 128, 192, 240]) {
    assert.equal(readReplication(kindOf(first, 'all')).kinds[0].first, first);
    for (const to of ['owner', 'team'] as const) assert.throws(() => readReplication(kindOf(first, to)), WireError);
  }
});

function entity(id: number, kind: number): BlockState['entities'][0] {
  return {
    id, kind, place: [1, 2, 3], velocity: [0, 0, 0], yaw: 0, pitch: 0, health: 255, state: 0, flags: 0, fields: [],
  };
}

test('replication: added fields follow a block, by what differs', () => {
  const base: BlockState = { cell: [0, 0, 0], entities: [entity(1, 0), entity(2, 16), entity(3, 80), entity(4, 0)] };
  base.entities[0].fields = [9, 0, 0];
  const now: BlockState = { cell: base.cell, entities: base.entities.map((one) => ({ ...one })) };
  now.entities[2].fields = [0xfedcba98];
  now.entities[3].fields = [100, 0, 0];
  const fields = [[9, 0, 0], [], [0xfedcba98], [100, 0, 0]];
  const time = { tick: 500, age: 6, rate: 60 };
  for (const plain of [false, true]) {
    const bytes = writeBlock(now, base, time, told, plain);
    const block = readBlock(bytes, base, time, told);
    assert.deepEqual(block.entities.map((one) => one.fields), fields);
    assert.throws(() => readBlock(Uint8Array.from([...bytes, 1]), base, time, told), WireError);
  }
});

function group(entities: [number, number, number, number][]): Uint8Array {
  const bits = new BitWriter();
  bits.gamma(entities.length);
  for (const [id, kind, value, width] of entities) {
    bits.put(id, 32);
    bits.put(kind, 8);
    bits.put(value, width);
  }
  return bits.finish();
}

test('replication: groups are for owners or teams, whole, and the newest counts', () => {
  assert.deepEqual(readGroup(group([[5, 0, 77, 32]]), 'owner', told), [{ id: 5, kind: 0, fields: [0, 77, 0] }]);
  assert.throws(() => readGroup(group([[5, 16, 77, 32]]), 'owner', told), WireError);
  assert.throws(() => readGroup(group([[5, 0, 1, 9], [5, 0, 1, 9]]), 'team', told), WireError);

  const part = (tick: number, to: number, bytes: Uint8Array): Uint8Array => {
    const out = new ByteWriter();
    for (const byte of [1, 1, 1, 0]) out.u8(byte);
    out.u32(tick);
    for (const byte of [0, 1, 0, 6, to, 0, bytes.length]) out.u8(byte);
    out.put(bytes);
    return out.finish();
  };
  const view = new View(60);
  view.replication = told;
  view.take(readPackedPart(part(100, 1, group([[5, 0, 77, 32]]))));
  view.take(readPackedPart(part(102, 2, group([[5, 0, 33, 9], [9, 0, 44, 9]]))));
  view.take(readPackedPart(part(101, 2, group([[5, 0, 1, 9]]))));
  assert.equal(view.field(5, 'secret'), 77);
  assert.equal(view.field(5, 'plan'), 33);
  assert.equal(view.field(9, 'plan'), 44);
  assert.equal(view.field(9, 'secret'), undefined);
  view.take(readPackedPart(part(103, 2, group([]))));
  assert.equal(view.field(9, 'plan'), undefined);
  assert.throws(() => readPackedPart(part(104, 3, group([]))), WireError);
});

test('replication: fields of plain snapshots are those that kinds have', () => {
  const changed = [entity(1, 0), entity(3, 80)];
  const block: PlainBlock = { cell: [0, 0, 0], changed, fields: [100n, 0xfedcba98n], removed: [] };
  assert.deepEqual(applyBlock(block, undefined, told).entities.map(({ fields }) => fields), [[100, 0, 0], [0xfedcba98]]);
  assert.throws(() => applyBlock({ ...block, fields: [128n, 0n] }, undefined, told), WireError);
  assert.throws(() => applyBlock({ ...block, fields: [] }, undefined, told), WireError);
  assert.throws(() => applyBlock(block, undefined, noReplication), WireError);

  const one = { id: 5, kind: 0, values: [77] };
  assert.deepEqual(groupOf([one], 'owner', told), [{ id: 5, kind: 0, fields: [0, 77, 0] }]);
  for (const wrong of [{ ...one, values: [] }, { ...one, kind: 16 }, { ...one, values: [1, 2] }]) {
    assert.throws(() => groupOf([wrong], 'owner', told), WireError);
  }
  assert.throws(() => groupOf([{ ...one, values: [512] }], 'team', told), WireError);
});
