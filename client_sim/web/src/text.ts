// Which texts may travel: UTF-8 that is printable (WIRE.md, Messages). The same rule on both sides: a peer closes the
// session for any other.

import { WireError } from './bytes';

/** First and last. */
type Range = readonly [number, number];

// Unicode 15.1, DerivedCoreProperties: Default_Ignorable_Code_Point, and what of general category Cf is not drawn
// either. Numbers and not \p{...}, whose meaning changes with the engine.
const notDrawn: readonly Range[] = [
  [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f],
  [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfe00, 0xfe0f], [0xfeff, 0xfeff],
  [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0x13430, 0x1343f], [0x1bca0, 0x1bca3], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff],
];

/** Drawn as nothing: every space but U+0020, and letters and signs that are empty. */
const blank: readonly Range[] = [
  [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x202f, 0x202f], [0x205f, 0x205f], [0x2800, 0x2800],
  [0x3000, 0x3000], [0x16fe4, 0x16fe4], [0x1d159, 0x1d159],
];

const among = (c: number, ranges: readonly Range[]): boolean =>
  ranges.some(([first, last]) => c >= first && c <= last);

function isPrintable(c: number): boolean {
  const within = (low: number, high: number): boolean => c >= low && c <= high;
  const control = c < 0x20 || within(0x7f, 0x9f);
  const separator = within(0x2028, 0x2029);
  const surrogate = within(0xd800, 0xdfff);  // one without its other half
  const nonCharacter = (c & 0xfffe) === 0xfffe || within(0xfdd0, 0xfdef);
  if (control || separator || surrogate || nonCharacter) return false;
  // A variation selector chooses the picture of the sign before it: emoji and Mongolian cannot do without.
  const selector = within(0xfe00, 0xfe0f) || within(0x180b, 0x180d) || c === 0x180f;
  return selector || !among(c, notDrawn);
}

const encoder = new TextEncoder();
// The mark of a byte order is a character like any other here, and not printable.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** May it travel? Bounds are in bytes. */
export function validText(text: string, bytesMin: number, bytesMax: number): boolean {
  for (const sign of text) if (!isPrintable(sign.codePointAt(0)!)) return false;
  const bytes = encoder.encode(text).length;
  return bytes >= bytesMin && bytes <= bytesMax;
}

const nameCharsMax = 24;
/** A player's name takes no more. */
export const nameBytesMax = 4 * nameCharsMax;

/**
 * May a player be called so? 1 to 24 characters that are drawn, of blanks U+0020 alone, and that at neither end: two
 * names must not look alike because of what cannot be seen, and none may look like nobody.
 */
export function validPlayerName(name: string): boolean {
  const signs = Array.from(name, (sign) => sign.codePointAt(0)!);
  if (signs.length < 1 || signs.length > nameCharsMax || name.startsWith(' ') || name.endsWith(' ')) return false;
  return signs.every((c) => isPrintable(c) && !among(c, notDrawn) && !among(c, blank));
}

/** The text of bytes that came; undefined: such a text may not travel. */
export function readText(bytes: Uint8Array, bytesMin: number, bytesMax: number): string | undefined {
  if (bytes.length < bytesMin || bytes.length > bytesMax) return undefined;
  try {
    const text = decoder.decode(bytes);
    return validText(text, bytesMin, bytesMax) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A string that may be shown; a missing one is empty. A server says no other, and is not heard when it does. */
export function shown(bytes: string | Uint8Array | null, bytesMin: number, bytesMax: number, what: string): string {
  const text = readText(bytes === null ? new Uint8Array(0) : (bytes as Uint8Array), bytesMin, bytesMax);
  if (text === undefined) throw new WireError(`${what} is none that may be shown`);
  return text;
}

/** With '?' for what is not printable, cut between two signs: for our texts that hold foreign parts. */
export function printableBytes(text: string, bytesMax: number): Uint8Array {
  let out = '';
  let left = bytesMax;
  for (const sign of text) {
    const good = isPrintable(sign.codePointAt(0)!) ? sign : '?';
    left -= encoder.encode(good).length;
    if (left < 0) break;
    out += good;
  }
  return encoder.encode(out);
}
