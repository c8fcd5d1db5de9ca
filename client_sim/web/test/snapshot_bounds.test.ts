// Snapshots of a lying server, and of one that has run for years: own player, sectors and cues are held against their
// bounds, ticks are compared as they wrap.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OwnPlayer } from '../generated/ashlar/wire/own-player';
import { SectorHeight } from '../generated/ashlar/wire/sector-height';
import { SectorMotion } from '../generated/ashlar/wire/sector-motion';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { SliceHeader } from '../generated/ashlar/wire/slice-header';
import { Snapshot } from '../generated/ashlar/wire/snapshot';
import { BitWriter } from '../src/bits';
import { writeBlock, type BlockState } from '../src/block_delta';
import { ByteWriter, WireError } from '../src/bytes';
import { CueFilter } from '../src/cues';
import { readPackedPart } from '../src/packed';
import { readServerMessage, type ServerMessage } from '../src/server_messages';
import { View } from '../src/view';
import { f64 } from './kinds_writer';
import { blockItem, goneItem, ownItem, writeOwn, writePart } from './packed_writer';
import { messageOf } from './support';

const rate = 60;

/** The own player by its numbers as they travel in a plain part, and the bytes behind these. */
interface WrittenOwn {
  position?: number;
  velocity?: number;
  recoveryVelocity?: number;
  recoveryTarget?: number;
  lastFree?: number;
  eye?: number;
  grounded?: number;
  noclip?: number;
}

function plainOwn(wanted: WrittenOwn): Uint8Array {
  return messageOf(ServerBody.Snapshot, (builder) => {
    const { position = 1, velocity = 1, recoveryVelocity = 0, recoveryTarget = 0, lastFree = 0, eye = 0 } = wanted;
    const three = (x: number): [number, number, number] => [x, 0, 0];
    Snapshot.startSnapshot(builder);
    Snapshot.addTick(builder, 70);
    Snapshot.addWorld(builder, 1);
    Snapshot.addEpoch(builder, 1);
    Snapshot.addPartCount(builder, 1);
    Snapshot.addOwn(builder, OwnPlayer.createOwnPlayer(
      builder, ...three(position), ...three(velocity), ...three(recoveryVelocity), ...three(recoveryTarget),
      ...three(lastFree), eye, 9, wanted.grounded ?? 1, 0, wanted.noclip ?? 0, 255));
    return Snapshot.endSnapshot(builder);
  });
}

function packedOwn(wanted: WrittenOwn): Uint8Array {
  const { position = 1, velocity = 1, recoveryVelocity = 0, recoveryTarget = 0, lastFree = 0, eye = 0 } = wanted;
  const numbers = [velocity, position, lastFree, recoveryVelocity, recoveryTarget].flatMap((x) => [x, 0, 0]);
  const own = {
    id: 9, numbers: [...numbers, eye], grounded: wanted.grounded ?? 1, stuckTicks: 0, noclip: wanted.noclip ?? 0,
    health: 255, deltaYaw: 0,
  };
  return writePart({ tick: 70, items: [ownItem(0, writeOwn(own, undefined, 0, rate))] });
}

/** Both encodings of a part. */
const readers: Record<string, (own: WrittenOwn) => View> = {
  plain: (own) => {
    const message: ServerMessage = readServerMessage(plainOwn(own));
    assert.ok(message.type === 'snapshot');
    const view = new View(rate);
    view.take(message.part);
    return view;
  },
  packed: (own) => {
    const view = new View(rate);
    view.take(readPackedPart(packedOwn(own)));
    return view;
  },
};

for (const [encoding, read] of Object.entries(readers)) {
  test(`snapshot: the own player of a ${encoding} part is one that the simulation could hold`, () => {
    const fine: WrittenOwn[] = [
      {}, { noclip: 1 }, { noclip: 2 }, { grounded: 0 }, { velocity: -1e4 }, { eye: 16 }, { position: 2 ** 20 - 1 },
    ];
    for (const own of fine) assert.equal(read(own).own?.id, 9, JSON.stringify(own));
    const far = [2 ** 20, -(2 ** 20), NaN, Infinity];
    const wrong: WrittenOwn[] = [
      { noclip: 3 }, { grounded: 2 }, { eye: 16.5 }, { eye: NaN }, { velocity: 10_001 }, { velocity: NaN },
      { recoveryVelocity: -10_001 }, { recoveryVelocity: Infinity }, ...far.map((position) => ({ position })),
      ...far.map((recoveryTarget) => ({ recoveryTarget })), ...far.map((lastFree) => ({ lastFree })),
    ];
    for (const own of wrong) assert.throws(() => read(own), WireError, `${JSON.stringify(own)} ${Object.values(own)[0]}`);
  });
}

const door = {
  heightM: 1, lowM: 0, highM: 3, speedMps: 2, waitS: 4, leftS: 1, sector: 5, map: 0, plane: 1, motion: 8, phase: 4,
  resume: 4, flags: 7,
};
type Door = typeof door;

function plainSectors(slices: [number: number, map: number, sectors: number[]][], motions: Door[] = []): Uint8Array {
  return messageOf(ServerBody.Snapshot, (builder) => {
    const sectors = slices.flatMap(([, , told]) => told);
    Snapshot.startHeightsVector(builder, sectors.length);
    for (const sector of [...sectors].reverse()) SectorHeight.createSectorHeight(builder, sector, 0, 65536);
    const heights = builder.endVector();
    Snapshot.startSlicesVector(builder, slices.length);
    for (const [number, map, told] of [...slices].reverse()) {
      SliceHeader.createSliceHeader(builder, number, map, 0, told.length);
    }
    const slicesAt = builder.endVector();
    Snapshot.startMotionsVector(builder, motions.length);
    const create = SectorMotion.createSectorMotion as (at: typeof builder, ...numbers: number[]) => number;
    for (const motion of [...motions].reverse()) create(builder, ...Object.values(motion));
    const motionsAt = builder.endVector();
    Snapshot.startSnapshot(builder);
    Snapshot.addEpoch(builder, 1);
    Snapshot.addPartCount(builder, 1);
    Snapshot.addHeights(builder, heights);
    Snapshot.addSlices(builder, slicesAt);
    Snapshot.addMotions(builder, motionsAt);
    return Snapshot.endSnapshot(builder);
  });
}

function packedMotion(motion: Door): Uint8Array {
  const item = new ByteWriter();
  item.u8(5);
  const { heightM, lowM, highM, speedMps, waitS, leftS, sector, ...bytes } = motion;
  for (const number of [heightM, lowM, highM, speedMps, waitS, leftS]) item.put(f64(number));
  item.u16(sector);
  for (const byte of Object.values(bytes)) item.u8(byte);
  return writePart({ tick: 70, items: [item.finish()] });
}

test('snapshot: motions of sectors are known, finite and not too many', () => {
  assert.equal(readServerMessage(plainSectors([], Array.from({ length: 16 }, () => door))).type, 'snapshot');
  assert.equal(readPackedPart(packedMotion(door)).items.length, 1);
  assert.throws(() => readServerMessage(plainSectors([], Array.from({ length: 17 }, () => door))), WireError);
  const wrong: Partial<Door>[] = [
    { map: 10 }, { plane: 2 }, { motion: 9 }, { phase: 5 }, { resume: 5 }, { heightM: NaN }, { heightM: 1e5 },
    { lowM: -Infinity }, { highM: 1e6 }, { highM: NaN }, { speedMps: 0 }, { speedMps: NaN }, { speedMps: 1e4 },
    { waitS: -1 }, { waitS: NaN }, { leftS: 1e6 }, { leftS: NaN },
  ];
  for (const change of wrong) {
    const what = `${Object.keys(change)[0]} ${Object.values(change)[0]}`;
    assert.throws(() => readServerMessage(plainSectors([], [{ ...door, ...change }])), WireError, what);
    assert.throws(() => readPackedPart(packedMotion({ ...door, ...change })), WireError, what);
  }
});

test('snapshot: heights are of sectors that ascend within a slice', () => {
  const fine = plainSectors([[1023, 9, [0, 63]], [0, 0, []], [3, 1, [5]]]);
  assert.equal(readServerMessage(fine).type, 'snapshot');
  const wrong: [number, number, number[]][] = [[1024, 0, [1]], [0, 10, [1]], [0, 0, [64]], [0, 0, [2, 2]], [0, 0, [3, 2]]];
  for (const slice of wrong) assert.throws(() => readServerMessage(plainSectors([slice])), WireError, slice.join());
  const packed = (count: number, passed: number[], extra = 0): Uint8Array => {
    const bits = new BitWriter();
    bits.gamma(count);
    for (const over of passed) {
      bits.gamma(over);
      for (let height = 0; height < 2; ++height) {
        bits.bit(true);
        bits.signed(-7, 12);
      }
    }
    const bytes = Uint8Array.from([...bits.finish(), ...new Uint8Array(extra)]);
    return writePart({ tick: 70, items: [Uint8Array.from([4, 0, 0, 0, bytes.length, ...bytes])] });
  };
  assert.equal(readPackedPart(packed(2, [3, 59])).items[0].type, 'heights');
  for (const [what, bytes] of Object.entries({
    'too many': packed(65, []), cut: packed(2, [3]), 'beyond the slice': packed(2, [3, 60]), 'bits left': packed(1, [3], 1),
  })) assert.throws(() => readPackedPart(bytes), WireError, what);
});

test('snapshot: a packed part tells one list of cues', () => {
  const cues = new BitWriter();
  for (const [value, width] of [[0, 5], [3, 4], [1, 8], [0, 1], [1, 1], [77, 32], [0, 1]]) cues.put(value, width);
  const bytes = cues.finish();
  const item = Uint8Array.from([7, bytes.length, ...bytes]);
  assert.equal(readPackedPart(writePart({ tick: 70, items: [item] })).items.length, 1);
  assert.throws(() => readPackedPart(writePart({ tick: 70, items: [item, item] })), WireError);
});

const last = 2 ** 32 - 1;
const stateOf = (...ids: number[]): BlockState => ({
  cell: [0, 0, 0],
  entities: ids.map((id) => ({
    id, place: [id, 0, 0], velocity: [0, 0, 0], kind: 0, yaw: 0, pitch: 0, health: 255, state: 0, flags: 1, fields: [],
  })),
});

const whole = (now: BlockState): Uint8Array => writeBlock(now, undefined, { tick: 0, age: 0, rate });

test('view: is told and asked on when ticks wrap', () => {
  const view = new View(rate);
  const idsAt = (): number[] => view.entities().map(({ id }) => id);
  const told = (tick: number, now: BlockState, base: BlockState | undefined, age: number): void =>
    view.take(readPackedPart(writePart({
      tick: tick >>> 0, items: [blockItem(5, age, writeBlock(now, base, { tick: tick >>> 0, age, rate }))],
    })));
  told(last - 1, stateOf(1, 2), undefined, 0);
  told(last, stateOf(1, 2, 3), stateOf(1, 2), 1);
  told(last + 2, stateOf(3, 4), stateOf(1, 2), 3);
  assert.deepEqual([idsAt(), view.lostEpoch, view.tick, view.completeTick], [[3, 4], 0, 1, 1]);
  told(last + 1, stateOf(1), stateOf(1, 2), 2);
  assert.deepEqual(idsAt(), [3, 4], 'what was overtaken changes nothing');
  told(last + 6, stateOf(6), stateOf(3, 4), 4);
  view.take(readPackedPart(writePart({ tick: 9, items: [goneItem(5)] })));
  assert.deepEqual(idsAt(), []);
  told(last + 8, stateOf(7), undefined, 0);
  assert.deepEqual(idsAt(), [], 'it was gone by then');
  view.take(readPackedPart(writePart({ tick: 12, epoch: 2, items: [] })));
  told(last + 12, stateOf(8), undefined, 0);
  assert.deepEqual([idsAt(), view.lostEpoch], [[], 0], 'another epoch came');
});

test('cues: lists count once when ticks wrap, too', () => {
  const filter = new CueFilter();
  assert.ok(filter.isNew(last, 0));
  assert.ok(filter.isNew(0, 0));
  assert.ok(filter.isNew(5, 0));
  for (const tick of [last, 0, 5]) assert.ok(!filter.isNew(tick, 0));
  assert.ok(filter.isNew(last - 57, 0));
  assert.ok(!filter.isNew(last - 58, 0), '64 ticks behind');
});

test('view: a tick of which something could not be read is not complete', () => {
  const view = new View(rate);
  const take = (tick: number, ...items: Uint8Array[]): void => view.take(readPackedPart(writePart({ tick, items })));
  take(100, blockItem(5, 0, whole(stateOf(1))));
  assert.equal(view.completeTick, 100);
  take(101, blockItem(6, 3, writeBlock(stateOf(2), stateOf(3), { tick: 101, age: 3, rate })));
  assert.deepEqual([view.tick, view.completeTick, view.lostEpoch], [101, 100, 1]);
});

test('view: who moves on is seen where it was, though its block is gone in the same part', () => {
  const view = new View(rate);
  const take = (tick: number, ...items: Uint8Array[]): void => view.take(readPackedPart(writePart({ tick, items })));
  const moved = Uint8Array.from([8, 1, 7, 0, 0, 0, 9]);
  for (const items of [[goneItem(5), moved], [moved, goneItem(5)]]) {
    take(view.tick + 100, blockItem(5, 0, whole(stateOf(7))));
    take(view.tick + 1, ...items);
    assert.deepEqual(view.entities().map(({ id }) => id), [7]);
    take(view.tick + 1, blockItem(9, 0, whole(stateOf(7))));
    assert.deepEqual(view.entities().map(({ id }) => id), [7]);
    take(view.tick + 1, goneItem(9));
    assert.deepEqual(view.entities(), []);
  }
});

test('view: a part that says of everybody that they moved costs one look at all', () => {
  const view = new View(rate);
  const ids = Array.from({ length: 48 }, (_, i) => i + 1);
  for (let tick = 1; tick <= 100; ++tick) {
    const items = Array.from({ length: 40 }, (_, number) => ({
      type: 'block' as const, number, age: 0, read: () => stateOf(...ids.map((id) => 100 * number + id)),
    }));
    view.take({ tick, items, world: 1, epoch: 1, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1 });
  }
  const moved = Array.from({ length: 4000 }, (_, i) => ({ type: 'moved' as const, id: i + 1, number: 5000 }));
  const begun = performance.now();
  view.take({ tick: 101, items: moved, world: 1, epoch: 1, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1 });
  assert.ok(performance.now() - begun < 1000);
  assert.equal(view.entities().length, 40 * 48);
});
