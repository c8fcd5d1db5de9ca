// The odds with which a block's decisions begin, by number (WIRE.md, Packed snapshots).

import type { Odds } from './range_coder';

/** In 1/256 and half of one more. */
const firstOdds = [
  0, 1, 90, 10, 125, 31, 250, 254, 227, 64, 138, 200, 9, 128, 6, 98, 1, 76, 111, 1,
  128, 77, 111, 133, 108, 11, 88, 128, 128, 41, 142, 128, 10, 249, 1, 230, 228, 1, 128, 246,
  164, 181, 207, 5, 128, 128, 128, 128, 6, 223, 1, 221, 43, 1, 128, 254, 46, 249, 194, 5,
  128, 128, 128, 77, 16, 128, 1, 3, 128, 148, 74, 128, 128, 254, 4, 120, 29, 128, 128, 128,
  128, 88, 3, 128, 1, 6, 128, 24, 34, 128, 128, 254, 59, 122, 96, 128, 128, 128, 128, 148,
  91, 128, 1, 43, 68, 118, 7, 68, 128, 254, 77, 115, 62, 68, 128, 128, 128, 128, 1, 1,
  128, 84, 5, 128, 128, 176, 9, 71, 179, 128, 128, 128, 128, 128, 1, 27, 128, 153, 1, 128,
  128, 197, 112, 9, 45, 128, 128, 128, 128, 128, 1, 127, 115, 214, 47, 115, 128, 136, 201, 123,
  2, 115, 128, 128, 128, 128, 1, 206, 22, 3, 205, 22, 128, 121, 187, 243, 92, 22, 128, 128,
  128, 128, 163, 128, 89, 126, 129, 89, 128, 126, 128, 128, 129, 164, 128, 128, 128, 1, 56, 1,
  29, 147, 165, 128, 1, 1, 128, 172, 82, 128, 128, 254, 1, 82, 128, 128, 128, 128, 128, 128,
  1, 79, 49, 190, 113, 49, 128, 254, 16, 126, 30, 50, 128, 128, 128, 247, 223, 231, 86, 87,
  97, 128, 1, 120, 95, 170, 99, 95, 128, 254, 131, 103, 98, 95, 128, 128, 128, 128, 1, 83,
  128, 103, 75, 128, 128, 254, 87, 133, 8, 128, 128, 128, 128, 14, 42, 102, 27, 83, 252, 1,
  128, 26, 244, 1, 252, 131, 1, 128, 214, 251, 67, 65, 1, 128, 128, 128, 128, 1, 1, 128,
  79, 128, 128, 128, 129, 61, 128, 128, 128, 128, 128, 128, 128, 1, 19, 128, 1, 1, 128, 128,
  254, 128, 1, 128, 128, 128, 128, 128, 1, 1, 128, 60, 241, 1, 182, 195, 1, 128, 173, 165,
  171, 31, 1, 128, 128, 128, 128, 1, 1, 128, 1, 128, 128, 128, 254, 128, 128, 128, 128, 128,
  128, 128, 128, 88, 53, 1, 7, 206, 46, 51, 1, 225, 131, 184, 90, 58, 98, 128, 23, 167,
  142, 128, 156, 238, 12, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
  128,
];

let next = 0;
function odds(count = 1): number {
  next += count;
  return next - count;
}
const trees = (count = 1): number => odds(16 * count);

/** Where each kind of decision has its odds; in the order in which the page numbers them. */
export const models = {
  whole: odds(), quiet: odds(), others: odds(), gone: odds(), fresh: odds(),
  changed: odds(3), falls: odds(), speeds: odds(3), stops: odds(), speed: trees(), climbs: odds(2), climb: trees(2),
  place: odds(3 * 18), spread: trees(5), lifts: odds(6), lift: trees(2),
  turns: odds(3), veers: odds(), nods: odds(2), turn: trees(), nod: trees(),
  lesser: odds(2), health: odds(), state: odds(), flags: odds(2), kind: odds(),
  hurt: trees(), mood: trees(), flag: trees(), oddMood: odds(), oddFlag: odds(),
  slot: trees(), generation: trees(), level: trees(),
  still: odds(), sameKind: odds(), usualFlags: odds(), levelPitch: odds(), fullHealth: odds(), noState: odds(),
  fieldChanged: odds(), fieldOther: odds(8), field: trees(8),
} as const;

if (next !== firstOdds.length) throw new Error('as many odds as decisions');

export const beginOdds = (): Odds => Uint16Array.from(firstOdds, (odd) => 256 * odd + 128);

/** Sines of 0 to 64/256 turn, in 1/16384. */
const sines = [
  0, 402, 804, 1205, 1606, 2006, 2404, 2801, 3196, 3590, 3981, 4370, 4756,
  5139, 5520, 5897, 6270, 6639, 7005, 7366, 7723, 8076, 8423, 8765, 9102, 9434,
  9760, 10080, 10394, 10702, 11003, 11297, 11585, 11866, 12140, 12406, 12665, 12916, 13160,
  13395, 13623, 13842, 14053, 14256, 14449, 14635, 14811, 14978, 15137, 15286, 15426, 15557,
  15679, 15791, 15893, 15986, 16069, 16143, 16207, 16261, 16305, 16340, 16364, 16379, 16384,
];

function sine(turn: number): number {
  const half = turn & 127;
  const size = sines[half <= 64 ? half : 128 - half];
  return (turn & 255) < 128 ? size : -size;
}

/** A velocity turned about the vertical by so many 1/256 turns. */
export function rotated([x, y, z]: readonly [number, number, number], turn: number): [number, number, number] {
  const [s, c] = [sine(turn), sine(turn + 64)];
  const fit = (steps: number): number => Math.max(-32768, Math.min(32767, (steps + 8192) >> 14));
  return [fit(x * c - y * s), fit(x * s + y * c), z];
}
