// What only shows (shots, hits, steps, doors), from bytes to values, each once (WIRE.md, Cues).

import { BitReader } from './bits';
import { check } from './bytes';
import { ticksSince } from './snapshot';

const kinds = [
  'shot', 'launch', 'attack', 'hurt', 'died', 'burst', 'step', 'splash', 'pickup', 'use', 'planeStarts', 'planeStops',
  'digging',
] as const;
const stepsPerM = 16;
const extentM = 2 ** 20;
const heightM = 2 ** 12;
const ticksKnown = 64;

export interface Cue {
  kind: (typeof kinds)[number];
  /** By kind: a weapon's number, an attack's form, what hurt, a projectile's kind, a block, and so on (WIRE.md). */
  detail: number;
  /** Ticks before that of the message. */
  age: number;
  /** Whom it is about; 0: nobody that is told of. */
  who: number;
  /** Where, in metres. */
  place?: [number, number, number];
}

/** Throws a WireError for what is no cue. @param steps of its place, 1/16 m */
export function checkedCue(kind: number, detail: number, age: number, who: number, steps?: readonly number[]): Cue {
  check(kind < kinds.length && (who !== 0 || steps !== undefined), 'a cue');
  if (!steps) return { kind: kinds[kind], detail, age, who };
  const place = steps.map((step) => step / stepsPerM) as [number, number, number];
  const inWorld = place.every((at, axis) => Math.abs(at) < (axis < 2 ? extentM : heightM));
  check(inWorld, 'the place of a cue');
  return { kind: kinds[kind], detail, age, who, place };
}

/** Those of a packed part. */
export function readCues(bytes: Uint8Array): Cue[] {
  const bits = new BitReader(bytes);
  const count = bits.get(5) + 1;
  const cues: Cue[] = [];
  let head: [kind: number, detail: number, age: number, who: number] = [0, 0, 0, 0];
  let last: number[] | undefined;
  for (let i = 0; i < count; ++i) {
    if (i === 0 || bits.bit()) {
      const [kind, detail] = [bits.get(4), bits.get(8)];
      const age = bits.bit() ? bits.get(8) : 0;
      head = [kind, detail, age, bits.bit() ? bits.get(32) : 0];
    }
    let steps: number[] | undefined;
    if (bits.bit()) {
      const near = last !== undefined && bits.bit();
      const from = near && last ? last : [0, 0, 0];
      steps = (near ? [11, 11, 11] : [25, 25, 17]).map((width, axis) => from[axis] + bits.signed(width));
      last = steps;
    }
    cues.push(checkedCue(...head, steps));
  }
  bits.end();
  return cues;
}

/** Knows which lists came: each counts once, and not when it is far behind the newest. */
export class CueFilter {
  private readonly heard = new Map<number, number>();  // parts as bits, by tick
  private newest: number | undefined;

  /** @param part of the snapshot that told them; 0 for those beside a plain one */
  isNew(tick: number, part: number): boolean {
    if (this.newest !== undefined && ticksSince(this.newest, tick) >= ticksKnown) return false;
    const parts = this.heard.get(tick) ?? 0;
    if ((parts & (1 << part)) !== 0) return false;
    this.heard.set(tick, parts | (1 << part));
    const newest = this.newest === undefined || ticksSince(tick, this.newest) > 0 ? tick : this.newest;
    this.newest = newest;
    for (const old of this.heard.keys()) if (ticksSince(newest, old) >= ticksKnown) this.heard.delete(old);
    return true;
  }
}
