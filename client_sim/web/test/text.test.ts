// What a player says and does is such that the server takes it: another text, act or command closes the session.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ActKind, BlockFace, isAct, playable, standStill } from '../src/client_messages';
import { printableBytes, readText, validPlayerName, validText } from '../src/text';

test('text: what may travel is what the server takes', () => {
  const fine = ['a', 'grüß dich', '\u{1f600}', '\u2764\ufe0f', '\u1820\u180b', ' ', '\ufffd', 'x'.repeat(200)];
  for (const text of fine) {
    assert.ok(validText(text, 1, 200), JSON.stringify(text));
    assert.equal(readText(new TextEncoder().encode(text), 1, 200), text);
  }
  const none = [
    '', 'x'.repeat(201), 'ü'.repeat(101), 'a\nb', 'a\tb', '\0', '\x7f', '\x85', '\xad', '\u061c', '\u115f', '\u180e',
    'a\u200db', '\u2028', '\u202e', '\u2060', '\u3164', '\ufeffa', '\uffff', '\ufdd0',
    '\u{1d173}', '\u{e0100}', '\u{10ffff}',
  ];
  for (const text of none) {
    assert.ok(!validText(text, 1, 200), JSON.stringify(text));
    assert.equal(readText(new TextEncoder().encode(text), 1, 200), undefined);
  }
  for (const half of ['\ud83d', '\ude00a']) assert.ok(!validText(half, 1, 200));
  for (const bytes of [[0xc0, 0x80], [0xff], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xc3]]) {
    assert.equal(readText(Uint8Array.from(bytes), 0, 200), undefined);
  }
});

test('text: our own is made to fit, cut between two characters', () => {
  const made = (text: string, most: number): string => new TextDecoder().decode(printableBytes(text, most));
  assert.equal(made('map\nMAP01\ud83d', 200), 'map?MAP01?');
  assert.equal(made('aüü', 4), 'aü');
  assert.equal(made('a\u{1f600}', 4), 'a');
});

test('commands: the nearest that the server takes', () => {
  const wild = { yaw: 65536 + 7, pitch: 20000, buttons: 0xffff, forward: 300, left: -128 };
  assert.deepEqual(playable(wild), { yaw: 7, pitch: 16384, buttons: 0x1f1f, forward: 127, left: -127 });
  assert.equal(playable({ ...wild, pitch: -40000 }).pitch, -16384);
  const fine = { yaw: 9, pitch: -16384, buttons: 4 | (3 << 8), forward: -127, left: 5 };
  assert.deepEqual(playable(fine), fine);
  assert.deepEqual(playable({ yaw: NaN, pitch: NaN, buttons: NaN, forward: NaN, left: NaN }), standStill);
});

test('acts: such as the server takes', () => {
  const act = { kind: ActKind.write, block: [0, 0, 0] as [number, number, number], face: BlockFace.top, placed: 0 };
  assert.ok(isAct(act));
  assert.ok(isAct({ ...act, text: 'x'.repeat(64) }));
  for (const text of ['x'.repeat(65), 'two\nlines', '\ud83d']) assert.ok(!isAct({ ...act, text }), text);
  assert.ok(isAct({ ...act, kind: ActKind.dig, text: 'two\nlines' }), 'it does not travel');
  assert.ok(!isAct({ ...act, kind: 9 as ActKind }));
  assert.ok(!isAct({ ...act, face: 6 }));
  assert.ok(isAct({ ...act, kind: ActKind.put, face: 64 }));
  for (const face of [0, 65]) assert.ok(!isAct({ ...act, kind: ActKind.put, face }));
});

test('text: a name is of characters that are drawn, and looks like nobody else and not like nobody', () => {
  const good = ['Ada', 'a b', 'Jos\u00e9', '\u6f22\u5b57', '\u{1f600}', 'x'.repeat(24), '\u{1f600}'.repeat(24)];
  for (const name of good) assert.ok(validPlayerName(name), JSON.stringify(name));
  const bad = [
    '', ' ', ' Ada', 'Ada ', 'x'.repeat(25), 'a\u00a0b', '\u3000', '\u2800', '\u200bAda', 'A\u200dda', '\u2764\ufe0f',
    'a\nb', '\u202eadA', '\ud800', '\u3164', '\u{16fe4}', '\u{1d159}', '\u2003', '\ufeffAda', '\u{e0041}',
  ];
  for (const name of bad) assert.ok(!validPlayerName(name), JSON.stringify(name));
});
