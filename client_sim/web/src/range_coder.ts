// Decisions whose odds are known and learn (WIRE.md, Packed snapshots). Writer and reader have the same calls, so that
// one piece of code says what is written and how it is read: each names a value, which the reader does not look at.

import { WireError } from './bytes';

/** Odds that a decision is 1, in 1/65536, by their number; and by how much each one learns. */
export interface Odds {
  readonly one: Uint16Array;
  /** Each decision moves it 2^-shift of the way. */
  readonly shift: Uint8Array;
}

export interface Coder {
  readonly writing: boolean;
  bit(odds: Odds, at: number, value: boolean): boolean;
  /** The low `count` bits, 0 to 32. */
  raw(count: number, value: number): number;
}

function learn(odds: Odds, at: number, was: boolean): void {
  const [one, shift] = [odds.one[at], odds.shift[at]];
  odds.one[at] = was ? one + ((65536 - one) >> shift) : one - (one >> shift);
}

/** The number with the fewest bytes in low to low + range - 1, of which 32 bits count. */
function shortestIn(low: number, range: number): number {
  for (const step of [2 ** 32, 2 ** 24, 2 ** 16, 2 ** 8]) {
    const value = Math.ceil(low / step) * step;
    if (value <= low + range - 1) return value;
  }
  return low;
}

export class RangeReader implements Coder {
  readonly writing = false;
  private next = 0;
  private window = 0;
  private code = 0;
  private range = 0xffffffff;

  constructor(private readonly bytes: Uint8Array) {
    for (let i = 0; i < 4; ++i) this.fetch();
    if (this.code >= this.range) throw new WireError('no writer writes this');
  }

  bit(odds: Odds, at: number): boolean {
    const bound = (this.range >>> 16) * odds.one[at];
    const value = this.code < bound;
    if (value) {
      this.range = bound;
    } else {
      this.code -= bound;
      this.range -= bound;
    }
    learn(odds, at, value);
    this.normalise();
    return value;
  }

  raw(count: number): number {
    if (count > 16) {
      const high = this.raw(count - 16);
      return high * 65536 + this.raw(16);
    }
    this.range >>>= count;
    const value = Math.floor(this.code / this.range);
    if (value >= 2 ** count) throw new WireError('no writer writes this');
    this.code -= value * this.range;
    this.normalise();
    return value;
  }

  /** Throws a WireError unless all was read, and the bytes are those that a writer of the same decisions writes. */
  end(): void {
    const low = (this.window - this.code) >>> 0;
    const as = (shortestIn(low, this.range) - low) >>> 0;
    const whole = this.bytes.length <= this.next && (this.bytes.length === 0 || this.bytes[this.bytes.length - 1] !== 0);
    if (!whole || as !== this.code) throw new WireError('bits are left');
  }

  private fetch(): void {
    const byte = this.next < this.bytes.length ? this.bytes[this.next] : 0;
    ++this.next;
    this.window = ((this.window << 8) | byte) >>> 0;
    this.code = ((this.code << 8) | byte) >>> 0;
  }
  private normalise(): void {
    while (this.range < 2 ** 24) {
      this.fetch();
      this.range = (this.range << 8) >>> 0;
    }
  }
}

export class RangeWriter implements Coder {
  readonly writing = true;
  private readonly bytes: number[] = [];
  private low = 0;  // of 2^32 on: a carry
  private range = 0xffffffff;

  bit(odds: Odds, at: number, value: boolean): boolean {
    const bound = (this.range >>> 16) * odds.one[at];
    if (value) {
      this.range = bound;
    } else {
      this.low += bound;
      this.range -= bound;
    }
    learn(odds, at, value);
    this.normalise();
    return value;
  }

  raw(count: number, value: number): number {
    if (count > 16) {
      this.raw(count - 16, Math.floor(value / 65536));
      this.raw(16, value % 65536);
      return value;
    }
    this.range >>>= count;
    this.low += this.range * value;
    this.normalise();
    return value;
  }

  finish(): Uint8Array {
    this.carry();
    this.low = shortestIn(this.low, this.range);
    for (let i = 0; i < 4; ++i) this.putByte();
    while (this.bytes.length > 0 && this.bytes[this.bytes.length - 1] === 0) this.bytes.pop();
    return Uint8Array.from(this.bytes);
  }

  private normalise(): void {
    while (this.range < 2 ** 24) {
      this.putByte();
      this.range = (this.range << 8) >>> 0;
    }
  }
  private carry(): void {
    if (this.low < 2 ** 32) return;
    this.low -= 2 ** 32;
    let at = this.bytes.length - 1;
    while (at >= 0 && this.bytes[at] === 255) this.bytes[at--] = 0;
    if (at >= 0) ++this.bytes[at];
  }
  private putByte(): void {
    this.carry();
    this.bytes.push(Math.floor(this.low / 2 ** 24));
    this.low = (this.low % 2 ** 24) * 256;
  }
}

/** How many bits a number from 0 on has. */
export const bitWidth = (value: number): number => (value === 0 ? 0 : 32 - Math.clz32(value));

/** A number below 16. */
export function codeTree(coder: Coder, odds: Odds, tree: number, value: number): number {
  let at = 1;
  for (let i = 3; i >= 0; --i) at = 2 * at + (coder.bit(odds, tree + at, ((value >> i) & 1) !== 0) ? 1 : 0);
  return at & 15;
}

/** A signed number: how many bits its size has, then these; of 15 or more `wide` bits in all. */
export function codeNumber(coder: Coder, odds: Odds, tree: number, value: number, wide = 17): number {
  const size = Math.abs(value);
  const width = codeTree(coder, odds, tree, Math.min(size >= 2 ** 31 ? 32 : bitWidth(size), 15));
  if (width === 0) return 0;
  if (width === 15) {
    const told = coder.raw(wide, value < 0 ? value + 2 ** wide : value);
    return told >= 2 ** (wide - 1) ? told - 2 ** wide : told;
  }
  const top = 1 << (width - 1);
  const told = coder.raw(width, coder.writing ? ((size - top) << 1) | (value < 0 ? 1 : 0) : 0);
  const is = top + (told >> 1);
  return told & 1 ? -is : is;
}
