// How long a client waits: for an answer, for its first snapshot, for what it lacks.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ContentPart } from '../generated/ashlar/wire/content-part';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { Client, type ClientConfig, type ClientEvent } from '../src/client';
import { Connection } from '../src/connection';
import { Cipher, type Crypto } from '../src/crypto';
import { Stream } from '../src/frames';
import type { SessionKeys } from '../src/handshake';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Seeded, example, messageOf } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

const stepMs = 10;
const mapHash = 0x0102030405060708n;

/** A client with a session, and the server's end of it, which says what a test lets it say. */
class Session {
  readonly client: Client;
  readonly server: Connection;
  private ended: (ClientEvent & { type: 'ended' }) | undefined;
  private now = 0;

  constructor(config: Partial<ClientConfig> = {}) {
    const seeded = new Seeded(19);
    const keys: SessionKeys = {
      connection: 77, cipher: Cipher.chacha20Poly1305, clientToServer: seeded.bytes(32),
      serverToClient: seeded.bytes(32), resumption: seeded.bytes(32),
    };
    this.server = new Connection(crypto, {
      ...keys, clientToServer: keys.serverToClient, serverToClient: keys.clientToServer,
    }, 0);
    this.client = new Client(crypto, { name: 'patient', ...config });
    this.client.linkOpened(0);
    Object.assign(this.client, { connection: new Connection(crypto, keys, 0), state: 'joining', handshake: undefined });
  }

  /** @returns how it ended by then; the server is never silent */
  until(end: number): { at: number; reason: string } | undefined {
    for (; this.now <= end && !this.ended; this.now += stepMs) {
      for (const packet of this.client.advance(this.now, this.server.poll(this.now))) {
        this.server.receive(this.now, packet);
      }
      this.ended = this.client.takeEvents().find((event): event is ClientEvent & { type: 'ended' } =>
        event.type === 'ended');
    }
    return this.ended && { at: this.now - stepMs, reason: this.ended.reason };
  }

  sendPart(total: number, offset: number): void {
    assert.ok(this.server.send(Stream.bulk, messageOf(ServerBody.ContentPart, (builder) => {
      const bytes = ContentPart.createBytesVector(builder, new Uint8Array(10));
      return ContentPart.createContentPart(builder, mapHash, total, offset, bytes);
    })));
  }
}

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
  isAbout(new Session().until(60_000), 10_000, 'timeout');
  const welcomed = new Session({ holds: () => true });
  assert.equal(welcomed.until(6000), undefined);
  assert.ok(welcomed.server.send(Stream.control, example('Welcome')));
  isAbout(welcomed.until(60_000), 16_000, 'timeout');
  assert.ok(welcomed.client.finished);
});

test('waits: thirty seconds for more of what it lacks', () => {
  const session = new Session({ fetchContent: true });
  assert.ok(session.server.send(Stream.control, example('Welcome')));
  assert.equal(session.until(25_000), undefined);
  session.sendPart(100, 0);
  assert.equal(session.until(50_000), undefined);
  session.sendPart(100, 10);
  isAbout(session.until(120_000), 80_000, 'timeout');
  assert.equal(session.client.fetchedBytes, 20);
});

test('waits: not at all for what cannot come whole', () => {
  const session = new Session({ fetchContent: true });
  assert.ok(session.server.send(Stream.control, example('Welcome')));
  session.sendPart(100, 0);
  assert.equal(session.until(1000), undefined);
  session.sendPart(101, 10);
  isAbout(session.until(10_000), 1000, 'lacks_content');
});
