// The odds with which a block's decisions begin, by number (WIRE.md, Packed snapshots).

import { firstOdds, shifts } from './block_odds';
import { courseOf, noCourse } from './heading';
import type { Odds } from './range_coder';

let next = 0;
function odds(count = 1): number {
  next += count;
  return next - count;
}
const trees = (count = 1): number => odds(16 * count);

/** Where each kind of decision has its odds; in the order in which the page numbers them. */
export const models = {
  whole: odds(), quiet: odds(), others: odds(), gone: odds(), fresh: odds(), usualPace: odds(), usualPull: odds(),
  changed: odds(4), turn: odds(19), veers: odds(), speeds: odds(8), stops: odds(), course: odds(), atPace: odds(),
  heading: odds(2 * 8), speed: trees(), climbs: odds(4), lands: odds(), jumps: odds(), jumped: trees(), jump: odds(19),
  climb: trees(2), place: odds(12 * 19), eases: odds(), moment: trees(2), changing: odds(3 * 19), lifts: odds(10),
  lift: trees(4), nods: odds(2), nod: trees(),
  lesser: odds(2), health: odds(), state: odds(), flags: odds(2), kind: odds(),
  hurt: trees(), mood: trees(), flag: trees(), oddMood: odds(), oddFlag: odds(),
  slot: trees(), generation: trees(), level: trees(),
  still: odds(), sameKind: odds(), usualFlags: odds(), levelPitch: odds(), fullHealth: odds(), noState: odds(),
  falls: odds(2), steady: odds(), drift: odds(19),
  fieldChanged: odds(), fieldOther: odds(8), field: trees(8),
} as const;

if (shifts.length !== models.fieldChanged || firstOdds.some((list) => list.length !== models.fieldChanged)) throw new Error('as many odds as decisions');

/** How somebody of a base moves: `follows` is on a course. */
export const gaits = { rests: 0, walks: 1, flies: 2, follows: 3 } as const;
export interface Motion {
  gait: number;
  course: number;
}

const grounded = 1;
export function motionOf(
  entity: { velocity: readonly [number, number, number]; flags: number; yaw: number }, pace: number,
): Motion {
  const [x, y, z] = entity.velocity;
  if (x === 0 && y === 0 && z === 0) return { gait: gaits.rests, course: noCourse };
  if (z !== 0 && !(entity.flags & grounded)) return { gait: gaits.flies, course: noCourse };
  const course = courseOf([x, y, z], entity.yaw, pace);
  return { gait: course === noCourse ? gaits.walks : gaits.follows, course };
}

/** Who is in the air falls; monsters may have wings, and projectiles most often keep their way. */
export const alwaysFalls = (kind: number): boolean => kind === 0 || kind === 240;
export const isProjectile = (kind: number): boolean => kind >= 128 && kind < 240;

/** How those of a base move on the whole: by that their odds begin. */
function moodOf(motions: readonly Motion[]): number {
  const count = (gait: number): number => motions.filter((motion) => motion.gait === gait).length;
  const moving = motions.length - count(gaits.rests);
  if (motions.length === 0 || 4 * moving < motions.length) return 0;
  if (3 * count(gaits.follows) > moving) return 1;
  if (2 * count(gaits.flies) > moving) return 2;
  return 12 * count(gaits.flies) > moving ? 4 : 3;
}

/** As a block begins; those of added fields are as likely as not. */
export function beginOdds(out: Odds, motions: readonly Motion[]): void {
  const first = firstOdds[moodOf(motions)];
  for (let i = 0; i < next; ++i) out.one[i] = i < first.length ? 256 * first[i] + 128 : 32768;
}
const shift = Uint8Array.from({ length: next }, (_, i) => Number(shifts[i] ?? 4));
export const newOdds = (): Odds => ({ one: new Uint16Array(next), shift });
