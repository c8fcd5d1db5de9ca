// Messages of a lying server: every number of them is held against its bounds, and nothing but a WireError comes of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { ChatLine } from '../generated/ashlar/wire/chat-line';
import { ChunkPlace } from '../generated/ashlar/wire/chunk-place';
import { Fight } from '../generated/ashlar/wire/fight';
import { GroundChunk } from '../generated/ashlar/wire/ground-chunk';
import { GroundGone } from '../generated/ashlar/wire/ground-gone';
import { Hit } from '../generated/ashlar/wire/hit';
import { MonsterShow } from '../generated/ashlar/wire/monster-show';
import { MonsterShows } from '../generated/ashlar/wire/monster-shows';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { WireError } from '../src/bytes';
import { readServerMessage, type ServerMessage } from '../src/server_messages';
import {
  usualRules, usualWeapon, writeCarried, writeEdits, writeScore, writeWeapons, writeWelcome, type Six,
  type WrittenRules, type WrittenWelcome,
} from './server_writer';
import { Seeded, example, messageOf, projectFolder } from './support';

function refused(bytes: Uint8Array, what: string): void {
  assert.throws(() => readServerMessage(bytes), WireError, what);
}

/** Name and bounds of each rule, as the simulation lists them. */
function listedRules(): { name: keyof WrittenRules; low: number; high: number; whole: boolean }[] {
  const header = readFileSync(join(projectFolder, 'world', 'sim', 'rules.h'), 'utf8');
  const schema = readFileSync(join(projectFolder, 'protocol', 'schema', 'server_message.fbs'), 'utf8');
  const table = /table Rules \{([^}]*)\}/.exec(schema)![1];
  const fields = [...table.matchAll(/^ {2}(\w+):(\w+)/gm)].map(([, name, type]) => ({
    name: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof WrittenRules,
    whole: type !== 'double',
  }));
  const bounds = [...header.matchAll(/visit\(\s*I\{"\w+", ([\d.]+), ([\d.]+),/g)].map(([, low, high]) =>
    ({ low: Number(low), high: Number(high) }));
  assert.equal(bounds.length, fields.length);
  return fields.map((field, i) => ({ ...field, ...bounds[i] }));
}

test('rules: each of them is held against the bounds that the simulation lists', () => {
  const rules = listedRules();
  assert.equal(rules.length, 45);
  assert.deepEqual(rules.map(({ name }) => name), Object.keys(usualRules));
  for (const { name, low, high, whole } of rules) {
    const beside: Partial<WrittenRules> = name === 'playerEyeM' ? { playerHeightM: 4 } : { playerEyeM: 0 };
    const of = (value: number): Uint8Array => writeWelcome({ rules: { ...beside, [name]: value } });
    for (const value of [low, high]) {
      const message = readServerMessage(of(value));
      assert.ok(message.type === 'welcome');
      assert.equal(message.welcome.rules[name], value, name);
    }
    const step = whole ? 1 : 1e-6;
    refused(of(high + step), `${name} ${high + step}`);
    if (low > 0 || !whole) refused(of(low - step), `${name} ${low - step}`);
    if (!whole) for (const value of [NaN, Infinity, -Infinity]) refused(of(value), `${name} ${value}`);
  }
  refused(writeWelcome({ rules: { playerEyeM: 1.7, playerHeightM: 1.6 } }), 'eyes above the head');
});

test('welcome: what it names lies in the world, in lists as long as they may be', () => {
  const zone: Six = [0, 0, 0, 1, 1, 1];
  const prop = { hash: 5n };
  const fine: Partial<WrittenWelcome>[] = [
    {}, { map: ['MAP01', -(2 ** 20), 2 ** 20, 4096] }, { props: [{ hash: 5n, flags: 1, scale: 0.001 }] },
    { bodies: [[0, 0.05, 0.1], [63, 4.5, 8]] }, { zones: [[-(2 ** 20), -5, -4096, 2 ** 20, 5, 4096]] },
    { columns: [-32, 32] }, { columns: [-128, -127] }, { columns: [64, 128] }, { ageTicks: 2n ** 62n },
    { props: Array.from({ length: 256 }, () => prop) }, { every: 60 }, { zones: [zone], zoneNames: ['spawn'] },
  ];
  for (const welcome of fine) assert.equal(readServerMessage(writeWelcome(welcome)).type, 'welcome');
  const wrong: Partial<WrittenWelcome>[] = [
    { map: ['MAP01', 2 ** 20 + 1, 0, 0] }, { map: ['MAP01', 0, 0, -4097] }, { map: ['', 0, 0, 0] },
    { props: [{ hash: 5n, flags: 2 }] }, { props: [{ hash: 5n, x: NaN }] }, { props: [{ hash: 5n, x: 2 ** 20 }] },
    { props: [{ hash: 5n, scale: 0.0009 }] }, { props: [{ hash: 5n, scale: NaN }] },
    { props: Array.from({ length: 257 }, () => prop) },
    { bodies: [[64, 1, 1]] }, { bodies: [[3, 1, 1], [3, 1, 1]] }, { bodies: [[3, NaN, 1]] }, { bodies: [[3, 1, 9]] },
    { zones: [[0, 0, 0, 0, 1, 1]] }, { zones: [[0, 0, -4097, 1, 1, 1]] }, { zones: [[0, 0, 0, 2 ** 20 + 1, 1, 1]] },
    { zones: [zone], zoneNames: [] }, { zones: [zone], zoneNames: ['x'.repeat(33)] },
    { zones: [zone], zoneNames: ['\u202e'] }, { zones: Array.from({ length: 65 }, () => zone) },
    { columns: [5, 4] }, { columns: [0, 65] }, { columns: [-129, -100] }, { columns: [100, 129] },
    { ageTicks: 2n ** 62n + 1n }, { every: 0 }, { every: 61 }, { motd: 'x'.repeat(161) },
  ];
  for (const welcome of wrong) {
    refused(writeWelcome(welcome), JSON.stringify(welcome, (_, value: unknown) => String(value)));
  }
});

test('weapons: each of their numbers is held against its bounds', () => {
  const weapons = readServerMessage(writeWeapons());
  assert.deepEqual(weapons, { type: 'weaponKinds', world: 1, names: ['pistol'] });
  const most: Partial<typeof usualWeapon> = {
    form: 4, ammo: 4, slot: 10, start: 1, count: 32, steady: 1, uses: 1000, damageStep: 10000, damageSides: 100,
    strengthTimes: 100, spreadDeg: 90, riseDeg: 90, rangeM: 1024, windupS: 60, intervalS: 60, lowerS: 60, raiseS: 60,
    reloadS: 60, chargeS: 60, throwLeast: 1, fuseS: 60,
  };
  assert.equal(readServerMessage(writeWeapons(most)).type, 'weaponKinds');
  for (const [name, value] of Object.entries(most)) refused(writeWeapons({ [name]: value + 1 }), name);
  for (const name of ['slot', 'count', 'damageSides', 'strengthTimes']) refused(writeWeapons({ [name]: 0 }), name);
  for (const value of [NaN, -1, Infinity]) refused(writeWeapons({ throwLeast: value }), `${value}`);
  for (const name of ['', 'x'.repeat(33), 'a\nb']) refused(writeWeapons({}, name), name);
  refused(writeWeapons({}, 'pistol', [[1, 1, 1]]), 'one kind of ammunition');
  refused(writeWeapons({}, 'pistol', [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 30001, 1]]), 'ammunition');
});

test('messages: what is carried, done to somebody, or changed is of known kinds', () => {
  assert.equal(readServerMessage(writeCarried({ held: 23, wanted: 23, firing: 1, picked: 64, spent: 24 })).type, 'carried');
  for (const wrong of [{ held: 24 }, { wanted: 24 }, { firing: 2 }, { backpack: 2 }, { picked: 65 }, { spent: 25 }]) {
    refused(writeCarried(wrong), JSON.stringify(wrong));
  }
  const fight = (how: number): Uint8Array => messageOf(ServerBody.Fight, (builder) => {
    Fight.startHitsVector(builder, 1);
    Hit.createHit(builder, 5, 0, 1, 0, how);
    return Fight.createFight(builder, 70, 1, 40, 15, 1, builder.endVector());
  });
  assert.equal(readServerMessage(fight(9)).type, 'fight');
  refused(fight(10), 'a way to hurt that there is not');
  assert.deepEqual(readServerMessage(writeEdits([[0, 255], [32767, 0]])), {
    type: 'blockEdits', tick: 70, world: 1,
    changes: [{ block: [32, -64, 96], is: 255 }, { block: [63, -33, 127], is: 0 }],
  });
  refused(writeEdits([[0, 256]]), 'a kind of block');
  refused(writeEdits([[5, 1], [5, 1]]), 'twice');
  refused(writeEdits([]), 'none');
  for (const chunk of [[32768, 0, 0], [-32769, 0, 0], [0, 0, 128], [0, 0, -129]] as const) {
    refused(writeEdits([[0, 1]], chunk), `chunk ${chunk.join()}`);
  }
  assert.equal(readServerMessage(writeEdits([[0, 1]], [32767, -32768, -128])).type, 'blockEdits');
});

test('messages: names in chat and score are those of players, of monsters those of files', () => {
  const line = (from: string): Uint8Array => messageOf(ServerBody.ChatLine, (builder) =>
    ChatLine.createChatLine(builder, builder.createString(from), builder.createString('hi')));
  for (const from of ['', 'Ada']) assert.deepEqual(readServerMessage(line(from)), { type: 'chat', from, text: 'hi' });
  const row = readServerMessage(writeScore('Ada'));
  assert.ok(row.type === 'score' && row.score.rows[0].name === 'Ada');
  for (const name of [' ', 'Ada ', 'x'.repeat(25), 'A\u00a0da', '\u2764\ufe0f', '\u3000']) {
    refused(line(name), name);
    refused(writeScore(name), name);
    refused(writeScore(name, { changes: true }), name);
  }
  refused(writeScore(''), 'nobody');
  for (const name of ['', undefined]) {
    const changes = readServerMessage(writeScore(name, { changes: true, gone: [4] }));
    assert.ok(changes.type === 'score' && changes.score.rows[0].name === '', 'a known one keeps its name');
  }
  const shows = (blood: string): Uint8Array => messageOf(ServerBody.MonsterShows, (builder) => {
    const show = MonsterShow.createMonsterShow(builder, 3, builder.createString(blood), 0, 0, 0, 0, 0);
    return MonsterShows.createMonsterShows(builder, MonsterShows.createKindsVector(builder, [show]), 1);
  });
  assert.equal(readServerMessage(shows('a red ~')).type, 'monsterShows');
  for (const name of ['r\u00f6t', 'x'.repeat(33)]) refused(shows(name), name);
});

const ground = (bytes: number, x = 1): Uint8Array => messageOf(ServerBody.GroundChunk, (builder) => {
  const at = GroundChunk.createBytesVector(builder, new Uint8Array(bytes));
  return GroundChunk.createGroundChunk(builder, 70, x, 2, 3, 9n, at, 0, 1);
});
const gone = (count: number, z = 0): Uint8Array => messageOf(ServerBody.GroundGone, (builder) => {
  GroundGone.startChunksVector(builder, count);
  for (let i = 0; i < count; ++i) ChunkPlace.createChunkPlace(builder, i, 0, z);
  return GroundGone.createGroundGone(builder, 70, builder.endVector(), 1);
});

test('messages: ground that nobody asked for is passed over where it makes sense', () => {
  for (const bytes of [ground(40_000), gone(0), gone(1024)]) assert.equal(readServerMessage(bytes).type, 'unknown');
  for (const bytes of [ground(40_001), ground(5, 32768), gone(1025), gone(1, 128)]) refused(bytes, 'ground');
});

/** One of each kind. */
const samples: Uint8Array[] = [
  writeWelcome({ zones: [[0, 0, 0, 1, 1, 1]], bodies: [[3, 1, 1]], props: [{ hash: 5n }], map: ['MAP01', 1, 2, 3] }),
  example('Snapshot'), writeWeapons(), writeCarried({ picked: 3, spent: 3 }), writeEdits([[0, 1], [7, 2]]),
  writeScore('Ada', { changes: true, gone: [4, 5] }), ground(20), gone(3),
];

test('messages: one of an unreliable packet may lie at any byte', () => {
  for (const sample of samples) {
    const whole = readServerMessage(sample);
    for (const offset of [1, 2, 6]) {
      const plain = new Uint8Array(offset + sample.length);
      plain.set(sample, offset);
      const read = readServerMessage(plain.subarray(offset));
      assert.equal(read.type, whole.type);
      if (whole.type !== 'snapshot') assert.deepEqual(read, whole);
    }
  }
});

test('messages: an empty list may stand where its elements could not', () => {
  const welcome = writeWelcome({ props: [] });
  assert.equal(readServerMessage(emptyListMoved(welcome)).type, 'welcome');
});

/** A welcome whose empty list of props is at an address that is no multiple of eight: as some writers have it. */
function emptyListMoved(welcome: Uint8Array): Uint8Array {
  const view = new DataView(welcome.buffer.slice(0));
  const table = (at: number): { field: (index: number) => number } => {
    const vtable = at - view.getInt32(at, true);
    return { field: (index) => at + view.getUint16(vtable + 4 + 2 * index, true) };
  };
  const follow = (at: number): number => at + view.getUint32(at, true);
  const body = follow(table(follow(0)).field(1));
  const props = table(body).field(9);
  // Any zero behind will do for its length, as long as what follows would not be aligned.
  for (let at = props + 4; at + 4 <= view.byteLength; at += 4) {
    if (view.getUint32(at, true) !== 0 || (at + 4) % 8 === 0) continue;
    view.setUint32(props, at - props, true);
    return new Uint8Array(view.buffer);
  }
  throw new Error('there is no zero');
}

test('messages: of every kind with bytes changed are read or refused, never anything else', () => {
  const random = new Seeded(73);
  const seen = new Set<ServerMessage['type']>();
  for (let round = 0; round < 40_000; ++round) {
    const sample = samples[round % samples.length];
    const bytes = new Uint8Array(sample.length + 6).subarray(random.chance(0.5) ? 6 : 0).subarray(0, sample.length);
    bytes.set(sample);
    for (let i = random.below(4); i >= 0; --i) {
      bytes[random.below(bytes.length)] = random.chance(0.5) ? random.below(256) : [0, 1, 0x7f, 0x80, 0xff][random.below(5)];
    }
    try {
      seen.add(readServerMessage(bytes).type);
    } catch (error) {
      assert.ok(error instanceof WireError, `round ${round}: ${(error as Error).stack}`);
    }
  }
  assert.ok(seen.size >= 7, [...seen].join());
});
