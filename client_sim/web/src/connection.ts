// A session's sealed connection (WIRE.md, sealed and Frames): streams, unreliable messages, acknowledgements,
// what was lost again, new keys, closes. Sans-I/O: fed with packets and the time, drained of packets.

import { ByteWriter, WireError } from './bytes';
import type { Crypto } from './crypto';
import {
  FrameType, Stream, ackRangesMax, asksForAck, closeTextMax, readFrames, streamFrameOverhead, streams, writeFrame,
  type Frame,
} from './frames';
import type { SessionKeys } from './handshake';
import { LossDetection, type SentPacket } from './loss';
import { PacketOpener, PacketSealer, plaintextBytesMax } from './protection';
import { RangeSet } from './ranges';
import { closeReasons, type ConnectionEnd } from './session_end';
import { FlowControlError, ReceiveStream, SendStream, streamLimits } from './streams';
import { printableBytes } from './text';

// Times in milliseconds.
const ackWithinMs = 20;
const ackAtOncePackets = 4;
const pingAfterMs = 2000;
const silenceMs = 10_000;
const closesMax = 4;
const closeAgainMs = 200;
// A client says little: so much may be on its way, a probe aside, and nothing needs to grow. A server that acknowledges
// little is not said more.
const bytesInFlightMax = 32 * 1200;
const challengesMax = 8;
const unreliableMax = 8;
const ackNotesMax = 1024;
/** Longest unreliable message. */
export const unreliableBytesMax = 1152;

/** What came: on which stream, or unreliably. */
export interface ReceivedMessage {
  stream: Stream | undefined;
  message: Uint8Array;
}

export class Connection {
  private readonly opener: PacketOpener;
  private readonly sealer: PacketSealer;
  private readonly loss = new LossDetection();
  private readonly sending = streams.map((stream) => new SendStream(streamLimits[stream]));
  private readonly receiving = streams.map((stream) => new ReceiveStream(streamLimits[stream]));
  private readonly arrived = new RangeSet();  // sequences that still have to be acknowledged, or said again
  private largestAt = 0;
  private unacknowledged = 0;
  private ackAt = Infinity;
  private readonly ackLargest = new Map<number, number>();  // largest that was acknowledged, by own sequence
  private responses: Uint8Array[] = [];
  private again: Frame[] = [];  // credits and pings of packets that were lost
  private unreliable: Uint8Array[] = [];
  private heardAt: number;
  private askedAt: number;
  private unansweredSince = Infinity;
  private keyAcknowledged = false;
  private closing: { frame: Frame; left: number; at: number } | undefined;

  /** Set once it is over; nothing more is handed over then. */
  end: ConnectionEnd | undefined;

  constructor(crypto: Crypto, readonly keys: SessionKeys, now: number, keyAgeMs?: number) {
    this.opener = new PacketOpener(crypto, keys.cipher, keys.connection, keys.serverToClient);
    this.sealer = new PacketSealer(crypto, keys.cipher, keys.connection, keys.clientToServer, now, keyAgeMs);
    this.heardAt = now;
    this.askedAt = now;
  }

  /** The smoothed round trip; undefined before the first. */
  get rttMs(): number | undefined {
    return this.loss.measured ? this.loss.rttMs : undefined;
  }
  get lastHeardAt(): number {
    return this.heardAt;
  }

  /** False when the stream's queue has no room for it. */
  send(stream: Stream, message: Uint8Array): boolean {
    return !this.end && this.sending[stream].push(message);
  }

  /** Bytes of the stream that the peer has not acknowledged. */
  unacknowledgedOf(stream: Stream): number {
    return this.sending[stream].kept;
  }

  /** Goes with the next packets, once, or never. Precondition: at most unreliableBytesMax. */
  sendUnreliable(message: Uint8Array): void {
    if (message.length > unreliableBytesMax) throw new RangeError('too long an unreliable message');
    if (this.unreliable.length === unreliableMax) this.unreliable.shift();
    this.unreliable.push(message);
  }

  /** Ends it; poll() says so to the peer a few times. */
  close(now: number, reason: number, text = ''): void {
    if (this.end) return;
    this.end = { reason, text, byPeer: false };
    const bytes = printableBytes(text, closeTextMax);
    this.closing = { frame: { type: FrameType.close, reason, text: bytes }, left: closesMax, at: now };
  }

  /** True when everything was said, or everything said that a close says. */
  get finished(): boolean {
    return this.end !== undefined && (this.closing?.left ?? 0) === 0;
  }

  /** @returns messages that are whole now; empty for packets that are not of this connection */
  receive(now: number, packet: Uint8Array): ReceivedMessage[] {
    const opened = this.opener.open(now, packet);
    if (!opened) {
      if (this.opener.spent) this.close(now, closeReasons.keys_spent);
      return [];
    }
    this.heardAt = now;
    if (this.end) {
      if (this.closing) this.closing.at = now;
      return [];
    }
    try {
      return this.takeFrames(now, opened.sequence, readFrames(opened.plain));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.close(now, closeReasons.malformed);
      return [];
    }
  }

  private takeFrames(now: number, sequence: number, frames: Frame[]): ReceivedMessage[] {
    const messages: ReceivedMessage[] = [];
    let unreliable: Uint8Array | undefined;
    const touched = new Set<Stream>();
    let taken = true;
    try {
      for (const frame of frames) {
        if (frame.type === FrameType.stream) {
          taken = this.receiving[frame.stream].receive(frame.offset, frame.bytes) && taken;
          touched.add(frame.stream);
        } else if (frame.type === FrameType.streamReset) {
          this.receiving[frame.stream].reset(frame.offset);
          touched.add(frame.stream);  // what begins there may have come before
        } else if (frame.type === FrameType.unreliable) {
          unreliable = frame.message;
        } else {
          this.takeControl(now, frame);
        }
        if (this.end) return [];
      }
    } catch (error) {
      if (!(error instanceof FlowControlError)) throw error;
      this.close(now, closeReasons.flow_control);
      return [];
    }
    if (taken) this.noteArrival(now, sequence, frames.some(asksForAck));
    try {
      for (const stream of streams) {
        if (!touched.has(stream)) continue;
        for (const message of this.receiving[stream].messages()) messages.push({ stream, message });
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.close(now, closeReasons.bad_stream);
    }
    // Behind those of streams, which may be what it is read by.
    if (unreliable) messages.push({ stream: undefined, message: unreliable });
    return messages;
  }

  private takeControl(now: number, frame: Frame): void {
    switch (frame.type) {
      case FrameType.ack:
        this.takeAck(now, frame.ranges, frame.delayUs / 1000);
        break;
      case FrameType.credit:
        this.sending[frame.stream].allow(frame.limit);
        break;
      case FrameType.pathChallenge:
        if (this.responses.length < challengesMax) this.responses.push(frame.data.slice());
        break;
      case FrameType.close:
        this.end = { reason: frame.reason, text: new TextDecoder().decode(frame.text), byPeer: true };
        break;
      default:
        break;
    }
  }

  private noteArrival(now: number, sequence: number, asks: boolean): void {
    if (this.arrived.empty || sequence >= this.arrived.ranges[this.arrived.ranges.length - 1].end) this.largestAt = now;
    this.arrived.add(sequence, sequence + 1);
    while (this.arrived.ranges.length > ackRangesMax) this.arrived.ranges.shift();
    if (!asks) return;
    ++this.unacknowledged;
    this.ackAt = this.unacknowledged >= ackAtOncePackets ? now : Math.min(this.ackAt, now + ackWithinMs);
  }

  private takeAck(now: number, ranges: { begin: number; end: number }[], delayMs: number): void {
    if (ranges[ranges.length - 1].end > this.sealer.sequence) {
      this.close(now, closeReasons.bad_ack);
      return;
    }
    const { arrived, lost } = this.loss.onAck(now, ranges, delayMs);
    if (arrived.length > 0) this.unansweredSince = Infinity;
    for (const packet of arrived) this.onArrived(packet);
    for (const packet of lost) this.onLost(packet);
  }

  private onArrived(packet: SentPacket): void {
    if (packet.sequence >= this.sealer.keyBegin) this.keyAcknowledged = true;
    const largest = this.ackLargest.get(packet.sequence);
    if (largest !== undefined) {
      this.arrived.remove(0, largest + 1);
      for (const sequence of this.ackLargest.keys()) {
        if (sequence <= packet.sequence) this.ackLargest.delete(sequence);
      }
    }
    for (const frame of packet.frames) {
      if (frame.type !== FrameType.stream) continue;
      this.sending[frame.stream].onAcknowledged({ begin: frame.offset, end: frame.offset + frame.bytes.length });
    }
  }

  private onLost(packet: SentPacket): void {
    for (const frame of packet.frames) {
      if (frame.type === FrameType.stream) {
        this.sending[frame.stream].onLost({ begin: frame.offset, end: frame.offset + frame.bytes.length });
      } else if (frame.type === FrameType.credit) {
        this.again.push({ ...frame, limit: this.receiving[frame.stream].credit });
      }
    }
  }

  /** Lets time pass. @returns packets to send, each at most 1200 bytes */
  poll(now: number): Uint8Array[] {
    if (!this.end) this.checkTimers(now);
    if (this.closing) return this.sayClose(now);
    if (this.end) return [];
    for (const packet of this.loss.takeLost(now)) this.onLost(packet);
    const probe = this.loss.takeProbe(now);
    if (probe) {
      this.onLost(probe);
      this.again.push({ type: FrameType.ping });
    }
    const packets: Uint8Array[] = [];
    while (this.somethingToSay(now)) {
      const packet = this.makePacket(now);
      if (!packet) break;
      packets.push(packet);
    }
    return packets;
  }

  private checkTimers(now: number): void {
    if (now - this.heardAt >= silenceMs || now - this.unansweredSince >= silenceMs) {
      this.end = { reason: closeReasons.timeout, text: '', byPeer: false };
    } else if (this.sealer.spent) {
      this.close(now, closeReasons.keys_spent);
    } else if (now - this.askedAt >= pingAfterMs) {
      this.again.push({ type: FrameType.ping });
      this.askedAt = now;
    }
    if (this.keyAcknowledged && this.sealer.rekeyDue(now)) {
      this.sealer.rekey(now);
      this.keyAcknowledged = false;
    }
  }

  private sayClose(now: number): Uint8Array[] {
    const closing = this.closing!;
    if (closing.left === 0 || now < closing.at) return [];
    --closing.left;
    closing.at = now + Math.min(this.loss.probeMs, closeAgainMs);
    const writer = new ByteWriter();
    writeFrame(writer, closing.frame);
    return [this.sealer.seal(writer.finish())];
  }

  private somethingToSay(now: number): boolean {
    if (now >= this.ackAt || this.responses.length > 0 || this.again.length > 0) return true;
    return !this.isFull && (this.unreliable.length > 0 || this.dueStream() !== undefined);
  }

  /** So much is on its way that nothing but a probe goes out: of what may be lost the newest waits, and gets old. */
  private get isFull(): boolean {
    return this.loss.bytesInFlight >= bytesInFlightMax;
  }

  private dueStream(): Stream | undefined {
    if (this.isFull) return undefined;
    return streams.find((stream) => this.sending[stream].due !== undefined);
  }

  /** The next packet's frames, most urgent first. */
  private makePacket(now: number): Uint8Array | undefined {
    const writer = new ByteWriter();
    const frames: Frame[] = [];
    const put = (frame: Frame): void => {
      writeFrame(writer, frame);
      frames.push(frame);
    };
    if (this.unacknowledged > 0 && !this.arrived.empty) put(this.makeAck(now));
    const largest = frames.length > 0 ? this.arrived.ranges[this.arrived.ranges.length - 1].end - 1 : undefined;
    for (const data of this.responses.splice(0)) put({ type: FrameType.pathResponse, data });
    for (const frame of this.again.splice(0, streams.length + 1)) put(frame);
    for (const stream of streams) {
      const limit = this.receiving[stream].newCredit();
      if (limit !== undefined) put({ type: FrameType.credit, stream, limit });
    }
    this.fillWithStreams(writer, put);
    // An unreliable message ends its packet; one that does not fit has the next one.
    const message = this.isFull ? undefined : this.unreliable[0];
    if (message && writer.length + 8 + message.length <= plaintextBytesMax) {
      this.unreliable.shift();
      put({ type: FrameType.unreliable, message });
    }
    return frames.length === 0 ? undefined : this.finishPacket(now, writer.finish(), frames, largest);
  }

  private fillWithStreams(writer: ByteWriter, put: (frame: Frame) => void): void {
    for (let stream = this.dueStream(); stream !== undefined; stream = this.dueStream()) {
      const sender = this.sending[stream];
      const room = plaintextBytesMax - writer.length;
      const bytes = room - streamFrameOverhead(sender.due!, room);
      const part = bytes > 0 ? sender.take(bytes) : undefined;
      if (!part) return;
      put({ type: FrameType.stream, stream, ...part });
    }
  }

  private makeAck(now: number): Frame {
    const delayUs = Math.round((now - this.largestAt) * 1000);
    this.unacknowledged = 0;
    this.ackAt = Infinity;
    return { type: FrameType.ack, ranges: this.arrived.ranges.map((range) => ({ ...range })), delayUs };
  }

  /** Of packets that are never acknowledged the oldest are forgotten: what they told is told again. */
  private noteAck(sequence: number, largest: number): void {
    this.ackLargest.set(sequence, largest);
    for (const oldest of this.ackLargest.keys()) {
      if (this.ackLargest.size <= ackNotesMax) return;
      this.ackLargest.delete(oldest);
    }
  }

  private finishPacket(now: number, plain: Uint8Array, frames: Frame[], largest: number | undefined): Uint8Array {
    const sequence = this.sealer.sequence;
    const packet = this.sealer.seal(plain);
    const asks = frames.some(asksForAck);
    if (largest !== undefined && asks) this.noteAck(sequence, largest);
    if (asks) {
      this.askedAt = now;
      if (this.unansweredSince === Infinity) this.unansweredSince = now;
    }
    this.loss.onSent({ sequence, at: now, asksForAck: asks, frames, bytes: packet.length });
    return packet;
  }
}
