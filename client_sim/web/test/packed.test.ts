// Packed snapshots: what is written by the page is read, by bases that were acknowledged, over a link that loses.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BlockView } from '../src/block_view';
import { WireError, fromHex } from '../src/bytes';
import { readBlock, writeBlock, type BlockState, type BlockTime, type MovingEntity } from '../src/block_delta';
import { onCourse } from '../src/heading';
import { readOwnState, type OwnState } from '../src/own_delta';
import { isPacked, readPackedPart } from '../src/packed';
import { noReplication } from '../src/replication';
import { View } from '../src/view';
import { blockItem, foretoldPlace, goneItem, ownItem, writeOwn, writePart } from './packed_writer';
import { Seeded, example, recordedBlocks } from './support';

const rate = 60;

test('packed: fields that a game added, in a block that the server wrote', () => {
  const field = { to: 'all', interpolated: false, low: 0, step: 1 } as const;
  const replication = { ...noReplication, kinds: [{ first: 0, last: 0, name: 'player', motionPredicted: true, fields: [
    { ...field, name: 'ammo', number: 0, bits: 8 }, { ...field, name: 'charge', number: 1, bits: 20 },
  ] }] };
  const before = [0, 1, 2].map((i): MovingEntity => ({
    id: (1 << 20) + i + 1, place: [1000 + 100 * i, 2000, 64], velocity: [0, 0, 0], kind: 0,
    yaw: 10 * i, pitch: 0, health: 255, state: 0, flags: 1, fields: [7 * i, 100000 + i],
  }));
  const cell: BlockState['cell'] = [-3, 7, 1];
  const block = readBlock(
    fromHex('35a7ecbd25381f')!, { cell, entities: before }, { tick: 600, age: 5, rate }, replication);
  assert.deepEqual(block.entities.map(({ yaw, fields }) => [yaw, ...fields]),
    [[0, 9, 100000], [25, 7, 100001], [20, 250, 99990]]);
});

test('packed: the recorded part', () => {
  const part = readPackedPart(example('Packed snapshot'));
  assert.deepEqual([part.tick, part.world, part.epoch, part.appliedTick, part.inputAhead], [998, 1, 1, 997, 2]);
  assert.deepEqual(part.items.map(({ type }) => type), ['own', 'gone', 'moved', 'heights', 'block', 'block', 'cues']);
  const view = new View(rate);
  view.take(part);
  assert.deepEqual(view.own?.positionM, [-2, 1, 0.5]);
  assert.equal(view.own?.id, (5 << 20) | 3);
  assert.equal(view.entities().length, 1);
  assert.equal(view.lostEpoch, 1, 'nobody has the base of block 300');
});

function entityOf(random: Seeded, id: number): MovingEntity {
  const any = (): number => random.below(8192);
  const speed = (): number => (random.chance(0.5) ? 0 : random.below(400) - 200);
  return {
    id, place: [any(), any(), any()], velocity: [speed(), speed(), speed()],
    kind: [0, random.below(30), 128 + random.below(112), 240][random.below(4)],
    yaw: random.below(256), pitch: random.chance(0.5) ? 0 : random.below(129) - 64,
    health: random.chance(0.5) ? 255 : random.below(256), state: random.chance(0.5) ? 0 : random.below(256),
    flags: random.below(8), fields: [],
  };
}

/** What becomes of an entity in some ticks: as foretold, or changed a little or a lot. */
function later(random: Seeded, before: MovingEntity, time: BlockTime): MovingEntity {
  const now = { ...before, place: foretoldPlace(before, time) };
  if (random.chance(0.4)) return now;
  const far = [1, 3, 30, 8000][random.below(4)];
  const moved = now.place.map((at) => Math.max(0, Math.min(8191, at + random.below(2 * far + 1) - far)));
  now.place = moved as MovingEntity['place'];
  if (random.chance(0.3)) return now;
  if (random.chance(0.3)) {
    const [x, y, up] = now.velocity;
    now.velocity = [x, y, Math.max(-32768, up - Math.round(320 * time.age / time.rate))];
  } else if (random.chance(0.5)) {
    now.velocity = [random.below(600) - 300, random.below(60) - 30, random.below(3000) - 1500];
  }
  if (random.chance(0.5)) now.yaw = random.below(256);
  if (random.chance(0.3)) {
    // As players run: on a course off where they look, or since some ticks of a jump.
    const up = random.chance(0.3) ? 112 - Math.floor(random.below(40) * 16 / 3) : 0;
    now.velocity = [...onCourse(96, now.yaw, random.below(8)), up];
    now.flags = up === 0 ? 1 : 0;
  }
  if (random.chance(0.2)) return { ...entityOf(random, now.id), place: now.place };
  return now;
}

function blockAfter(random: Seeded, before: BlockState | undefined, time: BlockTime): BlockState {
  const cell = before?.cell ?? [random.below(40) - 20, random.below(40) - 20, random.below(4) - 2];
  const staying = (before?.entities ?? []).filter(() => random.chance(0.9));
  const entities = staying.map((entity) => later(random, entity, time));
  while (entities.length < 48 && random.chance(0.6)) {
    const id = 1 + random.below(2 ** 32 - 1);
    if (!entities.some((entity) => entity.id === id)) entities.push(entityOf(random, id));
  }
  return { cell, entities: entities.sort((a, b) => a.id - b.id) };
}

test('packed: blocks come back as they were, whole and against a base', () => {
  const random = new Seeded(91);
  let before: BlockState | undefined;
  for (let round = 0; round < 500; ++round) {
    if (random.chance(0.05)) before = undefined;
    const age = before ? 1 + random.below(255) : 0;
    const time = { tick: random.below(random.chance(0.1) ? 256 : 2 ** 32), age, rate: 1 + random.below(128) };
    const now = blockAfter(random, before, time);
    assert.deepEqual(readBlock(writeBlock(now, before, time), before, time), now, `round ${round}`);
    const plain = writeBlock(now, before, time, undefined, true);
    assert.deepEqual(readBlock(plain, before, time), now, `round ${round}, plainly`);
    before = now;
  }
});

test('packed: blocks that the server wrote', () => {
  const entitiesOf = (text: string): MovingEntity[] => text.slice(1, -1).split(';').filter(Boolean).map((one) => {
    const [id, x, y, z, vx, vy, vz, yaw, pitch, health, state, flags, kind] = one.split(',').map(Number);
    return { id, place: [x, y, z], velocity: [vx, vy, vz], kind, yaw, pitch, health, state, flags, fields: [] };
  });
  const lines = recordedBlocks().trim().split('\n');
  assert.equal(lines.length, 60);
  for (const [i, line] of lines.entries()) {
    const [tickRate, tick, age, before, now, hex] = line.split(' ');
    const cell: BlockState['cell'] = [-3, 7, 1];
    const base = age === '0' ? undefined : { cell, entities: entitiesOf(before) };
    const time = { tick: Number(tick), age: Number(age), rate: Number(tickRate) };
    const block = readBlock(Uint8Array.from(Buffer.from(hex, 'hex')), base, time);
    assert.deepEqual(block, { cell, entities: entitiesOf(now) }, `line ${i + 1}`);
    if (hex.length >= 1800) continue;  // told plainly, as it would not fit
    const bytes = writeBlock(block, base, time);
    assert.equal(Buffer.from(bytes).toString('hex'), hex, `line ${i + 1}`);
  }
});

test('packed: own players come back to the last bit', () => {
  const random = new Seeded(92);
  let before: OwnState | undefined;
  for (let round = 0; round < 3000; ++round) {
    const age = before ? 1 + random.below(20) : 0;
    const numbers = (before?.numbers ?? new Array<number>(16).fill(0)).map((number, i, all) => {
      if (random.chance(0.3)) return number;
      if (i >= 6 && i < 9 && random.chance(0.5)) return all[i - 3];
      return random.chance(0.2) ? (random.next() - 0.5) * (i === 15 ? 30 : 2000) : number + (random.next() - 0.5) * 1e-9;
    });
    const now: OwnState = {
      id: before && random.chance(0.9) ? before.id : 1 + random.below(1000), numbers, grounded: random.below(2),
      stuckTicks: 0, noclip: 0, health: 255, deltaYaw: random.chance(0.9) ? 0 : random.below(65536),
    };
    const read = readOwnState(writeOwn(now, before, age, rate), before, age, rate);
    assert.ok(read.numbers.every((number, i) => Object.is(number, numbers[i])), `round ${round}`);
    assert.deepEqual({ ...read, numbers: [] }, { ...now, numbers: [] });
    before = read;
  }
});

for (const loss of [0, 0.05, 0.2]) {
  test(`packed: a view follows blocks that move, split and go with ${loss * 100} % loss`, () => {
    const random = new Seeded(93 + loss * 100);
    const view = new BlockView(rate);
    const blocks = new Map<number, { history: Map<number, BlockState>; acknowledged: number }>();
    const gone = new Map<number, number>();  // block: the tick since when it is
    const flying: { at: number; tick: number; numbers: number[]; bytes: Uint8Array }[] = [];
    let next = 1;
    let checked = 0;
    for (let tick = 1000; tick < 1250; ++tick) {
      if (blocks.size < 8 && random.chance(0.1)) {
        blocks.set(next++, { history: new Map(), acknowledged: 0 });
      } else if (blocks.size > 3 && random.chance(0.02)) {
        const number = [...blocks.keys()][random.below(blocks.size)];
        blocks.delete(number);
        gone.set(number, tick);
      }
      // Each snapshot says again what was not acknowledged, gone ones for a while.
      const items: Uint8Array[] = [];
      for (const [number, since] of gone) {
        if (tick - since < 60) items.push(goneItem(number));
      }
      for (const [number, { history, acknowledged }] of blocks) {
        const last = history.get(tick - 1);
        const base = history.get(acknowledged);
        const now = blockAfter(random, last, { tick, age: 1, rate });
        history.set(tick, now);
        const age = base ? tick - acknowledged : 0;
        items.push(blockItem(number, age, writeBlock(now, base, { tick, age, rate })));
      }
      if (!random.chance(loss)) {
        const at = tick + 1 + random.below(5);
        flying.push({ at, tick, numbers: [...blocks.keys()], bytes: writePart({ tick, items }) });
      }
      for (const packet of flying.filter((one) => one.at <= tick)) {
        flying.splice(flying.indexOf(packet), 1);
        view.take(readPackedPart(packet.bytes));
        if (random.chance(0.1)) view.take(readPackedPart(packet.bytes));
        for (const number of packet.numbers) {
          const block = blocks.get(number);
          if (block) block.acknowledged = Math.max(block.acknowledged, packet.tick);
        }
        assert.equal(view.lostEpoch, 0);
        if (!random.chance(0.1)) continue;
        const seen = new Map<number, number>();
        for (const known of view.seen()) {
          seen.set(known.entity.id, Math.max(known.tick, seen.get(known.entity.id) ?? 0));
        }
        for (const { history, acknowledged } of blocks.values()) {
          for (const entity of history.get(acknowledged)?.entities ?? []) {
            ++checked;
            assert.ok((seen.get(entity.id) ?? 0) >= acknowledged);
          }
        }
      }
    }
    assert.ok(checked > 1000, `${checked} looked at`);
  });
}

const walker: MovingEntity = {
  id: 5, place: [100, 200, 300], velocity: [16, 0, 0], kind: 0, yaw: 0, pitch: 0, health: 255, state: 0, flags: 1, fields: [],
};
const state: BlockState = { cell: [0, 0, 0], entities: [walker] };
const whole = (number: number): Uint8Array => blockItem(number, 0, writeBlock(state, undefined, { tick: 0, age: 0, rate }));

test('packed: a missing base is told by its epoch until another one begins, and then all else is forgotten', () => {
  const view = new View(rate);
  const take = (tick: number, epoch: number, ...items: Uint8Array[]): void =>
    view.take(readPackedPart(writePart({ tick, epoch, items })));
  const ids = (): number[] => view.entities().map(({ id }) => id);
  const against = blockItem(7, 2, writeBlock(state, state, { tick: 105, age: 2, rate }));
  take(100, 1, whole(7));
  assert.deepEqual(ids(), [5]);
  take(105, 1, against);
  assert.equal(view.lostEpoch, 1);
  take(106, 1, whole(7));
  assert.equal(view.lostEpoch, 1, 'until the epoch ends');
  take(107, 2, ownItem(0, writeOwn({
    id: 3, numbers: new Array<number>(16).fill(1), grounded: 1, stuckTicks: 0, noclip: 0, health: 9, deltaYaw: 4,
  }, undefined, 0, rate)));
  assert.equal(view.lostEpoch, 0);
  assert.deepEqual(ids(), []);
  assert.deepEqual([view.own?.id, view.own?.positionM, view.own?.deltaYaw], [3, [1, 1, 1], 4]);
  take(106, 1, whole(8));
  assert.deepEqual(ids(), [], 'what comes late of the epoch before');
  take(108, 2, whole(8));
  take(110, 2, goneItem(8));
  take(109, 2, whole(8));
  assert.deepEqual(ids(), [], 'gone is gone');
  take(111, 2, whole(8));
  assert.deepEqual(view.entities().map(({ positionM }) => positionM), [[100 / 128, 200 / 128, 300 / 128]]);
});

test('packed: parts with bytes changed or cut are read or refused, never anything else', () => {
  const random = new Seeded(95);
  const big = blockAfter(random, undefined, { tick: 500, age: 0, rate });
  const bigItem = blockItem(300, 0, writeBlock(big, undefined, { tick: 500, age: 0, rate }));
  const recorded = writePart({ tick: 500, items: [whole(3), goneItem(9), bigItem] });
  assert.ok(isPacked(recorded));
  for (let round = 0; round < 5000; ++round) {
    const bytes = random.chance(0.3) ? recorded.slice(0, random.below(recorded.length)) : recorded.slice();
    for (let i = random.below(4); i > 0 && bytes.length > 1; --i) bytes[1 + random.below(bytes.length - 1)] = random.below(256);
    try {
      new View(rate).take(readPackedPart(bytes));
    } catch (error) {
      assert.ok(error instanceof WireError, `round ${round}: ${(error as Error).stack}`);
    }
  }
});
