// Who keeps its velocity is told where that leads: blocks made by hand, decision after decision, as the page has them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readBlock, writeBlock, type BlockState, type BlockTime, type MovingEntity } from '../src/block_delta';
import { beginOdds, models, motionOf, newOdds } from '../src/block_models';
import { WireError } from '../src/bytes';
import { usualRules } from '../src/entity_coding';
import { readPackedPart } from '../src/packed';
import { RangeWriter, codeNumber, type Odds } from '../src/range_coder';
import { View } from '../src/view';
import { blockItem, foretoldPlace, writePart } from './packed_writer';

const [walks, flies] = [1, 2];
const [monster, projectile] = [20, 130];
const rate = 60;

function moving(id: number, kind: number, velocity: MovingEntity['velocity'], flags: number): MovingEntity {
  return { id, place: [4000, 4000, 4000], velocity, kind, yaw: 9, pitch: 0, health: 255, state: 0, flags, fields: [] };
}
const blockOf = (...entities: MovingEntity[]): BlockState => ({ cell: [0, 0, 0], entities });

type Decide = (at: number, value: boolean) => void;

/** A block whose members stay at the usual pace. */
function byHand(base: BlockState, tell: (decide: Decide, out: RangeWriter, odds: Odds) => void, pull = 20): Uint8Array {
  const [out, odds] = [new RangeWriter(), newOdds()];
  const decide: Decide = (at, value) => void out.bit(odds, at, value);
  const motions = base.entities.map((one) => motionOf(one, usualRules.pace));
  beginOdds(odds, []);
  decide(models.whole, false);
  decide(models.quiet, false);
  decide(models.usualPace, true);
  beginOdds(odds, motions);
  if (motions.some(({ gait }) => gait === flies)) {
    decide(models.usualPull, pull === usualRules.pull);
    if (pull !== usualRules.pull) out.raw(6, pull);
  }
  decide(models.others, false);
  tell(decide, out, odds);
  return out.finish();
}

/** A projectile that flies on: 0, 1 less and 5 more than foretold. */
function stray(decide: Decide, out: RangeWriter, odds: Odds): void {
  decide(models.falls + 1, false);
  decide(models.changed + flies, true);
  decide(models.steady, true);
  decide(models.drift, false);
  for (const [odd, is] of [[0, true], [1, false], [2, true]] as const) decide(models.drift + odd, is);
  for (const odd of [0, 1]) decide(models.drift + odd, true);
  codeNumber(out, odds, models.drift + 3, 4);
}

const time: BlockTime = { tick: 1007, age: 7, rate };

test('steady: a block of somebody who walks, a projectile and a monster in the air', () => {
  const base = blockOf(
    moving(1, 0, [7, -5, 0], 1), moving(2, projectile, [100, -33, 21], 0), moving(3, monster, [0, 0, -9], 0),
    moving(4, monster, [0, 0, -9], 0));
  const bytes = byHand(base, (decide, out, odds) => {
    decide(models.changed + walks, false);
    stray(decide, out, odds);
    for (const falls of [true, false]) {
      decide(models.falls, falls);
      decide(models.changed + flies, false);
    }
  });
  const now = readBlock(bytes, base, time);
  // 56 / 60 and -40 / 60 steps a tick: from 933 to 939 and from -667 to -672.
  assert.deepEqual(now.entities[0], { ...base.entities[0], place: [4006, 3995, 4000] });
  // 800, -264 and 168 / 60: from 13333 to 13426, from -4400 to -4431, from 2800 to 2819.
  assert.deepEqual(now.entities[1], { ...base.entities[1], place: [4093, 3968, 4024] });
  // It fell by 37 and moved by the mean; who has wings kept on: from -1200 to -1209.
  assert.deepEqual(now.entities[2], { ...base.entities[2], place: [4000, 4000, 3974], velocity: [0, 0, -46] });
  assert.deepEqual(now.entities[3], { ...base.entities[3], place: [4000, 4000, 3991] });
  assert.deepEqual(writeBlock(now, base, time), bytes, 'as the writer has it');
});

test('steady: players and items always fall, a projectile that falls tells all that changed', () => {
  for (const kind of [0, 240]) {
    const base = blockOf(moving(1, kind, [0, 0, -9], 0));
    const bytes = byHand(base, (decide) => decide(models.changed + flies, false));
    assert.deepEqual(readBlock(bytes, base, time).entities[0].velocity, [0, 0, -46]);
  }
  const base = blockOf(moving(1, projectile, [0, 0, -9], 0));
  const now = blockOf({ ...base.entities[0], place: [4000, 4001, 3974], velocity: [0, 0, -46] });
  const bytes = byHand(base, (decide) => {
    decide(models.falls + 1, true);
    decide(models.changed + flies, true);
    decide(models.turn, false);
    decide(models.speeds + 2 * flies, false);
    decide(models.climbs + flies, false);
    const place = models.place + 19 * 4;
    decide(place, false);
    for (const [odd, is] of [[0, true], [1, false], [2, false]] as const) decide(place + odd, is);
    for (const odd of [models.lifts + 2 * flies, models.nods, models.lesser]) decide(odd, false);
  });
  assert.deepEqual(readBlock(bytes, base, time), now);
  assert.deepEqual(writeBlock(now, base, time), bytes, 'as the writer has it');
});

test('steady: a projectile that strays from its cell is refused', () => {
  const base = blockOf({ ...moving(1, projectile, [0, 0, 8], 0), place: [0, 0, 0] });
  assert.throws(() => readBlock(byHand(base, stray), base, time), WireError);
});

test('steady: the pull is that of the first one that always falls', () => {
  const fallen = (one: MovingEntity): MovingEntity => ({ ...one, place: [4000, 4000, 4271], velocity: [0, 0, 281] });
  const base = blockOf(moving(1, monster, [0, 0, 300], 0), moving(2, 240, [0, 0, 300], 0));
  const now = blockOf(...base.entities.map(fallen));
  const bytes = byHand(base, (decide) => {
    decide(models.falls, true);
    for (let i = 0; i < 2; ++i) decide(models.changed + flies, false);
  }, 10);
  assert.deepEqual(readBlock(bytes, base, time), now);
  assert.deepEqual(writeBlock(now, base, time), bytes, 'as the writer has it');

  const alone = blockOf(base.entities[0]);
  const usual = byHand(alone, (decide, out, odds) => {
    decide(models.falls, true);
    decide(models.changed + flies, true);
    decide(models.turn, false);
    decide(models.speeds + 2 * flies, false);
    decide(models.climbs + flies, true);
    decide(models.lands, false);
    codeNumber(out, odds, models.climb + 16, 281 - 263);
    for (let axis = 0; axis < 2; ++axis) decide(models.place + 19 * 4, false);
    for (const odd of [models.lifts + 2 * flies, models.nods, models.lesser]) decide(odd, false);
  });
  assert.deepEqual(readBlock(usual, alone, time), blockOf(fallen(base.entities[0])));
  assert.deepEqual(writeBlock(blockOf(fallen(base.entities[0])), alone, time), usual, 'as the writer has it');
});

test('steady: a way leads on over ticks that wrap', () => {
  const last = 2 ** 32 - 1;
  // 2 and -4 steps a tick. 56 / 60: to tick 3 they are 2, to the one 7 before -4, though it is the 12th of its second.
  const base = blockOf(moving(1, 0, [15, -30, 0], 1), moving(2, 0, [7, 0, 0], 1), moving(3, projectile, [15, 0, -30], 0));
  const places: MovingEntity['place'][] = [[4014, 3972, 4000], [4006, 4000, 4000], [4014, 3999, 3977]];
  const bytes = byHand(base, (decide, out, odds) => {
    for (let i = 0; i < 2; ++i) decide(models.changed + walks, false);
    stray(decide, out, odds);
  });
  const over = { tick: 3, age: 7, rate };
  assert.deepEqual(readBlock(bytes, base, over).entities.map(({ place }) => place), places);
  assert.deepEqual(base.entities.map((one) => foretoldPlace(one, over)[0]), places.map(([x]) => x));

  const view = new View(rate);
  const whole = writeBlock(base, undefined, { tick: last - 3, age: 0, rate });
  view.take(readPackedPart(writePart({ tick: last - 3, items: [blockItem(5, 0, whole)] })));
  view.take(readPackedPart(writePart({ tick: 3, items: [blockItem(5, 7, bytes)] })));
  assert.equal(view.lostEpoch, 0);
  assert.deepEqual(view.entities().map(({ positionM }) => positionM), places.map((at) => at.map((steps) => steps / 128)));
});
