// WIRE.md's recorded messages, read and written.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Builder, ByteBuffer } from 'flatbuffers';

import { BlockContents } from '../generated/ashlar/wire/block-contents';
import { ChatLine } from '../generated/ashlar/wire/chat-line';
import { ClientMessage } from '../generated/ashlar/wire/client-message';
import { ContentRequest } from '../generated/ashlar/wire/content-request';
import { Fight } from '../generated/ashlar/wire/fight';
import { Hello } from '../generated/ashlar/wire/hello';
import { Hit } from '../generated/ashlar/wire/hit';
import { Input } from '../generated/ashlar/wire/input';
import { InventoryChange } from '../generated/ashlar/wire/inventory-change';
import { Join } from '../generated/ashlar/wire/join';
import { MonsterShow } from '../generated/ashlar/wire/monster-show';
import { MonsterShows } from '../generated/ashlar/wire/monster-shows';
import { Score } from '../generated/ashlar/wire/score';
import { ScoreRow } from '../generated/ashlar/wire/score-row';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { ServerMessage } from '../generated/ashlar/wire/server-message';
import { Slot } from '../generated/ashlar/wire/slot';
import { ByteWriter, WireError, toHex } from '../src/bytes';
import { writeChat, writeContentRequest, writeHello, writeInput, writeJoin } from '../src/client_messages';
import { readFrames, writeFrame, FrameType } from '../src/frames';
import { writePackedInput } from '../src/packed_input';
import { readServerMessage } from '../src/server_messages';
import { example, messageOf } from './support';

/** The union's table of a client's message. */
function bodyOf<T>(message: Uint8Array, table: T): T {
  return ClientMessage.getRootAsClientMessage(new ByteBuffer(message)).body(table as never) as T;
}

test('messages: the recorded welcome', () => {
  const message = readServerMessage(example('Welcome'));
  assert.ok(message.type === 'welcome');
  const { welcome } = message;
  assert.equal(welcome.seed, 0x1122334455667788n);
  assert.equal(welcome.tick, 990);
  assert.equal(welcome.tickRateHz, 60);
  assert.equal(welcome.motd, 'hello');
  assert.deepEqual(welcome.maps, [
    { name: 'MAP01', contentHash: 0x0102030405060708n, origin: [-10, 20], surfaceZ: 30, flags: 2 },
  ]);
  assert.equal(welcome.props[0].name, 'crate.obj');
  assert.deepEqual(welcome.props[0].positionM, [1.5, -2, 40]);
  assert.equal(welcome.props[0].scale, 0.5);
});

test('messages: the recorded line of chat, part of content and refusal', () => {
  assert.deepEqual(readServerMessage(example('ChatLine')), { type: 'chat', from: 'Ada', text: 'good morning' });
  assert.deepEqual(readServerMessage(example('ContentPart')), {
    type: 'content', hash: 0x0102030405060708n, total: 0x8005, offset: 0x8000,
    bytes: Uint8Array.of(0xc0, 0xc1, 0xc2, 0xc3, 0xc4),
  });
  const refused = readServerMessage(example('ContentRefused'));
  assert.deepEqual(refused, { type: 'contentRefused', hash: 0x1112131415161718n, reason: 2 });
});

test('messages: what is written reads as what is recorded', () => {
  const recorded = bodyOf(example('Input'), new Input());
  const first = recorded.commands(0)!;
  const second = recorded.commands(1)!;
  const commands = [first, second].map((command, i) => ({
    tick: recorded.newestTick() - i, seen: command.seen(), yaw: command.yaw(), pitch: command.pitch(),
    buttons: command.buttons(), forward: command.forward(), left: command.left(),
  }));
  const written = bodyOf(writeInput(commands, recorded.snapshotTick(), recorded.world(), 0), new Input());
  assert.deepEqual([written.newestTick(), written.snapshotTick(), written.world()], [1000, 996, 1]);
  assert.equal(written.commandsLength(), 2);
  for (let i = 0; i < 2; ++i) {
    const [a, b] = [recorded.commands(i)!, written.commands(i)!];
    assert.deepEqual([b.yaw(), b.pitch(), b.buttons(), b.seen()], [a.yaw(), a.pitch(), a.buttons(), a.seen()]);
    assert.deepEqual([b.forward(), b.left()], [a.forward(), a.left()]);
  }

  assert.equal(toHex(writePackedInput(commands, 1, 0)), toHex(example('Packed input')));

  const join = bodyOf(example('Join'), new Join());
  const hashes = [join.content(0)!, join.content(1)!];
  assert.deepEqual(bodyOf(writeJoin(hashes, join.world(), false), new Join()).content(1), 0x1112131415161718n);

  const hello = bodyOf(example('Hello message'), new Hello());
  const said = bodyOf(writeHello({
    name: hello.name()!, build: hello.build()!, token: hello.tokenArray()!, takesPacked: true,
    resume: { connection: hello.resume(), proof: hello.resumeProofArray()! },
  }), new Hello());
  assert.ok(said.takesPacked());
  assert.equal(said.resume(), 0x55667788);
  assert.equal(toHex(said.tokenArray()!), toHex(hello.tokenArray()!));
  assert.equal(toHex(said.resumeProofArray()!), toHex(hello.resumeProofArray()!));

  const request = bodyOf(writeContentRequest(0x0102030405060708n, 0x8000), new ContentRequest());
  assert.deepEqual([request.hash(), request.offset()], [0x0102030405060708n, 0x8000]);
  assert.equal(writeChat('good morning').length % 4, 0);
});

test('messages: a score of as many rows as players, and how all kinds of monsters show', () => {
  const score = readServerMessage(messageOf(ServerBody.Score, (builder) => {
    const rows = Array.from({ length: 64 }, (_, i) =>
      ScoreRow.createScoreRow(builder, i + 1, builder.createString(`player ${i}`), 64 - i, i, 0, 0));
    const rowsAt = Score.createRowsVector(builder, rows);
    const teamsAt = Score.createTeamsVector(builder, [0, 0, 0, 0]);
    return Score.createScore(builder, 70, 1, 3, 2, 9, teamsAt, rowsAt, false, 0);
  }));
  assert.ok(score.type === 'score');
  assert.deepEqual(score.score.rows.map(({ id }) => id), Array.from({ length: 64 }, (_, i) => i + 1));

  const shows = readServerMessage(messageOf(ServerBody.MonsterShows, (builder) => {
    const blood = builder.createString('red');
    const kinds = Array.from({ length: 64 }, (_, i) =>
      MonsterShow.createMonsterShow(builder, i, blood, 0, 0, 0, 0, 0));
    return MonsterShows.createMonsterShows(builder, MonsterShows.createKindsVector(builder, kinds), 1);
  }));
  assert.ok(shows.type === 'monsterShows');
  assert.equal(shows.kinds.length, 64);
});

test('messages: a fight', () => {
  const write = (who: number): Uint8Array => messageOf(ServerBody.Fight, (builder) => {
    Fight.startHitsVector(builder, 1);
    Hit.createHit(builder, who, 9, 25, 1, 3);
    return Fight.createFight(builder, 70, 1, 40, 15, 1, builder.endVector());
  });
  assert.deepEqual(readServerMessage(write(5)), {
    type: 'fight', tick: 70, world: 1, health: 40, armour: 15,
    hits: [{ who: 5, by: 9, points: 25, died: true, how: 3 }],
  });
  assert.throws(() => readServerMessage(write(0)), WireError);
});

/** Each slot as slot, kind and count. */
function slotsOf(builder: Builder, slots: readonly (readonly [number, number, number])[]): number {
  BlockContents.startSlotsVector(builder, slots.length);
  for (const [slot, kind, count] of [...slots].reverse()) Slot.createSlot(builder, kind, count, slot);
  return builder.endVector();
}

test('messages: slots rise, and each holds nothing or some of a kind', () => {
  const inventory = (...slots: [number, number, number][]): Uint8Array =>
    messageOf(ServerBody.InventoryChange, (builder) =>
      InventoryChange.createInventoryChange(builder, 70, 1, true, slotsOf(builder, slots)));
  const message = readServerMessage(inventory([0, 3, 64], [7, 0, 0], [35, 255, 1]));
  assert.ok(message.type === 'inventory');
  assert.deepEqual(message.slots, [
    { slot: 0, block: 3, count: 64 }, { slot: 7, block: 0, count: 0 }, { slot: 35, block: 255, count: 1 },
  ]);
  const wrong: [number, number, number][][] = [
    [[4, 3, 1], [4, 3, 1]], [[5, 3, 1], [4, 3, 1]], [[36, 3, 1]], [[0, 0, 1]], [[0, 3, 0]], [[0, 256, 1]], [[0, 3, 65]],
  ];
  for (const slots of wrong) {
    assert.throws(() => readServerMessage(inventory(...slots)), WireError, JSON.stringify(slots));
  }
});

test('messages: what a block holds is of the world, its text may be shown', () => {
  const contents = (text: string | Uint8Array, x = 5, due = 0n): Uint8Array =>
    messageOf(ServerBody.BlockContents, (builder) => {
      const slots = slotsOf(builder, [[1, 3, 2]]);
      const textAt = builder.createString(text);
      return BlockContents.createBlockContents(builder, 70, 1, true, x, -6, 7, slots, textAt, due);
    });
  assert.deepEqual(readServerMessage(contents('this way', -1048575, 2n ** 62n)), {
    type: 'blockContents', tick: 70, world: 1, open: true, block: [-1048575, -6, 7],
    slots: [{ slot: 1, block: 3, count: 2 }], text: 'this way', due: 2n ** 62n,
  });
  const texts = ['x'.repeat(65), 'two\nlines', '\u202e', Uint8Array.of(0xff)];
  for (const text of texts) assert.throws(() => readServerMessage(contents(text)), WireError);
  assert.throws(() => readServerMessage(contents('', 2 ** 20)), WireError);
  assert.throws(() => readServerMessage(contents('', 5, 2n ** 62n + 1n)), WireError);
});

test('messages: a line of chat that may not be shown is refused', () => {
  const line = (text: string): Uint8Array => messageOf(ServerBody.ChatLine, (builder) =>
    ChatLine.createChatLine(builder, builder.createString('Ada'), builder.createString(text)));
  assert.deepEqual(readServerMessage(line('\u2764\ufe0f')), { type: 'chat', from: 'Ada', text: '\u2764\ufe0f' });
  for (const text of ['', 'x'.repeat(201), 'a\u200db', '\x1b[2J']) {
    assert.throws(() => readServerMessage(line(text)), WireError);
  }
});

test('messages: every truncation of a recorded one is refused, and none reads outside', () => {
  for (const name of ['Welcome', 'Snapshot', 'ChatLine', 'ContentPart', 'ContentRefused']) {
    const whole = example(name);
    for (let length = 0; length < whole.length; ++length) {
      // Bytes behind the cut would be read by who looks too far.
      const cut = whole.slice(0, whole.length).subarray(0, length);
      try {
        readServerMessage(cut);
      } catch (error) {
        assert.ok(error instanceof WireError, `${name} cut to ${length}: ${String(error)}`);
      }
    }
  }
});

test('frames: the acknowledgement of the page, both ways', () => {
  const bytes = Uint8Array.of(2, 0xac, 0x02, 5, 1, 9, 2, 1);
  const [ack] = readFrames(bytes);
  assert.deepEqual(ack, {
    type: FrameType.ack, delayUs: 5, ranges: [{ begin: 286, end: 288 }, { begin: 291, end: 301 }],
  });
  const writer = new ByteWriter();
  writeFrame(writer, ack);
  assert.equal(toHex(writer.finish()), toHex(bytes));
});

test('frames: an unreliable message begins at a multiple of eight', () => {
  for (let before = 0; before < 9; ++before) {
    const writer = new ByteWriter();
    for (let i = 0; i < before; ++i) writeFrame(writer, { type: FrameType.ping });
    writeFrame(writer, { type: FrameType.unreliable, message: Uint8Array.of(1, 2, 3) });
    assert.equal((10 + writer.length - 3) % 8, 0);
    assert.equal(readFrames(writer.finish()).length, before + 1);
  }
});

test('frames: nonsense is refused', () => {
  const nonsense: Record<string, number[]> = {
    'an unknown frame': [9],
    'a stream that is none': [21, 0, 1, 7],
    'a stream frame without bytes': [16, 0, 0],
    'fewer bytes than it says': [16, 0, 5, 1],
    'a varint longer than it need be': [16, 0x80, 0, 1, 7],
    'packets before the first': [2, 3, 0, 0, 4],
    'two acknowledgements': [2, 3, 0, 0, 0, 2, 3, 0, 0, 0],
    'too many frames': Array.from({ length: 41 }, () => 1),
    'a message at the wrong place': [8, 1, 2],
    'a close that is cut': [7, 1, 4, 65],
    'a close without a reason': [7, 0, 0],
    'a close of two lines': [7, 72, 3, 65, 10, 65],
    'a close that is no UTF-8': [7, 72, 1, 0xff],
  };
  for (const [what, bytes] of Object.entries(nonsense)) {
    assert.throws(() => readFrames(Uint8Array.from(bytes)), WireError, what);
  }
});
