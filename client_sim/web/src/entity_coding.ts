// How one entity of a block is told, for reader and writer alike (WIRE.md, Packed snapshots).

import { models, rotated } from './block_models';
import { check } from './bytes';
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

/** Steps that a speed makes in so many ticks, to the nearest one. */
const stepsOf = (speed: number, ticks: number, rate: number): number =>
  Math.floor((speed * ticks * 16 + rate) / (2 * rate));

/** Where it will be on an axis after so many ticks, kept within its cell. */
function foretoldPlace(place: number, velocity: number, ticks: number, rate: number): number {
  const steps = stepsOf(Math.abs(velocity), ticks, rate);
  return Math.max(0, Math.min(cellSteps - 1, place + (velocity < 0 ? -steps : steps)));
}

export class EntityCoding {
  private kindBefore = 0;
  private level: number;

  /** @param level z of the first one in the base; 0 where there is none */
  constructor(
    private readonly coder: Coder, private readonly odds: Odds, private readonly age: number,
    private readonly rate: number, level: number,
  ) {
    this.level = level;
  }

  /** Somebody who was in the base. @param now what is written; a reader gives the base */
  change(now: MovingEntity, base: MovingEntity): MovingEntity {
    const gait = same(base.velocity, [0, 0, 0]) ? 0 : base.velocity[2] !== 0 && !(base.flags & grounded) ? 2 : 1;
    let told: Triple = [...base.velocity];
    if (gait === 2) {
      const fallen = Math.max(-32768, told[2] - Math.floor((320 * this.age + (this.rate >> 1)) / this.rate));
      const falls = Math.abs(now.velocity[2] - fallen) <= Math.abs(now.velocity[2] - told[2]);
      if (this.bit(models.falls, falls)) told[2] = fallen;
    }
    let place = this.foretold(base, told);
    const asForetold = (): boolean => same(now.place, place) && same(now.velocity, told) && now.yaw === base.yaw
      && now.pitch === base.pitch && !this.lesser(now, base);
    if (!this.bit(models.changed + gait, this.coder.writing && !asForetold())) {
      return { ...base, place, velocity: told };
    }
    const turned = this.bit(models.turns + gait, now.yaw !== base.yaw);
    const turn = turned ? signed8(this.number(models.turn, signed8(now.yaw - base.yaw))) : 0;
    if (turn !== 0 && gait !== 0) {
      const veered = rotated(told, turn);
      const off = (v: Triple): number => Math.abs(now.velocity[0] - v[0]) + Math.abs(now.velocity[1] - v[1]);
      if (this.bit(models.veers, off(veered) < off(told))) told = veered;
    }
    const other = this.bit(models.speeds + gait, !same(now.velocity, told));
    if (other) told = this.velocity(now.velocity, told, gait);
    place = this.place(now.place, this.foretold(base, told), base.velocity, told, 2 * gait + (other ? 1 : 0));
    const pitch = this.bit(models.nods + (turn !== 0 ? 1 : 0), now.pitch !== base.pitch)
      ? signed8(base.pitch + this.number(models.nod, now.pitch - base.pitch)) : base.pitch;
    check(Math.abs(pitch) <= 64, 'the pitch of an entity');
    const out: MovingEntity = { ...base, place, velocity: told, yaw: (base.yaw + turn) & 255, pitch };
    if (this.bit(models.lesser + (other ? 1 : 0), this.lesser(now, base))) {
      this.looks(out, now, base, (base.velocity[2] === 0) !== (told[2] === 0));
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
    const velocity = still ? [0, 0, 0] as Triple : this.velocity(now.velocity, [0, 0, 0], 0);
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
    if (!this.bit(at + 1, Math.abs(value) > 1)) return this.coder.raw(1, value < 0 ? 1 : 0) ? -1 : 1;
    const beyond = this.number(at + 2, value < 0 ? value + 1 : value - 1);
    return beyond < 0 ? beyond - 1 : beyond + 1;
  }

  /** As if it had changed from one velocity to the other half-way. */
  private foretold(base: MovingEntity, now: Triple): Triple {
    return base.place.map((at, axis) =>
      foretoldPlace(at, (base.velocity[axis] + now[axis]) >> 1, this.age, this.rate)) as Triple;
  }

  private velocity(now: Triple, told: Triple, gait: number): Triple {
    if (gait !== 0 && this.bit(models.stops, same(now, [0, 0, 0]))) return [0, 0, 0];
    const x = told[0] + this.number(models.speed, now[0] - told[0]);
    const y = told[1] + this.number(models.speed, now[1] - told[1]);
    const flies = gait === 2 ? 1 : 0;
    const climbs = this.bit(models.climbs + flies, now[2] !== told[2]);
    const z = told[2] + (climbs ? this.number(models.climb + 16 * flies, now[2] - told[2]) : 0);
    check([x, y, z].every((steps) => steps >= -32768 && steps <= 32767), 'a velocity');
    return [x, y, z];
  }

  private place(now: Triple, told: Triple, before: Triple, after: Triple, lift: number): Triple {
    const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    const swap = Math.abs(dy) > Math.abs(dx);
    const [greater, less] = swap ? [dy, dx] : [dx, dy];
    const spread = stepsOf(Math.abs(greater) >> 1, this.age, this.rate);
    let [x, y] = [now[0] - told[0], now[1] - told[1]];
    if (spread === 0) {
      x = this.fine(models.place, x);
      y = this.fine(models.place + 18, y);
    } else {
      const width = bitWidth(spread);
      const tree = models.spread + 16 * (width > 8 ? 4 : (width - 1) >> 1);
      const first = this.number(tree, swap ? y : x);
      check(Math.abs(first) <= cellSteps, 'the place of an entity');
      const like = Math.trunc((first * less) / greater);
      const second = like + this.fine(models.place + 2 * 18, (swap ? x : y) - like);
      [x, y] = swap ? [second, first] : [first, second];
    }
    const lifted = this.bit(models.lifts + lift, now[2] !== told[2]);
    const z = lifted ? this.number(models.lift + 16 * (lift & 1), now[2] - told[2]) : 0;
    const place: Triple = [told[0] + x, told[1] + y, told[2] + z];
    check(place.every((steps) => steps >= 0 && steps < cellSteps), 'the place of an entity');
    return place;
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
