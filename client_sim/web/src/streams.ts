// Reliable messages in order: both ends of a stream (WIRE.md, Frames).

import { WireError, concat, readU32, writeU32 } from './bytes';
import { Stream } from './frames';
import { RangeSet, type Range } from './ranges';

const lengthBytes = 4;
/** What may be sent of a stream before the first credit. */
const creditAtFirst = 4096;
// More holes than this are not kept: what comes then is not taken, and comes again.
const gapsMax = 256;

export interface StreamLimits {
  /** Bytes of the longest message. */
  longest: number;
  /** Bytes that may wait to be sent. */
  queue: number;
  /** Bytes that a client takes ahead. */
  window: number;
}
const kib = 1024;
export const streamLimits: Readonly<Record<Stream, StreamLimits>> = {
  [Stream.control]: { longest: 64 * kib, queue: 128 * kib, window: 128 * kib },
  [Stream.events]: { longest: 16 * kib, queue: 64 * kib, window: 64 * kib },
  [Stream.chat]: { longest: kib, queue: 16 * kib, window: 16 * kib },
  [Stream.edits]: { longest: 64 * kib, queue: 256 * kib, window: 128 * kib },
  [Stream.bulk]: { longest: kib * kib, queue: 2 * kib * kib, window: 1280 * kib },
};

/** Who sends beyond what it was allowed. */
export class FlowControlError extends Error {}

/** Bytes that are to be sent until they are acknowledged. */
export class SendStream {
  private base = 0;  // offset of the first byte that is kept
  private bytes = new Uint8Array(0);
  private next = 0;  // offset of the first byte that was never sent
  private limit = creditAtFirst;
  private readonly acknowledged = new RangeSet();
  private readonly lost = new RangeSet();

  constructor(private readonly limits: StreamLimits) {}

  /** False when the queue has no room for the message or it is too long for the stream. */
  push(message: Uint8Array): boolean {
    if (message.length === 0 || message.length > this.limits.longest) return false;
    if (this.bytes.length + lengthBytes + message.length > this.limits.queue) return false;
    const length = new Uint8Array(lengthBytes);
    writeU32(length, 0, message.length);
    this.bytes = concat(this.bytes, length, message);
    return true;
  }

  allow(limit: number): void {
    this.limit = Math.max(this.limit, limit);
  }

  /** Bytes that are not acknowledged yet. */
  get kept(): number {
    return this.bytes.length;
  }

  /** The next bytes to send, at most `room` of them: what was lost before what is new. */
  take(room: number): { offset: number; bytes: Uint8Array } | undefined {
    const again = this.lost.ranges[0];
    const begin = again ? again.begin : this.next;
    const end = Math.min(begin + room, again ? again.end : Math.min(this.base + this.bytes.length, this.limit));
    if (begin >= end) return undefined;
    if (again) this.lost.remove(begin, end);
    else this.next = end;
    return { offset: begin, bytes: this.bytes.slice(begin - this.base, end - this.base) };
  }

  /** Offset of what take() would give; undefined: nothing may be sent. */
  get due(): number | undefined {
    const again = this.lost.ranges[0];
    if (again) return again.begin;
    return this.next < Math.min(this.base + this.bytes.length, this.limit) ? this.next : undefined;
  }

  onAcknowledged(range: Range): void {
    this.acknowledged.add(range.begin, range.end);
    this.lost.remove(range.begin, range.end);
    const first = this.acknowledged.ranges[0];
    if (first.begin <= this.base && first.end > this.base) {
      this.bytes = this.bytes.slice(first.end - this.base);
      this.base = first.end;
    }
  }

  onLost(range: Range): void {
    const begin = Math.max(range.begin, this.base);
    for (const part of this.acknowledged.missing(begin, Math.max(begin, range.end))) {
      this.lost.add(part.begin, part.end);
    }
  }
}

/** Bytes that came, in any order, until they are whole messages. Memory: at most the window. */
export class ReceiveStream {
  private base = 0;  // offset of the first byte that was not handed over
  private buffer = new Uint8Array(0);  // from base on
  private readonly here = new RangeSet();
  private limit = creditAtFirst;

  constructor(private readonly limits: StreamLimits) {}

  /**
   * Takes bytes; what came first for an offset stays. @returns false: not taken, as there are too many gaps.
   * Throws a FlowControlError beyond the credit.
   */
  receive(offset: number, bytes: Uint8Array): boolean {
    const end = offset + bytes.length;
    if (end > this.limit) throw new FlowControlError();
    const parts = this.here.missing(Math.max(offset, this.base), Math.max(end, this.base));
    if (parts.length === 0) return true;
    if (this.here.ranges.length >= gapsMax && !this.here.contains(offset - 1) && offset > this.base) return false;
    this.reserve(end - this.base);
    for (const part of parts) {
      this.buffer.set(bytes.subarray(part.begin - offset, part.end - offset), part.begin - this.base);
      this.here.add(part.begin, part.end);
    }
    return true;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.length) return;
    const larger = new Uint8Array(Math.min(this.limits.window, Math.max(bytes, 2 * this.buffer.length, 1024)));
    larger.set(this.buffer);
    this.buffer = larger;
  }

  /** Messages that are whole now, in order. Throws a WireError when one is too long. */
  messages(): Uint8Array[] {
    const first = this.here.ranges[0];
    if (!first || first.begin > this.base) return [];
    const whole: Uint8Array[] = [];
    const ready = first.end - this.base;
    let at = 0;
    while (ready - at >= lengthBytes) {
      const length = readU32(this.buffer, at);
      if (length === 0 || length > this.limits.longest || length + lengthBytes > this.limits.window) {
        throw new WireError(`a message of ${length} bytes on its stream`);
      }
      if (ready - at < lengthBytes + length) break;
      whole.push(this.buffer.slice(at + lengthBytes, at + lengthBytes + length));
      at += lengthBytes + length;
    }
    this.forget(this.base + at);
    return whole;
  }

  /** What lies below the offset counts no more; a message begins there. Older resets change nothing. */
  reset(offset: number): void {
    if (offset > this.limit) throw new FlowControlError();
    if (offset > this.base) this.forget(offset);
  }

  private forget(offset: number): void {
    if (offset === this.base) return;
    this.buffer.copyWithin(0, Math.min(offset - this.base, this.buffer.length));
    this.here.remove(0, offset);
    this.base = offset;
  }

  /** A new limit to tell the sender, when it is worth a frame. */
  newCredit(): number | undefined {
    const wish = this.base + this.limits.window;
    if (wish - this.limit < this.limits.window / 4) return undefined;
    this.limit = wish;
    return wish;
  }

  /** The limit as it was told last: said again when its packet was lost. */
  get credit(): number {
    return this.limit;
  }
}
