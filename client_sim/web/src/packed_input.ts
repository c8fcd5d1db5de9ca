// Commands in few bytes, each by what differs from the one after it (WIRE.md, Packed inputs).

import { BitWriter } from './bits';
import { ByteWriter } from './bytes';
import { standStill, type NumberedCommand } from './client_messages';

const mark = 1;
const turnBits = 9;
const seenBits = 4;

type Steps = Omit<NumberedCommand, 'tick'>;

/** By how much a number of 16 bits that wraps grew, narrow where that holds it. */
function putChange(bits: BitWriter, now: number, before: number, narrowBits: number): void {
  const change = ((now - before) << 16) >> 16;
  bits.bit(change !== 0);
  if (change === 0) return;
  const narrow = change >= -(2 ** (narrowBits - 1)) && change < 2 ** (narrowBits - 1);
  bits.bit(!narrow);
  bits.signed(change, narrow ? narrowBits : 16);
}

function putCommand(bits: BitWriter, now: Steps, before: Steps): void {
  const axes = now.forward !== before.forward || now.left !== before.left;
  const pressed = now.buttons !== before.buttons;
  const turned = now.yaw !== before.yaw || now.pitch !== before.pitch;
  const differs = axes || pressed || turned || now.seen !== before.seen;
  bits.bit(differs);
  if (!differs) return;
  bits.bit(axes);
  if (axes) {
    bits.signed(now.forward, 8);
    bits.signed(now.left, 8);
  }
  putChange(bits, now.yaw, before.yaw, turnBits);
  putChange(bits, now.pitch, before.pitch, turnBits);
  bits.bit(pressed);
  if (pressed) bits.put(now.buttons, 16);
  putChange(bits, now.seen, before.seen, seenBits);
  // Of which two states the picture is made the server works out by itself.
  bits.bit(false);
}

/**
 * @param commands 1 to 8, newest first, of ticks one behind the other
 * @param lostEpoch of packed snapshots that cannot be read any more; 0: none
 */
export function writePackedInput(commands: readonly NumberedCommand[], world: number, lostEpoch: number): Uint8Array {
  const bytes = new ByteWriter(40);
  for (const byte of [mark, world, lostEpoch]) bytes.u8(byte);
  bytes.u32(commands[0].tick);
  const bits = new BitWriter();
  bits.put(commands.length - 1, 3);
  let before: Steps = { ...standStill, seen: 0 };
  for (const command of commands) {
    putCommand(bits, command, before);
    before = command;
  }
  bits.bit(false);  // nothing is foreseen
  bytes.put(bits.finish());
  return bytes.finish();
}
