// How long a client waits: for an answer, for its first snapshot, for what it lacks.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { Client } from '../src/client';
import type { Crypto } from '../src/crypto';
import { Stream } from '../src/frames';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Session, stepMs } from './session';
import { example } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

function isAbout(ended: { at: number; reason: string } | undefined, at: number, reason: string): void {
  assert.equal(ended?.reason, reason);
  assert.ok(Math.abs(ended.at - at) <= 100, `at ${ended.at} ms, not ${at}`);
}

test('waits: where no link opens nobody answers, after ten seconds', () => {
  const client = new Client(crypto, { name: 'offline' });
  for (let now = 5000; now <= 15_000; now += stepMs) assert.deepEqual(client.advance(now, []), []);
  assert.equal(client.state, 'connecting');
  client.advance(15_010, []);
  assert.ok(client.finished);
  assert.deepEqual(client.takeEvents(), [{ type: 'ended', reason: 'no_answer', text: '', byServer: false }]);
});

test('waits: ten seconds for a welcome, and ten more for the first snapshot', () => {
  isAbout(new Session(crypto).until(60_000), 10_000, 'timeout');
  const welcomed = new Session(crypto, { holds: () => true });
  assert.equal(welcomed.until(6000), undefined);
  assert.ok(welcomed.server.send(Stream.control, example('Welcome')));
  isAbout(welcomed.until(60_000), 16_000, 'timeout');
  assert.ok(welcomed.client.finished);
});

test('waits: thirty seconds for more of what it lacks', () => {
  const session = new Session(crypto, { fetchContent: true });
  assert.ok(session.server.send(Stream.control, example('Welcome')));
  assert.equal(session.until(25_000), undefined);
  session.sendPart(100, 0);
  assert.equal(session.until(50_000), undefined);
  session.sendPart(100, 10);
  isAbout(session.until(120_000), 80_000, 'timeout');
  assert.equal(session.client.fetchedBytes, 20);
});

test('waits: not at all for what cannot come whole', () => {
  const session = new Session(crypto, { fetchContent: true });
  assert.ok(session.server.send(Stream.control, example('Welcome')));
  session.sendPart(100, 0);
  assert.equal(session.until(1000), undefined);
  session.sendPart(101, 10);
  isAbout(session.until(10_000), 1000, 'lacks_content');
});
