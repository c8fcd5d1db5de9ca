// Directions in 1/256 turns and speeds in whole steps (WIRE.md, Packed snapshots).

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

/** A speed in a direction. */
export function atAngle(speed: number, angle: number): [number, number] {
  const fit = (steps: number): number => (steps + 8192) >> 14;
  return [fit(speed * sine(angle + 64)), fit(speed * sine(angle))];
}

/** The nearest direction of a velocity. */
export function angleOf(x: number, y: number): number {
  let [low, high] = [0, 64];
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    // Half-way between two directions is where the sums of their sines and cosines point.
    const [s, c] = [sines[mid] + sines[mid - 1], sines[64 - mid] + sines[65 - mid]];
    if (s * Math.abs(x) <= Math.abs(y) * c) low = mid;
    else high = mid - 1;
  }
  if (x >= 0) return (y >= 0 ? low : 256 - low) & 255;
  return y >= 0 ? 128 - low : 128 + low;
}

/** Rounded to the nearest. */
export const lengthOf = (x: number, y: number): number => {
  const square = x * x + y * y;
  const root = Math.floor(Math.sqrt(square));
  return root + (square - root * root > root ? 1 : 0);
};

/** Eight directions off where one looks, at a pace. */
export const noCourse = 8;
export const onCourse = (pace: number, yaw: number, course: number): [number, number] =>
  atAngle(pace, yaw + 32 * course);

/** Which course a velocity is, to the step; none at a pace that is too slow for that. */
export function courseOf([x, y]: readonly [number, number, number], yaw: number, pace: number): number {
  if (pace < 16) return noCourse;
  if (Math.abs(x) > pace + 1 || Math.abs(y) > pace + 1 || x * x + y * y < (pace - 1) ** 2) return noCourse;
  const course = ((angleOf(x, y) - yaw + 16) & 255) >> 5;
  const is = onCourse(pace, yaw, course);
  return is[0] === x && is[1] === y ? course : noCourse;
}
