// Foreign bytes wherever a server may put some: what comes of them is refused with a WireError, or a session that closes.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ByteWriter, WireError } from '../src/bytes';
import { Connection } from '../src/connection';
import { Cipher, makeKeyPair, type Crypto } from '../src/crypto';
import { FrameType, writeFrame, type Stream } from '../src/frames';
import { ClientHandshake } from '../src/handshake';
import { readPackedPart } from '../src/packed';
import { TcpPackets } from '../src/packet';
import { PacketSealer } from '../src/protection';
import { noReplication, readReplication } from '../src/replication';
import { sodiumCrypto } from '../src/sodium_crypto';
import { View } from '../src/view';
import { writeReplication } from './kinds_writer';
import { blockItem, writePart } from './packed_writer';
import { Seeded, example, recordedBlocks } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

function changed(random: Seeded, bytes: Uint8Array): Uint8Array {
  const out = bytes.slice(0, random.chance(0.1) ? random.below(bytes.length) : bytes.length);
  for (let i = random.below(5); i >= 0 && out.length > 0; --i) out[random.below(out.length)] = random.below(256);
  return out;
}

function onlyRefused(what: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    assert.ok(error instanceof WireError, `${what}: ${(error as Error).stack}`);
    return false;
  }
}

test('fuzz: parts of packed snapshots, one upon the other', () => {
  const random = new Seeded(101);
  const blocks = recordedBlocks().trim().split('\n').map((line) => Uint8Array.from(Buffer.from(line.split(' ')[5], 'hex')));
  const recorded = example('Packed snapshot');
  let [view, read] = [new View(60), 0];
  for (let round = 0; round < 6000; ++round) {
    if (round % 500 === 0) view = new View(60);
    const tick = [1000 + round, random.below(2 ** 32), 2 ** 32 - 1, 0][random.chance(0.9) ? 0 : random.below(4)];
    const item = blockItem(random.below(4), random.below(6), changed(random, blocks[random.below(blocks.length)]));
    const part = random.chance(0.5) ? changed(random, recorded) : writePart({ tick, epoch: 1 + random.below(2), items: [item] });
    const took = onlyRefused(`round ${round}`, () => view.take(readPackedPart(part)));
    if (took) ++read;
    if (round % 50 === 0) view.entities();
  }
  assert.ok(read > 100, `${read} were read`);
});

test('fuzz: what is told of kinds', () => {
  const random = new Seeded(102);
  const bytes = writeReplication({
    ...noReplication, messages: [{ name: 'scored', bytesMax: 20 }],
    kinds: [{ first: 0, last: 0, name: 'player', motionPredicted: true, fields: [
      { name: 'mood', number: 0, bits: 7, to: 'all', interpolated: true, low: -5, step: 0.5 },
    ] }],
  });
  for (let round = 0; round < 3000; ++round) onlyRefused(`round ${round}`, () => readReplication(changed(random, bytes)));
});

test('fuzz: packets that open, of frames and of anything', () => {
  const random = new Seeded(103);
  const key = random.bytes(32);
  const keys = { connection: 77, cipher: Cipher.chacha20Poly1305, clientToServer: key, serverToClient: key, resumption: key };
  let ended = 0;
  for (let round = 0; round < 300; ++round) {
    const client = new Connection(crypto, keys, 0);
    const sealer = new PacketSealer(crypto, keys.cipher, 77, key, 0);
    for (let now = 0; now < 200 && !client.end; now += 10) {
      const writer = new ByteWriter();
      for (let i = random.below(5); i >= 0; --i) {
        const offset = random.below(3000);
        writeFrame(writer, [
          { type: FrameType.ping } as const, { type: FrameType.credit, stream: random.below(5), limit: random.below(9000) } as const,
          { type: FrameType.stream, stream: random.below(5) as Stream, offset, bytes: random.bytes(1 + random.below(90)) } as const,
          { type: FrameType.streamReset, stream: random.below(5), offset } as const,
          { type: FrameType.pathChallenge, data: random.bytes(8) } as const,
        ][random.below(5)]);
      }
      const plain = random.chance(0.05) ? random.bytes(random.below(60)) : writer.finish();
      const packet = sealer.seal(random.chance(0.05) ? changed(random, plain) : plain);
      client.receive(now, random.chance(0.1) ? changed(random, packet) : packet);
      for (const answer of client.poll(now)) assert.ok(answer.length <= 1200);
    }
    if (client.end) ++ended;
  }
  assert.ok(ended > 50);
});

test('fuzz: answers to a hello, and what TCP brings', () => {
  const random = new Seeded(104);
  const handshake = new ClientHandshake(crypto, { identity: makeKeyPair(crypto), payload: () => new Uint8Array(0) }, 0);
  const { nonce } = handshake as unknown as { nonce: Uint8Array };
  let said = 0;
  for (let round = 0; round < 2000; ++round) {
    const bytes = example(['Retry', 'Accept', 'Reset', 'Sealed welcome'][round % 4]);
    if (bytes.length >= 24 && random.chance(0.9)) bytes.set(nonce, 16);
    assert.equal(handshake.receive(1, random.chance(0.5) ? changed(random, bytes) : bytes), undefined);
    if (handshake.poll(1)) ++said;
  }
  assert.ok(said >= 2 && said <= 9, `${said} hellos to hundreds of retries`);
  for (let round = 0; round < 500; ++round) {
    const cutter = new TcpPackets();
    onlyRefused('TCP', () => {
      for (let i = 0; i < 5; ++i) for (const packet of cutter.take(random.bytes(random.below(3000)))) assert.ok(packet.length <= 1200);
    });
  }
});
