// Two ends of a connection over a link that loses, doubles and reorders; hostile packets that open.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ByteWriter, concat } from '../src/bytes';
import { Connection } from '../src/connection';
import { Cipher, type Crypto } from '../src/crypto';
import { FrameType, Stream, readFrames, writeFrame, type Frame } from '../src/frames';
import type { SessionKeys } from '../src/handshake';
import { PacketOpener, PacketSealer } from '../src/protection';
import { closeReasons } from '../src/session_end';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Seeded } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

const seeded = new Seeded(11);
const clientKeys: SessionKeys = {
  connection: 77, cipher: Cipher.chacha20Poly1305, clientToServer: seeded.bytes(32), serverToClient: seeded.bytes(32),
  resumption: seeded.bytes(32),
};
const serverKeys: SessionKeys = {
  ...clientKeys, clientToServer: clientKeys.serverToClient, serverToClient: clientKeys.clientToServer,
};

function reasonOf(connection: Connection): number | undefined {
  return connection.end?.reason;
}

interface LinkFaults {
  loss: number;
  doubling: number;
  delayMs: number;
  jitterMs: number;
}

/** Packets in one direction, by when they arrive. */
class Line {
  private readonly flying: { at: number; packet: Uint8Array }[] = [];
  sent = 0;
  constructor(private readonly faults: LinkFaults, private readonly random: Seeded) {}

  send(now: number, packets: Uint8Array[]): void {
    for (const packet of packets) {
      ++this.sent;
      if (this.random.chance(this.faults.loss)) continue;
      const copies = this.random.chance(this.faults.doubling) ? 2 : 1;
      for (let i = 0; i < copies; ++i) {
        this.flying.push({ at: now + this.faults.delayMs + this.random.next() * this.faults.jitterMs, packet });
      }
    }
  }

  arrived(now: number): Uint8Array[] {
    const here = this.flying.filter(({ at }) => at <= now);
    this.flying.splice(0, this.flying.length, ...this.flying.filter(({ at }) => at > now));
    return here.map(({ packet }) => packet);
  }
}

for (const loss of [0, 0.05, 0.3]) {
  test(`connection: messages arrive once and in order with ${loss * 100} % loss, over changes of keys`, () => {
    const random = new Seeded(100 * loss + 5);
    const faults = { loss, doubling: 0.1, delayMs: 20, jitterMs: 30 };
    const lines = [new Line(faults, random), new Line(faults, random)];
    const client = new Connection(crypto, clientKeys, 0, 700);
    const server = new Connection(crypto, serverKeys, 0, 900);
    const wanted = Array.from({ length: 200 }, (_, i) => concat(Uint8Array.of(i), random.bytes(random.below(800))));
    const large = random.bytes(300_000);
    const got: Uint8Array[] = [];
    let largeGot: Uint8Array | undefined;
    let unreliable = 0;
    let said = 0;
    assert.ok(server.send(Stream.bulk, large));
    for (let now = 0; now < 60_000 && (got.length < wanted.length || !largeGot); now += 5) {
      while (said < wanted.length && client.send(Stream.edits, wanted[said])) ++said;
      client.sendUnreliable(Uint8Array.of(1, 2, 3));
      for (const packet of lines[0].arrived(now)) {
        for (const { stream, message } of server.receive(now, packet)) {
          if (stream === Stream.edits) got.push(message);
          else ++unreliable;
        }
      }
      for (const packet of lines[1].arrived(now)) {
        for (const { message } of client.receive(now, packet)) largeGot = message;
      }
      lines[0].send(now, client.poll(now));
      lines[1].send(now, server.poll(now));
      assert.equal(client.end ?? server.end, undefined, `at ${now} ms`);
    }
    assert.deepEqual(got, wanted);
    assert.deepEqual(largeGot, large);
    assert.ok(unreliable > 100);
    if (loss === 0) assert.ok(Math.abs(client.rttMs! - 70) < 25, `round trip ${client.rttMs} ms`);
  });
}

test('connection: pings keep it alive, and silence of ten seconds ends it', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const server = new Connection(crypto, serverKeys, 0);
  let now = 0;
  for (; now < 30_000; now += 10) {
    for (const packet of client.poll(now)) server.receive(now, packet);
    for (const packet of server.poll(now)) client.receive(now, packet);
  }
  assert.equal(reasonOf(client), undefined);
  for (; now < 41_000; now += 10) client.poll(now);
  assert.equal(reasonOf(client), closeReasons.timeout);
});

test('connection: a close is said four times, and believed', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const server = new Connection(crypto, serverKeys, 0);
  client.close(0, closeReasons.quit, 'bye');
  const said: Uint8Array[] = [];
  for (let now = 0; now < 20_000; now += 10) said.push(...client.poll(now));
  assert.equal(said.length, 4);
  assert.ok(client.finished);
  server.receive(0, said[2]);
  assert.deepEqual(server.end, { reason: closeReasons.quit, text: 'bye', byPeer: true });
  assert.deepEqual(server.poll(10), []);
});

/** What a server seals that says anything at all. */
class LyingServer {
  private readonly sealer = new PacketSealer(crypto, clientKeys.cipher, 77, clientKeys.serverToClient, 0);
  packet(...frames: Frame[]): Uint8Array {
    const writer = new ByteWriter();
    for (const frame of frames) writeFrame(writer, frame);
    return this.sealer.seal(writer.finish());
  }
  plain(bytes: Uint8Array): Uint8Array {
    return this.sealer.seal(bytes);
  }
}

test('connection: who breaks a rule is closed with its name', () => {
  const far = new Uint8Array(4);
  const long = Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 1);
  const cases: [keyof typeof closeReasons, Frame | Uint8Array][] = [
    ['bad_ack', { type: FrameType.ack, ranges: [{ begin: 5, end: 6 }], delayUs: 0 }],
    ['flow_control', { type: FrameType.stream, stream: Stream.chat, offset: 4093, bytes: far }],
    ['flow_control', { type: FrameType.streamReset, stream: Stream.chat, offset: 2 ** 40 }],
    ['bad_stream', { type: FrameType.stream, stream: Stream.chat, offset: 0, bytes: long }],
    ['bad_stream', { type: FrameType.stream, stream: Stream.chat, offset: 0, bytes: far }],
    ['malformed', Uint8Array.of(200)],
  ];
  for (const [reason, said] of cases) {
    const client = new Connection(crypto, clientKeys, 0);
    const server = new LyingServer();
    client.receive(0, said instanceof Uint8Array ? server.plain(said) : server.packet(said));
    assert.equal(reasonOf(client), closeReasons[reason], reason);
  }
});

test('connection: a stream that is reset goes on with the message that begins there', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const server = new LyingServer();
  const message = (text: string): Uint8Array =>
    concat(Uint8Array.of(text.length, 0, 0, 0), new TextEncoder().encode(text));
  const chat = (offset: number, bytes: Uint8Array): Frame =>
    ({ type: FrameType.stream, stream: Stream.chat, offset, bytes });
  assert.deepEqual(client.receive(0, server.packet(chat(0, message('cut off').subarray(0, 6)))), []);
  const reset: Frame = { type: FrameType.streamReset, stream: Stream.chat, offset: 40 };
  const texts = (packet: Uint8Array): string[] =>
    client.receive(0, packet).map(({ message: bytes }) => new TextDecoder().decode(bytes));
  assert.deepEqual(texts(server.packet(reset, chat(40, message('anew')))), ['anew']);
  assert.deepEqual(texts(server.packet(chat(6, message('old')))), []);
  assert.deepEqual(texts(server.packet(reset, chat(48, message('on')))), ['on']);
});

test('connection: a challenge of the path is answered with its bytes', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const data = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  client.receive(0, new LyingServer().packet({ type: FrameType.pathChallenge, data }));
  const opener = new PacketOpener(crypto, clientKeys.cipher, 77, clientKeys.clientToServer);
  const frames = client.poll(0).flatMap((packet) => readFrames(opener.open(0, packet)!.plain));
  assert.ok(frames.some((frame) => frame.type === FrameType.pathResponse && frame.data.every((b, i) => b === data[i])));
});

test('connection: sealed random bytes end it or change nothing, and never throw', () => {
  const random = new Seeded(23);
  for (let round = 0; round < 2000; ++round) {
    const client = new Connection(crypto, clientKeys, 0);
    const server = new LyingServer();
    for (let i = 0; i < 4; ++i) {
      const bytes = random.bytes(random.below(60));
      if (random.chance(0.7)) bytes.set([[0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20][random.below(14)]].slice(0, bytes.length));
      client.receive(round, server.plain(bytes));
      client.poll(round + i);
    }
  }
});

const messageBytes = (text: string): Uint8Array =>
  concat(Uint8Array.of(text.length, 0, 0, 0), new TextEncoder().encode(text));

test('connection: what came ahead of a reset is handed over with it', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const server = new LyingServer();
  const ahead: Frame = { type: FrameType.stream, stream: Stream.chat, offset: 40, bytes: messageBytes('anew') };
  assert.deepEqual(client.receive(0, server.packet(ahead)), []);
  const reset: Frame = { type: FrameType.streamReset, stream: Stream.chat, offset: 40 };
  const texts = client.receive(0, server.packet(reset)).map(({ message }) => new TextDecoder().decode(message));
  assert.deepEqual(texts, ['anew']);
});

test('connection: streams come before an unreliable message, the most urgent first', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const frame = (stream: Stream): Frame => ({ type: FrameType.stream, stream, offset: 0, bytes: messageBytes('x') });
  const unreliable: Frame = { type: FrameType.unreliable, message: Uint8Array.of(1) };
  const got = client.receive(0, new LyingServer().packet(frame(Stream.bulk), frame(Stream.control), unreliable));
  assert.deepEqual(got.map(({ stream }) => stream), [Stream.control, Stream.bulk, undefined]);
});

test('connection: a server that acknowledges next to nothing is not said more and more', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const server = new LyingServer();
  const opener = new PacketOpener(crypto, clientKeys.cipher, 77, clientKeys.clientToServer);
  let bytes = 0;
  let answered = 0;
  for (let now = 0; now < 60_000; now += 16) {
    client.sendUnreliable(new Uint8Array(1000));
    for (const packet of client.poll(now)) {
      bytes += packet.length;
      // One in three seconds: so the connection lives.
      const { sequence } = opener.open(now, packet)!;
      if (now < answered) continue;
      answered = now + 3000;
      client.receive(now, server.packet({ type: FrameType.ack, ranges: [{ begin: sequence, end: sequence + 1 }], delayUs: 0 }));
    }
    if (now % 992 === 0) client.receive(now, server.packet({ type: FrameType.ping }));
  }
  assert.equal(client.end, undefined);
  assert.ok(bytes < 1_500_000, `${bytes} bytes`);
  const { loss, ackLargest } = client as unknown as { loss: { bytesInFlight: number }; ackLargest: Map<number, number> };
  assert.ok(loss.bytesInFlight <= 33 * 1200 && ackLargest.size <= 1024);
});

test('connection: packets of the far future and acknowledgements of the far past are borne', () => {
  const client = new Connection(crypto, clientKeys, 0);
  const sealer = new PacketSealer(crypto, clientKeys.cipher, 77, clientKeys.serverToClient, 0);
  const ping = Uint8Array.of(FrameType.ping);
  // Gaps of billions, until sequences are beyond 2^32 and told by their low halves alone.
  for (let i = 0; i < 200; ++i) {
    sealer.sequence += 2 ** 31 - 2;
    client.receive(i, sealer.seal(ping));
    for (const packet of client.poll(i + 30)) assert.ok(packet.length <= 1200);
  }
  assert.equal(client.end, undefined);
  const opener = new PacketOpener(crypto, clientKeys.cipher, 77, clientKeys.serverToClient);
  const low = new PacketSealer(crypto, clientKeys.cipher, 77, clientKeys.serverToClient, 0);
  for (const sequence of [2 ** 31 - 1, 2 ** 32 - 2, 2 ** 32 + 5, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1]) {
    low.sequence = sequence;
    const packet = low.seal(ping);
    assert.equal(opener.open(0, packet)?.sequence, sequence);
    assert.equal(opener.open(0, packet), undefined, 'a double');
  }
});
