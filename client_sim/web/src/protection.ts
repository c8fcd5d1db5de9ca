// Sealing and opening packets (WIRE.md, sealed): keys, masks, the replay window, changes of keys.

import { concat, readU32, writeU32 } from './bytes';
import { countNonce, expand, tagBytes, type Cipher, type Crypto } from './crypto';
import { PacketType, connectionOf, packetBytesMax, protocolVersion } from './packet';

export const sealedHeaderBytes = 10;
/** What a sealed packet can hold. */
export const plaintextBytesMax = packetBytesMax - sealedHeaderBytes - tagBytes;

const phaseBit = 0x10;
const windowPackets = 1024;
const previousKeyLifeMs = 10_000;
const rekeyPackets = 2 ** 22;
const rekeyMs = 2 * 3600 * 1000;
const spentPackets = 2 ** 23;
const spentForgeries = 2 ** 36;

/** What one secret of a direction gives. */
class PacketKey {
  readonly key: Uint8Array;
  readonly iv: Uint8Array;

  constructor(private readonly crypto: Crypto, private readonly secret: Uint8Array) {
    this.key = expand(crypto, secret, 'key');
    this.iv = expand(crypto, secret, 'iv', undefined, 12);
  }

  next(): PacketKey {
    return new PacketKey(this.crypto, expand(this.crypto, this.secret, 'next'));
  }

  nonce(sequence: number): Uint8Array {
    return countNonce(sequence).map((byte, i) => byte ^ this.iv[i]);
  }
}

/** Version, type with the key phase, connection and the low half of the sequence, unmasked. */
function headerOf(connection: number, phase: number, sequence: number): Uint8Array {
  const header = new Uint8Array(sealedHeaderBytes);
  header[0] = protocolVersion;
  header[1] = PacketType.sealed | (phase ? phaseBit : 0);
  writeU32(header, 2, connection);
  writeU32(header, 6, sequence % 2 ** 32);
  return header;
}

/** Seals the packets of one direction of one session. No sequence is used twice. */
export class PacketSealer {
  private readonly headerKey: Uint8Array;
  private key: PacketKey;
  private phase = 0;
  private sealedByKey = 0;
  private keySince: number;
  /** Of the next packet. */
  sequence = 1;
  /** The first one that the present key sealed. */
  keyBegin = 1;

  constructor(
    private readonly crypto: Crypto, private readonly cipher: Cipher, private readonly connection: number,
    secret: Uint8Array, now: number, private readonly keyAgeMs = rekeyMs,
  ) {
    this.headerKey = expand(crypto, secret, 'header', undefined, 16);
    this.key = new PacketKey(crypto, secret);
    this.keySince = now;
  }

  /** The keys protect no more packets: the session has to end. */
  get spent(): boolean {
    return this.sealedByKey >= spentPackets;
  }

  /** Should the next packet be sealed by the next key? Only when one of the present key was acknowledged. */
  rekeyDue(now: number): boolean {
    return this.sealedByKey >= rekeyPackets || (this.sealedByKey > 0 && now - this.keySince >= this.keyAgeMs);
  }

  rekey(now: number): void {
    this.key = this.key.next();
    this.phase ^= 1;
    this.sealedByKey = 0;
    this.keySince = now;
    this.keyBegin = this.sequence;
  }

  seal(plain: Uint8Array): Uint8Array {
    const sequence = this.sequence++;
    ++this.sealedByKey;
    const header = headerOf(this.connection, this.phase, sequence);
    const body = this.crypto.seal(this.cipher, this.key.key, this.key.nonce(sequence), header, plain);
    const mask = this.crypto.sipHash(this.headerKey, body.subarray(body.length - tagBytes));
    for (let i = 0; i < 4; ++i) header[6 + i] ^= mask[i];
    if (mask[4] & 1) header[1] ^= phaseBit;
    return concat(header, body);
  }
}

export interface OpenedPacket {
  sequence: number;
  plain: Uint8Array;
}

/** Opens the packets of one direction of one session, each once. What does not open changes nothing. */
export class PacketOpener {
  private readonly headerKey: Uint8Array;
  private current: PacketKey;
  private following: PacketKey;
  private previous: { key: PacketKey; until: number } | undefined;
  private phase = 0;
  private firstOfKey = 0;  // sequence of the first packet that the present key opened; 0: none yet
  private forgeries = 0;
  private readonly window = new Uint8Array(windowPackets);  // 1: opened, at sequence modulo its size
  /** The highest sequence that opened. */
  highest = 0;

  constructor(
    private readonly crypto: Crypto, private readonly cipher: Cipher, private readonly connection: number,
    secret: Uint8Array,
  ) {
    this.headerKey = expand(crypto, secret, 'header', undefined, 16);
    this.current = new PacketKey(crypto, secret);
    this.following = this.current.next();
  }

  get spent(): boolean {
    return this.forgeries >= spentForgeries;
  }

  /** undefined: not of this session, forged, opened before, or too old. */
  open(now: number, packet: Uint8Array): OpenedPacket | undefined {
    if (packet.length < sealedHeaderBytes + tagBytes || packet.length > packetBytesMax) return undefined;
    if (connectionOf(packet) !== this.connection || (packet[1] & 0xe0) !== 0) return undefined;
    const mask = this.crypto.sipHash(this.headerKey, packet.subarray(packet.length - tagBytes));
    const low = (readU32(packet, 6) ^ readU32(mask, 0)) >>> 0;
    const phase = ((packet[1] & phaseBit) !== 0 ? 1 : 0) ^ (mask[4] & 1);
    const sequence = this.nearest(low);
    if (sequence < 1 || this.seen(sequence)) return undefined;

    const key = this.keyFor(now, phase, sequence);
    if (!key) return undefined;
    const header = headerOf(this.connection, phase, sequence);
    const sealed = packet.subarray(sealedHeaderBytes);
    const plain = this.crypto.open(this.cipher, key.key, key.nonce(sequence), header, sealed);
    if (!plain) {
      ++this.forgeries;
      return undefined;
    }
    if (key === this.following) this.follow(now, phase, sequence);
    else if (key === this.current && this.firstOfKey === 0) this.firstOfKey = sequence;
    this.mark(sequence);
    return { sequence, plain };
  }

  /** The sequence with these low 32 bits that is nearest to one above the highest. */
  private nearest(low: number): number {
    const expected = this.highest + 1;
    const candidate = expected - (expected % 2 ** 32) + low;
    if (candidate > expected + 2 ** 31) return candidate - 2 ** 32;
    if (candidate < expected - 2 ** 31) return candidate + 2 ** 32;
    return candidate;
  }

  private seen(sequence: number): boolean {
    if (sequence > this.highest) return false;
    if (sequence <= this.highest - windowPackets) return true;
    return this.window[sequence % windowPackets] === 1;
  }

  private mark(sequence: number): void {
    if (sequence > this.highest) {
      const passed = Math.min(sequence - this.highest, windowPackets);
      for (let i = 0; i < passed; ++i) this.window[(sequence - i) % windowPackets] = 0;
      this.highest = sequence;
    }
    this.window[sequence % windowPackets] = 1;
  }

  /** One try a packet: present key, next or previous one, by phase and sequence. */
  private keyFor(now: number, phase: number, sequence: number): PacketKey | undefined {
    if (phase === this.phase) return this.current;
    if (sequence > this.firstOfKey) return this.following;
    return this.previous && now < this.previous.until ? this.previous.key : undefined;
  }

  private follow(now: number, phase: number, sequence: number): void {
    this.previous = { key: this.current, until: now + previousKeyLifeMs };
    this.current = this.following;
    this.following = this.current.next();
    this.phase = phase;
    this.firstOfKey = sequence;
    this.forgeries = 0;
  }
}
