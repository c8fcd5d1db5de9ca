// The session among WIRE.md's examples: its secrets are told, so every byte of it has to come out.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { equalBytes, toHex } from '../src/bytes';
import { Cipher, makeKeyPair, type Crypto } from '../src/crypto';
import { FrameType, readFrames } from '../src/frames';
import { ClientHandshake, type HandshakeSetup, type SessionKeys } from '../src/handshake';
import { withNodeAes } from '../src/node_crypto';
import { connectionOf, readPong, resetToken, writePing } from '../src/packet';
import { PacketOpener, PacketSealer } from '../src/protection';
import { readServerMessage } from '../src/server_messages';
import { reasonName } from '../src/session_end';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Seeded, example, exampleSecrets, withRandom } from './support';

let sodium: Crypto;
let both: Crypto;
before(async () => {
  sodium = await sodiumCrypto();
  both = withNodeAes(sodium);
});

const nonce = (): Uint8Array => example('Hello').slice(16, 24);

/** The client of the examples, up to where it has said its hello with the cookie. */
function playerOfTheExamples(changes: Partial<HandshakeSetup> = {}): ClientHandshake {
  const [, identity, ephemeral] = exampleSecrets();
  const setup = { identity: makeKeyPair(both, identity), payload: () => example('Hello message'), ...changes };
  return new ClientHandshake(withRandom(both, ephemeral, nonce()), setup, 0);
}

/** Up to the keys, by the recorded packets. */
function sessionOfTheExamples(): SessionKeys {
  const handshake = playerOfTheExamples();
  for (const packet of [example('Retry'), example('Accept')]) assert.equal(handshake.receive(0, packet), undefined);
  const keys = handshake.receive(0, example('Sealed welcome'));
  assert.ok(keys);
  return keys;
}

test('handshake: hello, retry, hello with the cookie, accept and finish are the recorded bytes', () => {
  const handshake = playerOfTheExamples();
  const first = handshake.poll(0)!;
  assert.equal(first.length, 1200);
  assert.equal(toHex(first.subarray(56)), '00'.repeat(1144));
  handshake.receive(0, example('Retry'));
  const second = handshake.poll(0)!;
  assert.equal(toHex(second.subarray(0, 76)), toHex(example('Hello')));
  handshake.receive(0, example('Accept'));
  assert.equal(toHex(handshake.serverKey!), toHex(both.publicKey(exampleSecrets()[0])));
  assert.equal(toHex(handshake.poll(0)!), toHex(example('Finish')));
});

test('handshake: the first sealed packet that opens tells the connection, and holds the welcome', () => {
  const keys = sessionOfTheExamples();
  assert.equal(keys.connection, 0x11223344);
  const opener = new PacketOpener(both, keys.cipher, keys.connection, keys.serverToClient);
  const frames = readFrames(opener.open(0, example('Sealed welcome'))!.plain);
  const control = frames.find((frame) => frame.type === FrameType.stream);
  assert.ok(control?.type === FrameType.stream && control.offset === 0);
  assert.equal(toHex(control.bytes.subarray(4)), toHex(example('Welcome')));
  const close = readFrames(opener.open(0, example('Sealed close'))!.plain)[0];
  assert.ok(close.type === FrameType.close);
  assert.equal(reasonName(close.reason), 'kicked');
});

test('sealed: what a client says seals to the recorded bytes, in the first key and in the second one', () => {
  const keys = sessionOfTheExamples();
  const opener = new PacketOpener(both, keys.cipher, keys.connection, keys.clientToServer);
  const sealer = new PacketSealer(both, keys.cipher, keys.connection, keys.clientToServer, 0);
  const input = opener.open(0, example('Sealed input'))!;
  sealer.sequence = input.sequence;
  assert.equal(toHex(sealer.seal(input.plain)), toHex(example('Sealed input')));
  const message = readFrames(input.plain).find((frame) => frame.type === FrameType.unreliable);
  assert.ok(message?.type === FrameType.unreliable);
  assert.equal(toHex(message.message), toHex(example('Input')));

  // Of sequence 2^32 + 7, as who heard of 2^32 + 6 takes it.
  opener.highest = 2 ** 32 + 6;
  const frames = opener.open(0, example('Sealed frames'))!;
  assert.equal(frames.sequence, 2 ** 32 + 7);
  sealer.rekey(0);
  sealer.sequence = frames.sequence;
  assert.equal(toHex(sealer.seal(frames.plain)), toHex(example('Sealed frames')));
  assert.deepEqual(readFrames(frames.plain).map((frame) => frame.type), [
    FrameType.ping, FrameType.ack, FrameType.credit, FrameType.streamReset, FrameType.pathChallenge,
    FrameType.pathResponse, FrameType.stream,
  ]);
});

test('sealed: a packet opens once, and a changed one never', () => {
  const keys = sessionOfTheExamples();
  const opener = new PacketOpener(both, keys.cipher, keys.connection, keys.serverToClient);
  const packet = example('Sealed welcome');
  for (let bit = 0; bit < 8 * packet.length; bit += 7) {
    const changed = packet.slice();
    changed[bit >> 3] ^= 1 << (bit & 7);
    assert.equal(opener.open(0, changed), undefined, `bit ${bit}`);
  }
  assert.ok(opener.open(0, packet));
  assert.equal(opener.open(0, packet), undefined);
});

test('sealed: AES-256-GCM seals and opens, and opens nothing that was changed', () => {
  const secret = new Seeded(1).bytes(32);
  const sealer = new PacketSealer(both, Cipher.aes256Gcm, 7, secret, 0);
  const opener = new PacketOpener(both, Cipher.aes256Gcm, 7, secret);
  const plain = new Seeded(2).bytes(1000);
  const packet = sealer.seal(plain);
  const changed = packet.map((byte, i) => (i === 500 ? byte ^ 1 : byte));
  assert.equal(opener.open(0, changed), undefined);
  assert.equal(toHex(opener.open(0, packet)!.plain), toHex(plain));
  assert.equal(new PacketOpener(sodium, Cipher.aes256Gcm, 7, secret).open(0, packet), undefined);
});

test('sealed: keys change at any packet, late ones of the key before open, those far behind do not', () => {
  const secret = new Seeded(3).bytes(32);
  const sealer = new PacketSealer(both, Cipher.chacha20Poly1305, 7, secret, 0);
  const opener = new PacketOpener(both, Cipher.chacha20Poly1305, 7, secret);
  const packets = Array.from({ length: 1300 }, (_, i) => {
    if (i % 100 === 99) sealer.rekey(0);
    return sealer.seal(Uint8Array.of(i & 255));
  });
  const open = (i: number): boolean => opener.open(0, packets[i]) !== undefined;
  assert.ok(open(0) && open(98) && open(100), 'the second key is followed');
  assert.ok(open(97), 'the key before opens what is late');
  for (let i = 101; i < 1300; i += 50) assert.ok(open(i), `packet ${i}`);
  assert.equal(open(20), false, 'further back than the window');
});

test('handshake: a server of another key than the pinned one is left after a second', () => {
  const handshake = playerOfTheExamples({ pinned: new Uint8Array(32) });
  handshake.receive(0, example('Retry'));
  handshake.receive(0, example('Accept'));
  assert.equal(handshake.poll(500)?.length, 1200, 'it might be forged: the hello is said again');
  assert.equal(handshake.poll(700), undefined);
  handshake.poll(1000);
  assert.equal(handshake.failure, 'wrong_server');
});

test('handshake: a refused version ends it after a second unless something genuine comes', () => {
  const refused = example('Refused version');
  const alone = playerOfTheExamples();
  alone.receive(0, refused);
  alone.poll(1000);
  assert.equal(alone.failure, 'wrong_version');
  assert.equal(alone.serverVersion, refused[0]);
  const doubted = playerOfTheExamples();
  doubted.receive(0, refused);
  doubted.receive(900, example('Retry'));
  doubted.receive(900, example('Accept'));
  assert.ok(doubted.poll(1000));
  assert.equal(doubted.failure, undefined);
});

test('handshake: hellos come at 0, 0.3, 0.9 s and so on, and stop after ten seconds', () => {
  const handshake = playerOfTheExamples();
  const said: number[] = [];
  for (let now = 0; now <= 11_000; now += 100) if (handshake.poll(now)) said.push(now);
  assert.deepEqual(said.slice(0, 4), [0, 300, 900, 1500]);
  assert.ok(said[said.length - 1] < 10_000);
  assert.equal(handshake.failure, 'no_answer');
});

test('handshake: what answers another nonce, is too long or was changed counts for nothing', () => {
  const handshake = playerOfTheExamples();
  handshake.receive(0, example('Retry'));
  const accept = example('Accept');
  for (let at = 0; at < accept.length; ++at) {
    const changed = accept.slice();
    changed[at] ^= 0x40;
    handshake.receive(0, changed);
    assert.equal(handshake.serverKey, undefined, `byte ${at}`);
  }
  handshake.receive(0, Uint8Array.from([...accept, 0]));
  assert.equal(handshake.serverKey, undefined);
  handshake.receive(0, accept);
  assert.ok(handshake.serverKey);
});

test('packets: pings, pongs and resets are the recorded bytes', () => {
  const asked = example('Ping').slice(16, 24);
  assert.equal(toHex(writePing(asked)), toHex(example('Ping')));
  assert.deepEqual(readPong(example('Pong'), asked), { tick: 600, clients: 3, clientsMax: 32 });
  assert.equal(readPong(example('Pong'), nonce()), undefined);
  const welcome = readServerMessage(example('Welcome'));
  assert.ok(welcome.type === 'welcome');
  assert.equal(connectionOf(example('Reset')), 0x11223344);
  assert.ok(equalBytes(resetToken(example('Reset'))!, welcome.welcome.resetToken));
});
