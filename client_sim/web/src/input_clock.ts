// Says when the command of which server tick is issued (WIRE.md, Inputs): so that it arrives a little before it is
// needed, neither late nor beyond what the server takes ahead.

import { ticksSince } from './snapshot';

const wishTicks = 2;
const windowMs = 500;
const slopeMax = 1 / 16;
const stretchedTicksMax = 8;  // larger errors are jumped
const stallMs = 125;

export class InputClock {
  private tick = 0;  // of the next command
  private dueAt = 0;
  private slope = 0;
  private leadMin = Infinity;
  private windowEnd = 0;
  private blindUntil = 0;  // snapshots before this tick do not show the last change yet
  private snapshotTick = 0;
  running = false;

  constructor(private readonly tickRateHz: number) {}

  private get plainMs(): number {
    return 1000 / this.tickRateHz;
  }

  /** How far ahead of the newest snapshot a command may be: round trip, wish and half a second, but 48 ticks. */
  private reach(rttMs: number): number {
    return Math.min(48, Math.ceil(rttMs / this.plainMs) + wishTicks + Math.ceil(this.tickRateHz / 2));
  }

  /** A newer snapshot came. @param inputAhead ticks that the newest command was ahead of it */
  observe(now: number, snapshotTick: number, inputAhead: number | undefined, rttMs: number): void {
    this.snapshotTick = snapshotTick;
    if (!this.running) {
      this.running = true;
      this.jumpTo(now, snapshotTick + wishTicks + 1 + Math.ceil(rttMs / this.plainMs));
      return;
    }
    if (inputAhead === undefined || ticksSince(snapshotTick, this.blindUntil) < 0) return;
    this.leadMin = Math.min(this.leadMin, inputAhead);
    if (now >= this.windowEnd) this.correct(now);
  }

  private correct(now: number): void {
    const error = this.leadMin - wishTicks;
    if (error < -stretchedTicksMax) this.jumpTo(now, this.tick - error);
    else if (error > stretchedTicksMax) this.jumpTo(now + error * this.plainMs, this.tick);
    else this.slope = Math.max(-slopeMax, Math.min(slopeMax, (error * this.plainMs) / windowMs / 2));
    this.leadMin = Infinity;
    this.windowEnd = now + windowMs;
  }

  private jumpTo(at: number, tick: number): void {
    this.tick = tick >>> 0;
    this.dueAt = at;
    this.slope = 0;
    this.leadMin = Infinity;
    this.windowEnd = at + windowMs;
    this.blindUntil = this.tick;
  }

  /** The tick of a command that is due; to be called until it gives none. */
  next(now: number, rttMs: number): number | undefined {
    if (!this.running || now < this.dueAt) return undefined;
    if (now - this.dueAt > stallMs) this.jumpTo(now, this.tick + Math.floor((now - this.dueAt) / this.plainMs));
    const period = this.plainMs * (1 + this.slope);
    this.dueAt += period;
    if (ticksSince(this.tick, this.snapshotTick) > this.reach(rttMs)) return undefined;
    const tick = this.tick;
    this.tick = (this.tick + 1) >>> 0;
    return tick;
  }
}
