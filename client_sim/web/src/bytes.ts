// Bytes in and out, little endian, as WIRE.md writes them.

/** What a peer sent is not what WIRE.md says. */
export class WireError extends Error {}

/** Throws a WireError unless what was read is so. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new WireError(`${what} is out of bounds`);
}

/** The greatest number that a varint may say, but for what a double of JavaScript cannot tell apart. */
const varintBytesMax = 9;

/** Reads from the front; whatever is not there throws a WireError. */
export class ByteReader {
  private readonly view: DataView;
  position = 0;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.position;
  }

  private advance(count: number): number {
    if (count > this.left) throw new WireError(`${count} bytes are wanted where ${this.left} are left`);
    const at = this.position;
    this.position += count;
    return at;
  }

  u8(): number {
    return this.view.getUint8(this.advance(1));
  }
  i8(): number {
    return this.view.getInt8(this.advance(1));
  }
  u16(): number {
    return this.view.getUint16(this.advance(2), true);
  }
  i16(): number {
    return this.view.getInt16(this.advance(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.advance(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.advance(8), true);
  }

  /** A view of the next `count` bytes, not a copy. */
  take(count: number): Uint8Array {
    const at = this.advance(count);
    return this.bytes.subarray(at, at + count);
  }

  /**
   * LEB128 in its shortest form, at most 2^62 - 1. Beyond 2^53 the value is rounded: offsets and sequences so
   * large only have to be seen to be too large.
   */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < varintBytesMax; ++i) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte >= 0x80) continue;
      if (byte === 0 && i > 0) throw new WireError('a varint is longer than it need be');
      if (i === varintBytesMax - 1 && byte > 0x3f) break;
      return value;
    }
    throw new WireError('a varint is above 2^62 - 1');
  }
}

/** Collects bytes; grows as needed. */
export class ByteWriter {
  private buffer: Uint8Array;
  private view: DataView;
  length = 0;

  constructor(capacity = 1200) {
    this.buffer = new Uint8Array(capacity);
    this.view = new DataView(this.buffer.buffer);
  }

  private grow(count: number): number {
    const at = this.length;
    if (at + count > this.buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.buffer.length, at + count));
      larger.set(this.buffer);
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    this.length += count;
    return at;
  }

  u8(value: number): void {
    const at = this.grow(1);  // may make another view
    this.view.setUint8(at, value);
  }
  u16(value: number): void {
    const at = this.grow(2);  // may make another view
    this.view.setUint16(at, value, true);
  }
  u32(value: number): void {
    const at = this.grow(4);  // may make another view
    this.view.setUint32(at, value, true);
  }
  put(bytes: Uint8Array): void {
    const at = this.grow(bytes.length);
    this.buffer.set(bytes, at);
  }
  zeros(count: number): void {
    this.grow(count);
  }
  varint(value: number): void {
    while (value >= 128) {
      this.u8((value % 128) | 0x80);
      value = Math.floor(value / 128);
    }
    this.u8(value);
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}

/** Bytes that varint(value) takes. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (; value >= 128; value = Math.floor(value / 128)) ++bytes;
  return bytes;
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Compared to the last byte, so that the time tells nothing of where they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let different = 0;
  for (let i = 0; i < a.length; ++i) different |= a[i] ^ b[i];
  return different === 0;
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; ++i) bytes[at + i] = (value >>> (8 * i)) & 0xff;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The bytes of hexadecimal digits, with or without blanks; undefined for anything else. */
export function fromHex(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s+/g, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** Are all of these zero? */
export function allZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

export function present<T>(value: T | null, what: string): T {
  if (value === null) throw new WireError(`${what} is missing`);
  return value;
}
