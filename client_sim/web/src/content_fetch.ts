// Gets content that a welcome names and the client lacks, one after the other (WIRE.md, Content).

import { ByteReader } from './bytes';

/** What an envelope says of itself; its frame of zstd is the caller's to unpack. */
export interface Envelope {
  kind: 'map' | 'prop';
  layoutBytes: number;
  frame: Uint8Array;
}

const magic = 0x4e4f4341;  // "ACON"
const layoutBytesMax = 16 * 1024 * 1024;

/** undefined: it is none. */
export function readEnvelope(bytes: Uint8Array): Envelope | undefined {
  if (bytes.length < 13) return undefined;
  const reader = new ByteReader(bytes);
  const [begin, format, kind, zero, layoutBytes] = [
    reader.u32(), reader.u8(), reader.u8(), reader.u16(), reader.u32(),
  ];
  if (begin !== magic || format !== 1 || zero !== 0 || layoutBytes > layoutBytesMax) return undefined;
  if (kind !== 1 && kind !== 2) return undefined;
  return { kind: kind === 1 ? 'map' : 'prop', layoutBytes, frame: bytes.subarray(12) };
}

/** Puts the parts of one thing after the other together. */
export class ContentFetch {
  private wanted: bigint[] = [];
  private whole: Uint8Array | undefined;
  private have = 0;
  /** Something is not to be had: its parts do not fit each other. */
  failed = false;

  get busy(): boolean {
    return this.wanted.length > 0;
  }

  /** Forgets what was wanted before, but for the one under way: if that is still wanted it goes on first. */
  begin(hashes: readonly bigint[]): void {
    this.failed = false;
    const present = this.wanted[0];
    const goesOn = this.have > 0 && hashes.includes(present);
    this.wanted = [...new Set(goesOn ? [present, ...hashes] : hashes)];
    if (goesOn) return;
    this.whole = undefined;
    this.have = 0;
  }

  /** What to ask for, from what is here on: after each welcome, and when one thing is whole. */
  request(): { hash: bigint; offset: number } | undefined {
    return this.wanted.length === 0 ? undefined : { hash: this.wanted[0], offset: this.have };
  }

  /** @returns the whole, once it is; parts of what was asked for before are let pass, and others make it fail */
  take(hash: bigint, total: number, offset: number, bytes: Uint8Array): Uint8Array | undefined {
    if (this.failed || hash !== this.wanted[0] || offset < this.have) return undefined;
    if (offset > this.have || (this.whole && this.whole.length !== total)) {
      this.failed = true;
      return undefined;
    }
    this.whole ??= new Uint8Array(total);
    this.whole.set(bytes, offset);
    this.have += bytes.length;
    if (this.have < total) return undefined;
    const whole = this.whole;
    this.wanted.shift();
    this.whole = undefined;
    this.have = 0;
    return whole;
  }

  /** The server does not give it. @returns true when it was asked for */
  refuse(hash: bigint): boolean {
    return hash === this.wanted[0];
  }
}
