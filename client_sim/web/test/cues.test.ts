// What only shows: recorded bytes, foreign ones, and each list once.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WireError } from '../src/bytes';
import { CueFilter, readCues } from '../src/cues';
import { readPackedPart } from '../src/packed';
import { Seeded, example } from './support';

test('cues: the recorded part tells two rays of a shot, and who was hurt', () => {
  const item = readPackedPart(example('Packed snapshot')).items.find(({ type }) => type === 'cues');
  assert.ok(item?.type === 'cues');
  const shooter = (1 << 20) | 9;
  assert.deepEqual(item.cues, [
    { kind: 'shot', detail: 2, age: 0, who: shooter, place: [-50, 131.25, 1.5625] },
    { kind: 'shot', detail: 2, age: 0, who: shooter, place: [-49.375, 131.125, 1.875] },
    { kind: 'hurt', detail: 1, age: 2, who: (1 << 20) | 10 },
  ]);
});

test('cues: foreign bytes are cues that make sense, or none', () => {
  const random = new Seeded(71);
  for (let round = 0; round < 5000; ++round) {
    try {
      const cues = readCues(random.bytes(random.below(40)));
      assert.ok(cues.length >= 1 && cues.length <= 32);
      for (const cue of cues) assert.ok(cue.who !== 0 || cue.place);
    } catch (error) {
      assert.ok(error instanceof WireError);
    }
  }
});

test('cues: a list counts once, however late and often it comes, and not when it is far too late', () => {
  const filter = new CueFilter();
  assert.ok(filter.isNew(100, 0));
  assert.ok(filter.isNew(100, 1));
  assert.ok(filter.isNew(80, 0));
  for (const [tick, part] of [[100, 0], [100, 1], [80, 0]]) assert.ok(!filter.isNew(tick, part));
  assert.ok(filter.isNew(164, 31));
  assert.ok(!filter.isNew(100, 2));
  assert.ok(filter.isNew(101, 0));
  assert.ok(!filter.isNew(164, 31));
});
