// Gets content that a welcome names and the client lacks, one after the other (WIRE.md, Content).

import { ByteReader } from './bytes';
import type { NamedContent } from './held_content';

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

/** Of all that is fetched for one welcome, as it travels. */
export const fetchBytesUsual = 64 * 1024 * 1024;
/** Of all that is fetched for one welcome, unpacked: little may be made into much. */
export const fetchLayoutMax = 512 * 1024 * 1024;

const tooMuch = 'all content of this server is more than a client takes';

/** What is to be fetched. */
export type WantedContent = Pick<NamedContent, 'hash' | 'kind'>;

/** Puts the parts of one thing after the other together. Takes memory for what it was told of, within its bounds. */
export class ContentFetch {
  private wanted: WantedContent[] = [];
  private whole: Uint8Array | undefined;
  private have = 0;
  private bytesLeft = 0;
  private layoutLeft = 0;
  /** Why something is not to be had, in a few words. */
  failure: string | undefined;

  constructor(private readonly bytesMax = fetchBytesUsual) {}

  get busy(): boolean {
    return this.wanted.length > 0;
  }

  /** Forgets what was wanted before, but for the one under way: if that is still wanted it goes on first. */
  begin(lacking: readonly WantedContent[]): void {
    this.failure = undefined;
    this.bytesLeft = this.bytesMax;
    this.layoutLeft = fetchLayoutMax;
    const under = this.wanted[0];
    const wanted = new Map(lacking.map((one) => [one.hash, one]));
    const goesOn = this.have > 0 && wanted.has(under.hash) && this.whole!.length <= this.bytesLeft;
    this.wanted = [...new Set([...(goesOn ? [wanted.get(under.hash)!] : []), ...wanted.values()])];
    if (goesOn) return;
    this.whole = undefined;
    this.have = 0;
  }

  /** What to ask for, from what is here on: after each welcome, and when one thing is whole. */
  request(): { hash: bigint; offset: number } | undefined {
    return this.wanted.length === 0 ? undefined : { hash: this.wanted[0].hash, offset: this.have };
  }

  /** @returns the whole, once it is; parts of what was asked for before are let pass, and others make it fail */
  take(hash: bigint, total: number, offset: number, bytes: Uint8Array): Uint8Array | undefined {
    if (this.failure || hash !== this.wanted[0]?.hash || offset < this.have) return undefined;
    if (offset > this.have) return this.fail('a part of it is missing');
    if (total > this.bytesLeft) return this.fail(tooMuch);
    if (this.whole && this.whole.length !== total) return this.fail('its size changed on the way');
    this.whole ??= new Uint8Array(total);
    this.whole.set(bytes, offset);
    this.have += bytes.length;
    return this.have < total ? undefined : this.finish(this.whole);
  }

  private fail(why: string): undefined {
    this.failure = why;
    this.whole = undefined;
    this.have = 0;
  }

  /** It came whole: is it what was asked for, and not too much of it? */
  private finish(whole: Uint8Array): Uint8Array | undefined {
    const envelope = readEnvelope(whole);
    if (envelope?.kind !== this.wanted[0].kind) return this.fail('it is no content of its kind');
    if (envelope.layoutBytes > this.layoutLeft) return this.fail(tooMuch);
    this.bytesLeft -= whole.length;
    this.layoutLeft -= envelope.layoutBytes;
    this.wanted.shift();
    this.whole = undefined;
    this.have = 0;
    return whole;
  }

  /** The server does not give it. @returns true when it was asked for */
  refuse(hash: bigint): boolean {
    return hash === this.wanted[0]?.hash;
  }
}
