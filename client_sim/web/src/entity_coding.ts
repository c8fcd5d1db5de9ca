// How one entity of a block is told, for reader and writer alike (WIRE.md, Packed snapshots).

import { alwaysFalls, gaits, isProjectile, models, type Motion } from './block_models';
import { check } from './bytes';
import { angleOf, atAngle, courseOf, lengthOf, noCourse, onCourse, rotated } from './heading';
import { bitWidth, codeNumber, codeTree, type Coder, type Odds } from './range_coder';
import { cellSteps, checkEntity, type Triple } from './snapshot';

/** An entity as blocks hold it: its place in steps within its cell, its velocity in 1/16 m/s. */
export interface MovingEntity {
  id: number;
  place: Triple;
  velocity: Triple;
  kind: number;
  yaw: number;
  pitch: number;
  health: number;
  state: number;
  flags: number;
  /** Added ones for all, in steps, by their numbers in the kind. */
  fields: number[];
}

const slotBits = 20;
const grounded = 1;
const same = (a: Triple, b: Triple): boolean => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
const signed8 = (value: number): number => ((value + 128) & 255) - 128;
const within = (at: number): number => Math.max(0, Math.min(cellSteps - 1, at));
const checkedPlace = (place: Triple): Triple => {
  check(place.every((steps) => steps >= 0 && steps < cellSteps), 'the place of an entity');
  return place;
};
const fitting = (steps: number): number => {
  check(steps >= -32768 && steps <= 32767, 'a velocity');
  return steps;
};

/** How those of a block move when nothing is in their way, in steps of velocity and seconds. */
export interface BlockRules {
  pace: number;
  /** m/s2 */
  pull: number;
}
export const usualRules: BlockRules = { pace: 96, pull: 20 };
const jump = 112;
const acceleration = 960;
const momentsMax = 15;

/** An upward velocity after falling for some ticks. */
const fallen = (up: number, pull: number, ticks: number, rate: number): number =>
  Math.max(-32768, up - Math.floor((pull * 32 * ticks + rate) / (2 * rate)));

/** When a block is told, and how many ticks before that its base was; 0: it has none. */
export interface BlockTime {
  tick: number;
  age: number;
  /** Ticks a second. */
  rate: number;
}

/** Steps of position from the base on of who keeps its velocity: as if it had had it since the last whole second. */
function steadyWay(velocity: number, { tick, age, rate }: BlockTime): number {
  const made = (ticks: number): number => Math.floor((8 * velocity * ticks) / rate);
  return made(tick % rate) - made((tick % rate) - age);
}

/** Who reached or left the ground as those do that fall or jump. */
type Leap = '' | 'lands' | 'jumps';

/** How a velocity changed: other over the ground; on a course before and after; of who flew. */
interface Change {
  other: boolean;
  course: boolean;
  flies: boolean;
  leap: Leap;
}

export class EntityCoding {
  private kindBefore = 0;
  private ground = -1;
  private readonly age: number;
  private readonly rate: number;
  private readonly moments: number;

  /** @param level z of the first one in the base; 0 where there is none */
  constructor(
    private readonly coder: Coder, private readonly odds: Odds, private readonly time: BlockTime,
    private level: number, private readonly rules: BlockRules = usualRules,
  ) {
    this.age = time.age;
    this.rate = time.rate;
    this.moments = Math.min(this.age, momentsMax);
  }

  /** Somebody who was in the base. @param now what is written; a reader gives the base */
  change(now: MovingEntity, base: MovingEntity, motion: Motion): MovingEntity {
    const { gait, course } = motion;
    const { pace, pull } = this.rules;
    const flies = gait === gaits.flies;
    const before = base.velocity;
    let told: Triple = [...before];
    const falling = flies && this.falls(now.velocity[2], before[2], base.kind);
    if (falling) told[2] = fallen(told[2], pull, this.age, this.rate);
    let place = this.foretold(base, told, 0, false);
    const onlyPlace = same(now.velocity, told) && now.yaw === base.yaw && now.pitch === base.pitch
      && !this.lesser(now, base);
    if (!this.bit(models.changed + gait, !onlyPlace || !same(now.place, place))) {
      return { ...base, place, velocity: told };
    }
    if (flies && !falling && isProjectile(base.kind) && this.bit(models.steady, onlyPlace)) {
      return { ...base, place: this.drift(now.place, place), velocity: told };
    }
    const turn = signed8(this.fine(models.turn, signed8(now.yaw - base.yaw)));
    const yaw = (base.yaw + turn) & 255;
    const moves = before[0] !== 0 || before[1] !== 0;
    if (course !== noCourse) told = [...onCourse(pace, yaw, course), told[2]];
    else if (moves && turn !== 0) told = this.veer(told, turn, now.velocity);
    const other = this.bit(models.speeds + 2 * gait + (turn !== 0 ? 1 : 0),
      now.velocity[0] !== told[0] || now.velocity[1] !== told[1]);
    const change: Change = { other, course: false, flies, leap: '' };
    if (other) {
      const [velocity, on] = this.velocity(now.velocity, told, moves, course, yaw);
      told = velocity;
      change.course = on && course !== noCourse;
    }
    told[2] = this.climb(now.velocity[2], told[2], before[2], gait, change);
    place = this.foretold(base, told, turn, !other && course !== noCourse);
    if (change.leap === 'lands' && this.ground >= 0) place[2] = this.ground;
    if (change.leap === 'jumps') {
      const risen = Math.trunc((jump * jump - told[2] * told[2] + 2 * pull) / (4 * pull));
      place[2] = within(base.place[2] + risen);
    }
    place = this.place(now.place, place, base, told, turn, gait, change);
    if (told[2] === 0 && gait !== gaits.rests) this.ground = place[2];
    const pitch = this.bit(models.nods + (turn !== 0 ? 1 : 0), now.pitch !== base.pitch)
      ? signed8(base.pitch + this.number(models.nod, now.pitch - base.pitch)) : base.pitch;
    check(Math.abs(pitch) <= 64, 'the pitch of an entity');
    const out: MovingEntity = { ...base, place, velocity: told, yaw, pitch };
    if (this.bit(models.lesser + (other ? 1 : 0), this.lesser(now, base))) {
      this.looks(out, now, base, (before[2] === 0) !== (told[2] === 0));
    }
    return out;
  }

  /** Somebody who was not. */
  whole(now: MovingEntity): MovingEntity {
    const slot = this.sized(models.slot, now.id % 2 ** slotBits, slotBits);
    const id = this.sized(models.generation, Math.floor(now.id / 2 ** slotBits), 32 - slotBits) * 2 ** slotBits + slot;
    const x = this.coder.raw(13, now.place[0]);
    const y = this.coder.raw(13, now.place[1]);
    this.level += this.number(models.level, now.place[2] - this.level);
    check(this.level >= 0 && this.level < cellSteps, 'the place of an entity');
    if (!this.bit(models.sameKind, now.kind === this.kindBefore)) this.kindBefore = this.byte(now.kind);
    const yaw = this.byte(now.yaw);
    const flags = this.unless(models.usualFlags, grounded, now.flags);
    const pitch = signed8(this.unless(models.levelPitch, 0, now.pitch & 255));
    const health = this.unless(models.fullHealth, 255, now.health);
    const state = this.unless(models.noState, 0, now.state);
    const still = this.bit(models.still, same(now.velocity, [0, 0, 0]));
    let velocity: Triple = [0, 0, 0];
    if (!still) {
      [velocity] = this.velocity(now.velocity, velocity, false, noCourse, yaw);
      velocity[2] = fitting(this.number(models.climb, now.velocity[2]));
    }
    const place: Triple = [x, y, this.level];
    checkEntity(id, place, pitch);
    return { id, place, velocity, kind: this.kindBefore, yaw, pitch, health, state, flags, fields: [] };
  }

  /** Somebody of a block that is told plainly. */
  plain(now: MovingEntity): MovingEntity {
    const id = this.coder.raw(32, now.id);
    const place = now.place.map((steps) => this.coder.raw(13, steps)) as Triple;
    const velocity = now.velocity.map((steps) => (this.coder.raw(16, steps & 0xffff) << 16) >> 16) as Triple;
    const [yaw, pitch] = [this.byte(now.yaw), signed8(this.byte(now.pitch & 255))];
    const [health, state, flags, kind] = [now.health, now.state, now.flags, now.kind].map((byte) => this.byte(byte));
    checkEntity(id, place, pitch);
    return { id, place, velocity, kind, yaw, pitch, health, state, flags, fields: [] };
  }

  private bit(at: number, value: boolean): boolean {
    return this.coder.bit(this.odds, at, value);
  }
  private number(tree: number, value: number): number {
    return codeNumber(this.coder, this.odds, tree, value);
  }
  private byte(value: number): number {
    return this.coder.raw(8, value);
  }
  private unless(at: number, usual: number, value: number): number {
    return this.bit(at, value === usual) ? usual : this.byte(value);
  }
  private smallOrByte(odd: number, small: number, value: number): number {
    return this.bit(odd, value > 15) ? this.byte(value) : codeTree(this.coder, this.odds, small, value & 15);
  }
  /** A number from 0 on: how many bits, then those below the highest; 15: as many as there may be. */
  private sized(tree: number, value: number, bits: number): number {
    const width = codeTree(this.coder, this.odds, tree, Math.min(bitWidth(value), 15));
    if (width === 15) return this.coder.raw(bits, value);
    if (width < 2) return width;
    const top = 1 << (width - 1);
    return top + this.coder.raw(width - 1, value & (top - 1));
  }
  /** A number that is most often 0 or 1 off. */
  private fine(at: number, value: number): number {
    if (!this.bit(at, value !== 0)) return 0;
    if (!this.bit(at + 1, Math.abs(value) > 1)) return this.bit(at + 2, value < 0) ? -1 : 1;
    const beyond = this.number(at + 3, value < 0 ? value + 1 : value - 1);
    return beyond < 0 ? beyond - 1 : beyond + 1;
  }

  /** From sixths of steps of velocity times ticks to steps of position, halves away from 0. */
  private steps(sixths: number): number {
    const size = Math.floor((Math.abs(sixths) * 8 + 3 * this.rate) / (6 * this.rate));
    return sixths < 0 ? -size : size;
  }

  /** As if it had changed evenly, or where it leads if it is kept; who follows its course went along an arc. */
  private foretold(base: MovingEntity, now: Triple, turn: number, follows: boolean): Triple {
    const before = base.velocity;
    const age = this.age;
    const kept = before[0] === now[0] && before[1] === now[1];
    const midway = follows ? rotated(before, Math.trunc(turn / 2)) : before;
    const way = (axis: 0 | 1): number => {
      const [a, b] = [before[axis], now[axis]];
      if (kept) return steadyWay(a, this.time);
      if (follows) return this.steps(age * (a + 4 * midway[axis] + b) + 3 * (b - a));
      return this.steps(3 * (a * (age - 1) + b * (age + 1)));
    };
    const rise = before[2] === now[2] ? steadyWay(now[2], this.time) : this.steps(3 * (before[2] + now[2]) * age);
    return [within(base.place[0] + way(0)), within(base.place[1] + way(1)), within(base.place[2] + rise)];
  }

  /** Does who flies fall? Of monsters and projectiles it is told whether that foretells better than that they go on. */
  private falls(now: number, before: number, kind: number): boolean {
    if (alwaysFalls(kind)) return true;
    const down = fallen(before, this.rules.pull, this.age, this.rate);
    return this.bit(models.falls + (isProjectile(kind) ? 1 : 0), Math.abs(now - down) < Math.abs(now - before));
  }

  /** A projectile that keeps its way. */
  private drift(now: Triple, told: Triple): Triple {
    const place = told.map((at, axis) => at + this.fine(models.drift, now[axis] - at)) as Triple;
    return checkedPlace(place);
  }

  /** Who turns while it walks walks on where it looks. */
  private veer(told: Triple, turn: number, now: Triple): Triple {
    const turned = rotated(told, turn);
    const off = (v: Triple): number => Math.abs(now[0] - v[0]) + Math.abs(now[1] - v[1]);
    return this.bit(models.veers, off(turned) < off(told)) ? turned : told;
  }

  /** Another velocity over the ground: none, a course, another direction at the pace, or any; and: is it a course? */
  private velocity(now: Triple, told: Triple, moves: boolean, before: number, yaw: number): [Triple, boolean] {
    const { pace } = this.rules;
    if (moves && this.bit(models.stops, now[0] === 0 && now[1] === 0)) return [[0, 0, told[2]], false];
    const course = this.coder.writing ? courseOf(now, yaw, pace) : noCourse;
    if (this.bit(models.course, course !== noCourse)) {
      const from = before === noCourse ? 0 : before;
      const odds = models.heading + (before === noCourse ? 0 : 8);
      let at = 1;
      for (let i = 2; i >= 0; --i) at = 2 * at + (this.bit(odds + at, (((course - from) >> i) & 1) !== 0) ? 1 : 0);
      return [[...onCourse(pace, yaw, (from + at) & 7), told[2]], true];
    }
    const angle = this.coder.writing ? angleOf(now[0], now[1]) : 0;
    const paced = atAngle(pace, angle);
    if (this.bit(models.atPace, paced[0] === now[0] && paced[1] === now[1])) {
      return [[...atAngle(pace, this.byte(angle)), told[2]], false];
    }
    const x = fitting(told[0] + this.number(models.speed, now[0] - told[0]));
    const y = fitting(told[1] + this.number(models.speed, now[1] - told[1]));
    return [[x, y, told[2]], false];
  }

  /** Another velocity up or down than foretold. */
  private climb(now: number, told: number, before: number, gait: number, change: Change): number {
    if (!this.bit(models.climbs + gait, now !== told)) return told;
    const flies = gait === gaits.flies;
    if (flies && this.bit(models.lands, now === 0)) {
      change.leap = 'lands';
      return 0;
    }
    const { pull } = this.rules;
    if (before === 0 && pull > 0) {
      const less = jump - now;
      const ticks = less < 0 ? 0 : Math.floor((less * this.rate + 8 * pull) / (16 * pull));
      const jumped = (since: number): number => fallen(jump, pull, since, this.rate);
      if (this.bit(models.jumps, ticks >= 1 && ticks <= momentsMax && Math.abs(now - jumped(ticks)) <= 1)) {
        const up = jumped(codeTree(this.coder, this.odds, models.jumped, ticks & 15));
        change.leap = 'jumps';
        return fitting(up + this.fine(models.jump, now - up));
      }
    }
    return fitting(told + this.number(models.climb + (flies ? 16 : 0), now - told));
  }

  private place(
    now: Triple, told: Triple, base: MovingEntity, after: Triple, turn: number, gait: number, change: Change,
  ): Triple {
    const before = base.velocity;
    let [x, y, z] = told;
    let odds = [0, 0];
    if (!change.other || (before[0] === after[0] && before[1] === after[1])) {
      const blur = (speed: number): number =>
        gait === gaits.rests ? 0 : Math.min(3, bitWidth(Math.abs(speed * turn) >> 8));
      const arc = gait === gaits.follows;
      const first = arc ? 0 : gait === gaits.flies ? 4 : 8;
      odds = [blur(arc ? after[1] : 512), blur(arc ? after[0] : 512)].map((at) => models.place + 19 * (first + at));
    } else {
      const near = Math.abs(now[0] - x) <= 4 && Math.abs(now[1] - y) <= 4;
      const eases = change.flies && change.leap === '' && this.bit(models.eases, near);
      if (!eases) [x, y] = this.changedPlace(now, base, after, change.course);
      const at = models.changing + 19 * (eases ? 2 : change.course ? 1 : 0);
      odds = [at, at];
    }
    x += this.fine(odds[0], now[0] - x);
    y += this.fine(odds[1], now[1] - y);
    const leap = change.leap === 'lands' ? 1 : change.leap === 'jumps' ? 2 : 0;
    if (this.bit(models.lifts + (leap > 0 ? 7 + leap : 2 * gait + (change.other ? 1 : 0)), now[2] !== z)) {
      z += this.number(models.lift + 16 * (leap > 0 ? 1 + leap : change.flies ? 1 : 0), now[2] - z);
    }
    const place: Triple = [x, y, z];
    return checkedPlace(place);
  }

  /** Where somebody is who changed its velocity at one moment. */
  private changedPlace(now: Triple, base: MovingEntity, after: Triple, course: boolean): [number, number] {
    const change = [after[0] - base.velocity[0], after[1] - base.velocity[1]];
    const size = course ? lengthOf(change[0], change[1]) : 0;
    const takes = course ? Math.floor((size * this.rate * this.moments) / acceleration) : 0;
    const way = (axis: 0 | 1, moment: number): number => {
      const since = this.age * moment;
      const rising = Math.min(since, takes);
      const held = takes === 0 ? since
        : Math.floor((Math.floor((rising * (rising + this.moments)) / 2) + takes * (since - rising)) / takes);
      const part = Math.trunc((change[axis] * held) / Math.max(this.moments, 1));
      return this.steps(6 * (base.velocity[axis] * this.age + part));
    };
    let told = 0;
    if (this.coder.writing) {
      const axis = Math.abs(change[1]) > Math.abs(change[0]) ? 1 : 0;
      const off = (moment: number): number => Math.abs(now[axis] - base.place[axis] - way(axis, moment));
      for (let i = 1; i <= this.moments; ++i) if (off(i) < off(told)) told = i;
    }
    const moment = codeTree(this.coder, this.odds, models.moment + (course ? 16 : 0), told);
    check(moment <= this.moments, 'the moment of a change');
    return [within(base.place[0] + way(0, moment)), within(base.place[1] + way(1, moment))];
  }

  private lesser(a: MovingEntity, b: MovingEntity): boolean {
    return a.health !== b.health || a.state !== b.state || a.flags !== b.flags || a.kind !== b.kind;
  }

  private looks(out: MovingEntity, now: MovingEntity, base: MovingEntity, leftGround: boolean): void {
    if (this.bit(models.health, now.health !== base.health)) {
      out.health = (base.health + this.number(models.hurt, now.health - base.health)) & 255;
    }
    if (this.bit(models.state, now.state !== base.state)) {
      out.state = this.smallOrByte(models.oddMood, models.mood, now.state);
    }
    if (this.bit(models.flags + (leftGround ? 1 : 0), now.flags !== base.flags)) {
      out.flags = base.flags ^ this.smallOrByte(models.oddFlag, models.flag, now.flags ^ base.flags);
    }
    if (this.bit(models.kind, now.kind !== base.kind)) out.kind = this.byte(now.kind);
  }
}
