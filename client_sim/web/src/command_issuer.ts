// Issues the commands of a player, each at its time and until it is confirmed (WIRE.md, Inputs).

import { playable, writeInput, type Command, type NumberedCommand } from './client_messages';
import { InputClock } from './input_clock';
import { writePackedInput } from './packed_input';
import { ticksSince, type SnapshotHead } from './snapshot';
import type { View } from './view';
import type { Welcome } from './welcome';

const commandsMax = 8;
const seenMax = 65535;

export class CommandIssuer {
  private readonly clock: InputClock;
  private readonly world: number;
  private commands: NumberedCommand[] = [];  // that no snapshot has confirmed, newest first

  constructor(welcome: Welcome, private readonly packed: boolean) {
    this.clock = new InputClock(welcome.tickRateHz, welcome.snapshotEveryTicks);
    this.world = welcome.world;
  }

  /** A newer snapshot came. */
  observe(now: number, { tick, appliedTick, inputAhead }: SnapshotHead, rttMs: number): void {
    // 0: none was applied yet, whatever their ticks are.
    if (appliedTick !== 0) this.commands = this.commands.filter((one) => ticksSince(one.tick, appliedTick) > 0);
    this.clock.observe(now, tick, inputAhead, rttMs);
  }

  /** Messages that are due, each with the commands before its own that may be lost. */
  due(now: number, rttMs: number, command: Command, view: View): Uint8Array[] {
    const messages: Uint8Array[] = [];
    for (let tick = this.clock.next(now, rttMs); tick !== undefined; tick = this.clock.next(now, rttMs)) {
      const sawBefore = view.completeTick === 0 ? 0 : ticksSince(tick, view.completeTick);
      const seen = sawBefore > 0 && sawBefore <= seenMax ? sawBefore : 0;
      const consecutive = this.commands[0]?.tick === ((tick - 1) >>> 0);
      const unconfirmed = consecutive ? this.commands.slice(0, commandsMax - 1) : [];
      this.commands = [{ ...playable(command), tick, seen }, ...unconfirmed];
      messages.push(this.packed
        ? writePackedInput(this.commands, this.world, view.lostEpoch)
        : writeInput(this.commands, view.tick, this.world, view.lostEpoch));
    }
    return messages;
  }
}
