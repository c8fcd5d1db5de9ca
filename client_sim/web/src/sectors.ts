// Heights and motions of sectors (WIRE.md, Snapshots and Motions of sectors): held against their bounds, and else left
// to who draws them.

import { BitReader } from './bits';
import { ByteReader, check } from './bytes';
import { mapsMax } from './welcome';

export const slicesMax = 1024;
export const motionsMax = 16;
export const motionBytes = 56;
const sliceSectors = 64;
const motionCount = 9;
const phaseCount = 5;
const wholeBits = 12;

/** Sectors of a slice by their numbers in it. Throws a WireError unless they ascend. */
export function checkSlice(map: number, slice: number, sectors: readonly number[]): void {
  check(map < mapsMax && slice < slicesMax, 'a slice of heights');
  check(sectors.every((sector, i) => sector < sliceSectors && (i === 0 || sector > sectors[i - 1])), 'heights');
}

/** Those of a packed part. */
export function checkHeights(bytes: Uint8Array): void {
  const bits = new BitReader(bytes);
  const count = bits.gamma();
  check(count <= sliceSectors, 'heights');
  let next = 0;
  for (let i = 0; i < count; ++i) {
    next += bits.gamma();
    check(next < sliceSectors, 'heights');
    ++next;
    for (let height = 0; height < 2; ++height) bits.get(bits.bit() ? wholeBits : 32);
  }
  bits.end();
}

export interface Motion {
  map: number;
  plane: number;
  motion: number;
  phase: number;
  resume: number;
  heightM: number;
  lowM: number;
  highM: number;
  speedMps: number;
  waitS: number;
  leftS: number;
}

/** Throws a WireError unless a plane can move so. */
export function checkMotion(motion: Motion): void {
  const { heightM, lowM, highM, speedMps, waitS, leftS } = motion;
  const known = motion.map < mapsMax && motion.plane <= 1 && motion.motion < motionCount;
  check(known && motion.phase < phaseCount && motion.resume < phaseCount, 'a motion');
  // All of these are false for NaN.
  const places = Math.abs(heightM) < 1e5 && Math.abs(lowM) < 1e5 && Math.abs(highM - lowM) < 1e5;
  const times = waitS >= 0 && waitS < 1e6 && leftS >= 0 && leftS < 1e6;
  check(places && times && speedMps > 0 && speedMps < 1e4, 'a motion');
}

/** The one of a packed part. */
export function checkMotionBytes(bytes: Uint8Array): void {
  const reader = new ByteReader(bytes);
  const [heightM, lowM, highM, speedMps, waitS, leftS] = Array.from({ length: 6 }, () => reader.f64());
  reader.u16();  // its sector, of which only the map says how many there are
  const [map, plane, motion, phase, resume] = Array.from({ length: 5 }, () => reader.u8());
  checkMotion({ map, plane, motion, phase, resume, heightM, lowM, highM, speedMps, waitS, leftS });
}
