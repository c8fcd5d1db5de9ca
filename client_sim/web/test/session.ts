// A client that has a session, and the server's end of it, which says what a test lets it say.

import assert from 'node:assert/strict';

import { BlockKinds } from '../generated/ashlar/wire/block-kinds';
import { ContentPart } from '../generated/ashlar/wire/content-part';
import { ReplicatedKinds } from '../generated/ashlar/wire/replicated-kinds';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { Client, type ClientConfig, type ClientEvent } from '../src/client';
import { Connection, type ReceivedMessage } from '../src/connection';
import { Cipher, type Crypto } from '../src/crypto';
import { Stream } from '../src/frames';
import type { SessionKeys } from '../src/handshake';
import { noReplication } from '../src/replication';
import { writeKinds, writeReplication } from './kinds_writer';
import { writePart } from './packed_writer';
import { writeWelcome } from './server_writer';
import { Seeded, messageOf } from './support';

export const stepMs = 10;
export const mapHash = 0x0102030405060708n;
/** The key of the server that the session is with. */
export const sessionServer = new Uint8Array(32).fill(9);

export function blockKinds(world = 1): Uint8Array {
  return messageOf(ServerBody.BlockKinds, (builder) =>
    BlockKinds.createBlockKinds(builder, BlockKinds.createKindsVector(builder, writeKinds()), world));
}

export function replicatedKinds(replication = noReplication, world = 1): Uint8Array {
  return messageOf(ServerBody.ReplicatedKinds, (builder) =>
    ReplicatedKinds.createReplicatedKinds(
      builder, ReplicatedKinds.createKindsVector(builder, writeReplication(replication)), world));
}

/** A client with a session, and the server's end of it, which says what a test lets it say. */
export class Session {
  readonly client: Client;
  server: Connection;
  readonly events: ClientEvent[] = [];
  /** What the server's end heard. */
  readonly heard: ReceivedMessage[] = [];
  now = 0;

  constructor(crypto: Crypto, config: Partial<ClientConfig> = {}) {
    this.client = new Client(crypto, { name: 'patient', ...config });
    this.server = this.connect(crypto, 77);
    Object.assign(this.client, { connectionServer: sessionServer, serverKey: sessionServer });
  }

  /** Both ends have another connection, as after a handshake. */
  reconnect(crypto: Crypto): void {
    this.server = this.connect(crypto, 78);
  }

  /** Gives the client its end of a connection. @returns the server's */
  private connect(crypto: Crypto, connection: number): Connection {
    const seeded = new Seeded(connection);
    const keys: SessionKeys = {
      connection, cipher: Cipher.chacha20Poly1305, clientToServer: seeded.bytes(32),
      serverToClient: seeded.bytes(32), resumption: seeded.bytes(32),
    };
    this.client.linkOpened(this.now);
    Object.assign(this.client, {
      connection: new Connection(crypto, keys, this.now), state: 'joining', handshake: undefined,
    });
    return new Connection(crypto, {
      ...keys, clientToServer: keys.serverToClient, serverToClient: keys.clientToServer,
    }, this.now);
  }

  private get ended(): (ClientEvent & { type: 'ended' }) | undefined {
    return this.events.find((event): event is ClientEvent & { type: 'ended' } => event.type === 'ended');
  }

  /** @returns how it ended by then; the server is never silent */
  until(end: number): { at: number; reason: string } | undefined {
    for (; this.now <= end && !this.ended; this.now += stepMs) {
      for (const packet of this.client.advance(this.now, this.server.poll(this.now))) {
        for (const { stream, message } of this.server.receive(this.now, packet)) this.heard.push({ stream, message });
      }
      this.events.push(...this.client.takeEvents());
    }
    return this.ended && { at: this.now - stepMs, reason: this.ended.reason };
  }

  /** For long enough that everything arrives. */
  go(ms = 300): void {
    this.until(this.now + ms);
  }

  say(stream: Stream, ...messages: Uint8Array[]): void {
    for (const message of messages) assert.ok(this.server.send(stream, message));
    this.go();
  }

  /** Into a world with nothing but what every world has, up to its first snapshot of this tick. */
  play(tick = 1000): void {
    this.say(Stream.control, writeWelcome(), blockKinds(), replicatedKinds());
    this.server.sendUnreliable(writePart({ tick, items: [] }));
    this.go();
    assert.equal(this.client.state, 'playing');
  }

  count(type: ClientEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  sendPart(total: number, offset: number): void {
    assert.ok(this.server.send(Stream.bulk, messageOf(ServerBody.ContentPart, (builder) => {
      const bytes = ContentPart.createBytesVector(builder, new Uint8Array(10));
      return ContentPart.createContentPart(builder, mapHash, total, offset, bytes);
    })));
  }
}
