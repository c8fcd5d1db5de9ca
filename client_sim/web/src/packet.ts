// The outside of packets: what the first bytes say, and those that stand alone (ping, pong, reset).

import { ByteReader, ByteWriter, WireError, allZero, concat, readU32 } from './bytes';

export const protocolVersion = 19;
export const packetBytesMax = 1200;

export enum PacketType {
  hello = 1,
  retry = 2,
  accept = 3,
  finish = 4,
  sealed = 5,
  reset = 6,
  ping = 7,
  pong = 8,
  refuseVersion = 9,
}

export const prefixBytes = 24;
export const nonceBytes = 8;

/** undefined for what is empty or too short to say. */
export function packetType(packet: Uint8Array): PacketType | undefined {
  return packet.length < 2 ? undefined : packet[1] & 0x0f;
}

/** What all packets but sealed and reset begin with. */
export function writePrefix(type: PacketType, nonce: Uint8Array, offer = 0): Uint8Array {
  return concat(Uint8Array.of(protocolVersion, type, offer, 0), new Uint8Array(12), nonce);
}

/** True when the packet begins with a prefix that answers this nonce, in this version unless it refuses one. */
export function answersNonce(packet: Uint8Array, nonce: Uint8Array): boolean {
  if (packet.length < prefixBytes) return false;
  const type = packet[1];
  if (type !== PacketType.refuseVersion && packet[0] !== protocolVersion) return false;
  return allZero(packet.subarray(2, 16)) && nonce.every((byte, i) => packet[16 + i] === byte);
}

/** The connection's number of a sealed packet or reset; undefined for anything else or another version. */
export function connectionOf(packet: Uint8Array): number | undefined {
  const type = packetType(packet);
  if (packet.length < 6 || packet[0] !== protocolVersion) return undefined;
  if (type !== PacketType.sealed && type !== PacketType.reset) return undefined;
  return readU32(packet, 2);
}

/** The token of a reset; undefined when it is none. */
export function resetToken(packet: Uint8Array): Uint8Array | undefined {
  return packet.length === 22 && packet[1] === PacketType.reset ? packet.subarray(6) : undefined;
}

/** A ping of 72 bytes: a pong of half that says all there is. */
export function writePing(nonce: Uint8Array, bytes = 72): Uint8Array {
  const writer = new ByteWriter(bytes);
  writer.put(writePrefix(PacketType.ping, nonce));
  writer.zeros(bytes - prefixBytes);
  return writer.finish();
}

export interface Pong {
  tick: number;
  clients: number;
  clientsMax: number;
}

/** What a pong says; undefined when it answers another ping or says too little. */
export function readPong(packet: Uint8Array, nonce: Uint8Array): Pong | undefined {
  if (!answersNonce(packet, nonce) || packet[1] !== PacketType.pong) return undefined;
  const reader = new ByteReader(packet.subarray(prefixBytes));
  if (reader.left < 12) return undefined;
  return { tick: reader.u32(), clients: reader.u32(), clientsMax: reader.u32() };
}

/** Puts a packet's length in front, as a TCP connection carries it. */
export function frameForTcp(packet: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(packet.length & 0xff, packet.length >> 8), packet);
}

/** Cuts what came over a TCP connection into packets. */
export class TcpPackets {
  private rest = new Uint8Array(0);

  /** Packets that are whole now. Throws a WireError where the stream is broken. */
  take(arrived: Uint8Array): Uint8Array[] {
    this.rest = this.rest.length === 0 ? arrived.slice() : concat(this.rest, arrived);
    const packets: Uint8Array[] = [];
    let at = 0;
    while (this.rest.length - at >= 2) {
      const length = this.rest[at] | (this.rest[at + 1] << 8);
      if (length === 0 || length > packetBytesMax) throw new WireError(`a packet of ${length} bytes`);
      if (this.rest.length - at - 2 < length) break;
      packets.push(this.rest.slice(at + 2, at + 2 + length));
      at += 2 + length;
    }
    this.rest = this.rest.slice(at);
    return packets;
  }
}
