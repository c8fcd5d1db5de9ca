// Round trips, and which packets count as lost: the sender's own affair (WIRE.md, Frames), done as in RFC 9002.

import type { Frame } from './frames';
import type { Range } from './ranges';

const reorderPackets = 3;
const firstRttMs = 333;
const timerMs = 1;
const peerDelayMs = 25;

/** A packet that is on its way. */
export interface SentPacket {
  sequence: number;
  at: number;
  asksForAck: boolean;
  frames: Frame[];
  bytes: number;
}

/** What an acknowledgement showed. */
export interface Acknowledged {
  arrived: SentPacket[];
  lost: SentPacket[];
}

export class LossDetection {
  /** By sequence, ascending, as they were sent. */
  private readonly onTheWay = new Map<number, SentPacket>();
  private smoothedMs: number | undefined;
  private variationMs = firstRttMs / 2;
  private largest = 0;  // sequence that was acknowledged
  private lastAskedAt = 0;
  private probes = 0;
  /** Bytes on their way of packets that ask to be acknowledged. */
  bytesInFlight = 0;

  get rttMs(): number {
    return this.smoothedMs ?? firstRttMs;
  }
  get measured(): boolean {
    return this.smoothedMs !== undefined;
  }

  onSent(packet: SentPacket): void {
    if (!packet.asksForAck) return;
    this.onTheWay.set(packet.sequence, packet);
    this.bytesInFlight += packet.bytes;
    this.lastAskedAt = packet.at;
  }

  onAck(now: number, ranges: readonly Range[], delayMs: number): Acknowledged {
    const arrived: SentPacket[] = [];
    const newest = ranges[ranges.length - 1].end - 1;
    for (const packet of this.onTheWay.values()) {
      if (ranges.some((range) => packet.sequence >= range.begin && packet.sequence < range.end)) arrived.push(packet);
    }
    for (const packet of arrived) {
      this.forget(packet);
      if (packet.sequence === newest) this.takeRoundTrip(Math.max(0, now - packet.at - delayMs));
    }
    this.largest = Math.max(this.largest, newest);
    if (arrived.length > 0) this.probes = 0;
    return { arrived, lost: this.takeLost(now) };
  }

  private forget(packet: SentPacket): void {
    this.onTheWay.delete(packet.sequence);
    this.bytesInFlight -= packet.bytes;
  }

  private takeRoundTrip(rttMs: number): void {
    if (this.smoothedMs === undefined) {
      this.smoothedMs = rttMs;
      this.variationMs = rttMs / 2;
      return;
    }
    this.variationMs += (Math.abs(this.smoothedMs - rttMs) - this.variationMs) / 4;
    this.smoothedMs += (rttMs - this.smoothedMs) / 8;
  }

  /** Packets that later ones overtook by number or time; they are forgotten here. */
  takeLost(now: number): SentPacket[] {
    const lateMs = Math.max(timerMs, (this.rttMs * 9) / 8);
    const lost = [...this.onTheWay.values()].filter(
      (packet) => packet.sequence < this.largest &&
        (packet.sequence <= this.largest - reorderPackets || now - packet.at >= lateMs));
    for (const packet of lost) this.forget(packet);
    return lost;
  }

  /** From a packet that stays unanswered to a probe. */
  get probeMs(): number {
    return this.rttMs + Math.max(4 * this.variationMs, timerMs) + peerDelayMs;
  }

  /** The oldest packet when nothing was acknowledged for a probe timeout; its frames are to be said again. */
  takeProbe(now: number): SentPacket | undefined {
    const oldest: SentPacket | undefined = this.onTheWay.values().next().value;
    if (!oldest || now - this.lastAskedAt < this.probeMs * 2 ** Math.min(this.probes, 6)) return undefined;
    ++this.probes;
    this.forget(oldest);
    return oldest;
  }
}
