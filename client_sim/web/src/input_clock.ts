// Says when the command of which server tick is issued (WIRE.md, Inputs): so that it arrives a little before it is
// needed, neither late nor beyond what the server takes ahead.

import { ticksSince } from './snapshot';

const longTickMs = 50;  // from here on a player feels each tick that a command waits
const windowMs = 500;
const slopeMax = 1 / 16;
const stretchedTicksMax = 8;  // larger errors are jumped
const stallMs = 125;
// Farthest ahead of its own tick that the server takes a command, less one for the tick that is about to begin.
const serverReachTicks = 62;
const rttTicksMax = 1000;

export class InputClock {
  private tick = 0;  // of the next command
  private dueAt = 0;
  private slope = 0;
  private leadMin = Infinity;
  private windowEnd = 0;
  private blindUntil = 0;  // snapshots before this tick do not show the last change yet
  private snapshotTick = 0;
  private readonly wishTicks: number;  // that commands should wait at the server, at least
  running = false;

  constructor(private readonly tickRateHz: number, private readonly snapshotEveryTicks = 1) {
    this.wishTicks = this.plainMs < longTickMs ? 2 : 1;
  }

  private get plainMs(): number {
    return 1000 / this.tickRateHz;
  }

  private rttTicks(rttMs: number): number {
    return Math.min(rttTicksMax, Math.ceil(rttMs / this.plainMs));
  }

  /**
   * How far ahead of the newest snapshot a command may be. The server counts from its own tick, which is a round trip
   * ahead of what is seen of it: only what goes beyond that and the wish is bounded, by half a second within 8 to 32
   * ticks.
   */
  private reach(rttMs: number): number {
    const half = Math.max(8, Math.min(32, Math.floor(this.tickRateHz / 2)));
    const ahead = Math.min(half + this.snapshotEveryTicks - 1, serverReachTicks - this.wishTicks);
    return this.rttTicks(rttMs) + this.wishTicks + ahead;
  }

  /** A newer snapshot came. @param inputAhead ticks that the newest command was ahead of it */
  observe(now: number, snapshotTick: number, inputAhead: number | undefined, rttMs: number): void {
    this.snapshotTick = snapshotTick;
    if (!this.running) {
      this.running = true;
      this.jumpTo(now, snapshotTick + this.wishTicks + 1 + this.rttTicks(rttMs));
      return;
    }
    if (inputAhead === undefined || ticksSince(snapshotTick, this.blindUntil) < 0) return;
    this.leadMin = Math.min(this.leadMin, inputAhead);
    if (now >= this.windowEnd) this.correct(now);
  }

  private correct(now: number): void {
    const error = this.leadMin - this.wishTicks;
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
