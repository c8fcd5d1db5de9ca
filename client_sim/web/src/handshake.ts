// The client's side of the handshake (WIRE.md, The handshake), Noise XX. Sans-I/O: fed with packets and the time.

import { ByteWriter, concat, equalBytes, readU32, writeU32 } from './bytes';
import { Cipher, countNonce, expand, keyBytes, makeKeyPair, tagBytes, type Crypto, type KeyPair } from './crypto';
import { PacketOpener } from './protection';
import {
  PacketType, answersNonce, connectionOf, nonceBytes, packetBytesMax, packetType, prefixBytes, writePrefix,
} from './packet';

const noiseName = 'Noise_XX_25519_ChaChaPoly_SHA256';
const cookieBytes = 20;
const cookieAt = 56;
const prologueBytes = 76;
const ticketBytes = 150;
const acceptBytes = 287;
const finishPayloadMax = 962;

// How often it repeats what it said, in milliseconds.
const firstRepeatMs = 300;
const repeatMs = 600;
const ticketLifeMs = 5000;
const giveUpMs = 10000;
const cookiesMax = 8;
// What might be forged by who reads along is believed only when nothing genuine comes for so long.
const forgedUntilMs = 1000;

/** Hash, chaining key, key and count of a Noise handshake, with the four operations of WIRE.md. */
class Transcript {
  hash: Uint8Array = new TextEncoder().encode(noiseName);
  chainingKey: Uint8Array = this.hash;
  private key: Uint8Array = new Uint8Array(keyBytes);
  private count = 0;

  constructor(private readonly crypto: Crypto) {}

  copy(): Transcript {
    return Object.assign(new Transcript(this.crypto), this);
  }

  mixHash(bytes: Uint8Array): void {
    this.hash = this.crypto.sha256(concat(this.hash, bytes));
  }

  mixKey(shared: Uint8Array): void {
    const t = this.crypto.hmac(this.chainingKey, shared);
    this.chainingKey = this.crypto.hmac(t, Uint8Array.of(1));
    this.key = this.crypto.hmac(t, concat(this.chainingKey, Uint8Array.of(2)));
    this.count = 0;
  }

  encrypt(plain: Uint8Array): Uint8Array {
    const sealed = this.crypto.seal(Cipher.chacha20Poly1305, this.key, countNonce(this.count++), this.hash, plain);
    this.mixHash(sealed);
    return sealed;
  }

  decrypt(sealed: Uint8Array): Uint8Array | undefined {
    const plain = this.crypto.open(Cipher.chacha20Poly1305, this.key, countNonce(this.count++), this.hash, sealed);
    this.mixHash(sealed);
    return plain;
  }
}

/** What a handshake comes to. */
export interface SessionKeys {
  readonly connection: number;
  readonly cipher: Cipher;
  readonly clientToServer: Uint8Array;
  readonly serverToClient: Uint8Array;
  /** Proves later that a session was ours (resumeProof). */
  readonly resumption: Uint8Array;
}

/** Of a session whose resumption secret this is, for the handshake with this binding. */
export function resumeProof(crypto: Crypto, resumption: Uint8Array, binding: Uint8Array): Uint8Array {
  return crypto.hmac(resumption, concat(new TextEncoder().encode('ashlar resume'), binding));
}

export interface HandshakeSetup {
  identity: KeyPair;
  /** The only server key that will do; none: any. */
  pinned?: Uint8Array;
  /** The Hello message that the finish carries; called once an accept has proven the server's key. */
  payload: (binding: Uint8Array, server: Uint8Array) => Uint8Array;
}

export type HandshakeFailure = 'no_answer' | 'wrong_version' | 'wrong_server';

/** What an accept came to. */
interface Accepted {
  cipher: Cipher;
  transcript: Transcript;
  finish: Uint8Array;
  at: number;
}

/** One handshake; where a ticket ran out it begins again by itself. All times in milliseconds. */
export class ClientHandshake {
  private nonce!: Uint8Array;
  private ephemeral!: KeyPair;
  private cookie = new Uint8Array(cookieBytes);
  private accepted: Accepted | undefined;
  private cookiesTaken = 0;
  private said = 0;  // times that the present packet was said
  private repeatAt = 0;
  private doubt: { failure: HandshakeFailure; at: number } | undefined;
  private readonly giveUpAt: number;

  /** The server's key, once an accept has proven it. */
  serverKey: Uint8Array | undefined;
  /** With wrong_version: the server's. */
  serverVersion = 0;
  failure: HandshakeFailure | undefined;

  constructor(private readonly crypto: Crypto, private readonly setup: HandshakeSetup, now: number) {
    this.giveUpAt = now + giveUpMs;
    this.begin(now);
  }

  private begin(now: number): void {
    this.ephemeral = makeKeyPair(this.crypto, this.crypto.random(keyBytes));
    this.nonce = this.crypto.random(nonceBytes);
    this.cookie = new Uint8Array(cookieBytes);
    this.cookiesTaken = 0;
    this.accepted = undefined;
    this.sayNow(now);
  }

  private sayNow(now: number): void {
    this.said = 0;
    this.repeatAt = now;
  }

  private hello(): Uint8Array {
    let offer = 0;
    for (const cipher of this.crypto.ciphers) offer |= 1 << (cipher - 1);
    const writer = new ByteWriter(packetBytesMax);
    writer.put(writePrefix(PacketType.hello, this.nonce, offer));
    writer.put(this.ephemeral.publicKey);
    writer.put(this.cookie);
    writer.zeros(packetBytesMax - prologueBytes);
    return writer.finish();
  }

  /** @returns keys when the packet is the session's first: it is to be read with them */
  receive(now: number, packet: Uint8Array): SessionKeys | undefined {
    if (this.failure) return undefined;
    if (packetType(packet) === PacketType.sealed) return this.openFirst(now, packet);
    if (!answersNonce(packet, this.nonce) || this.accepted) return undefined;
    if (packet[1] === PacketType.retry && packet.length === prefixBytes + cookieBytes) {
      this.cookie = packet.slice(prefixBytes);
      // A retry is small and a hello is not: who sends many, forged or not, is not answered each time.
      if (this.cookiesTaken++ < cookiesMax) this.sayNow(now);
    } else if (packet[1] === PacketType.accept && packet.length === acceptBytes) {
      this.takeAccept(now, packet);
    } else if (packet[1] === PacketType.refuseVersion && packet.length === prefixBytes) {
      this.serverVersion = packet[0];
      this.doubt ??= { failure: 'wrong_version', at: now };
    }
    return undefined;
  }

  private takeAccept(now: number, packet: Uint8Array): void {
    const transcript = new Transcript(this.crypto);
    const hello = this.hello();
    transcript.mixHash(hello.subarray(0, prologueBytes));
    transcript.mixHash(hello.subarray(prefixBytes, cookieAt));
    transcript.mixHash(new Uint8Array(0));
    const serverEphemeral = packet.subarray(24, 56);
    transcript.mixHash(serverEphemeral);
    const first = this.crypto.x25519(this.ephemeral.secret, serverEphemeral);
    if (!first) return;
    transcript.mixKey(first);
    const serverKey = transcript.decrypt(packet.subarray(56, 104));
    const second = serverKey && this.crypto.x25519(this.ephemeral.secret, serverKey);
    if (!serverKey || !second) return;
    transcript.mixKey(second);
    const cipher = transcript.decrypt(packet.subarray(104, 121))?.[0];
    const ticket = transcript.decrypt(packet.subarray(121));
    if (cipher === undefined || ticket?.length !== ticketBytes) return;
    if (!this.crypto.ciphers.includes(cipher)) return;
    if (this.setup.pinned && !equalBytes(this.setup.pinned, serverKey)) {
      this.serverKey = serverKey;
      this.doubt ??= { failure: 'wrong_server', at: now };
      return;
    }
    this.doubt = undefined;
    this.serverKey = serverKey;
    this.makeFinish(now, transcript, cipher, ticket, serverEphemeral);
  }

  private makeFinish(
    now: number, transcript: Transcript, cipher: Cipher, ticket: Uint8Array, serverEphemeral: Uint8Array,
  ): void {
    const prefix = writePrefix(PacketType.finish, this.nonce);
    transcript.mixHash(prefix);
    const payload = this.setup.payload(transcript.hash, this.serverKey!);
    if (payload.length > finishPayloadMax) throw new RangeError(`a hello message of ${payload.length} bytes`);
    const identity = transcript.encrypt(this.setup.identity.publicKey);
    const shared = this.crypto.x25519(this.setup.identity.secret, serverEphemeral);
    if (!shared) return;
    transcript.mixKey(shared);
    const finish = concat(prefix, ticket, identity, transcript.encrypt(payload));
    this.accepted = { cipher, transcript, finish, at: now };
    this.sayNow(now);
  }

  /** Tries the keys of the number that the packet names. */
  private openFirst(now: number, packet: Uint8Array): SessionKeys | undefined {
    const connection = connectionOf(packet);
    if (!this.accepted || connection === undefined || packet.length < 10 + tagBytes) return undefined;
    const keys = this.keysOf(this.accepted, connection);
    const opener = new PacketOpener(this.crypto, keys.cipher, connection, keys.serverToClient);
    return opener.open(now, packet) ? keys : undefined;
  }

  private keysOf(accepted: Accepted, connection: number): SessionKeys {
    const session = this.crypto.hmac(accepted.transcript.hash, accepted.transcript.chainingKey);
    const number = new Uint8Array(4);
    writeU32(number, 0, connection);
    return {
      connection: readU32(number, 0),
      cipher: accepted.cipher,
      clientToServer: expand(this.crypto, session, 'client to server', number),
      serverToClient: expand(this.crypto, session, 'server to client', number),
      resumption: expand(this.crypto, session, 'resumption', number),
    };
  }

  /** What is to be said now: at most one packet. Sets failure when it is over. */
  poll(now: number): Uint8Array | undefined {
    if (this.failure) return undefined;
    if (this.doubt && now >= this.doubt.at + forgedUntilMs) this.failure = this.doubt.failure;
    else if (now >= this.giveUpAt) this.failure = 'no_answer';
    if (this.failure) return undefined;
    if (this.accepted && now >= this.accepted.at + ticketLifeMs) this.begin(now);
    if (now < this.repeatAt) return undefined;
    this.repeatAt = now + (this.said === 0 ? firstRepeatMs : repeatMs);
    ++this.said;
    return this.accepted?.finish ?? this.hello();
  }
}
