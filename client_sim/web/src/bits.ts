// Bits one behind the other, the lowest of a byte first (WIRE.md, Packed snapshots).

import { WireError } from './bytes';

export class BitReader {
  private position = 0;  // in bits

  constructor(private readonly bytes: Uint8Array) {}

  /** The next `count` bits, 0 to 32; throws a WireError where they are not there. */
  get(count: number): number {
    if (this.position + count > 8 * this.bytes.length) throw new WireError('fewer bits than are wanted');
    let value = 0;
    for (let have = 0; have < count; ) {
      const offset = this.position & 7;
      const taken = Math.min(8 - offset, count - have);
      const part = (this.bytes[this.position >> 3] >> offset) & ((1 << taken) - 1);
      value += part * 2 ** have;
      have += taken;
      this.position += taken;
    }
    return value;
  }

  bit(): boolean {
    return this.get(1) === 1;
  }

  /** In two's complement. */
  signed(count: number): number {
    const value = this.get(count);
    return value >= 2 ** (count - 1) ? value - 2 ** count : value;
  }

  /** Elias gamma of the value + 1. */
  gamma(): number {
    let zeros = 0;
    while (!this.bit()) {
      if (++zeros > 30) throw new WireError('a number of too many bits');
    }
    return 2 ** zeros + this.get(zeros) - 1;
  }

  /** Throws a WireError unless nothing is left but zeros that fill up the last byte. */
  end(): void {
    const left = 8 * this.bytes.length - this.position;
    if (left >= 8 || this.get(left) !== 0) throw new WireError('bits are left');
  }
}

/** Collects bits. */
export class BitWriter {
  private readonly bytes: number[] = [];
  private count = 0;

  /** The low `count` bits of a value, 0 to 32. */
  put(value: number, count: number): void {
    for (let i = 0; i < count; ++i) {
      if ((this.count & 7) === 0) this.bytes.push(0);
      this.bytes[this.bytes.length - 1] |= ((value / 2 ** i) & 1) << (this.count++ & 7);
    }
  }
  bit(value: boolean): void {
    this.put(value ? 1 : 0, 1);
  }
  /** In two's complement. */
  signed(value: number, count: number): void {
    this.put(value < 0 ? value + 2 ** count : value, count);
  }
  /** Elias gamma of the value + 1. */
  gamma(value: number): void {
    const width = Math.floor(Math.log2(value + 1));
    this.put(0, width);
    this.bit(true);
    this.put(value + 1 - 2 ** width, width);
  }
  /** Whole bytes, filled up with zeros. */
  finish(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }
}
