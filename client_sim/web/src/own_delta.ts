// The own player of packed snapshots, from bits to checked values (WIRE.md, Packed snapshots).

import { BitReader } from './bits';
import { check } from './bytes';
import { isInWorld } from './snapshot';

/** The own player: its 16 numbers in the order in which they travel, velocity and position first. */
export interface OwnState {
  id: number;
  numbers: number[];
  grounded: number;
  stuckTicks: number;
  noclip: number;
  health: number;
  deltaYaw: number;
}

const speedMax = 1e4;
const eyeOffsetMax = 16;
/** Who has it walks; is granted to fly through everything; is a spectator. */
const noclipMax = 2;

/** Throws a WireError unless the simulation could hold such a player. */
export function checkOwn(own: OwnState): void {
  const three = (from: number): number[] => own.numbers.slice(from, from + 3);
  const places = [3, 6, 12].every((from) => isInWorld(three(from)));
  const speeds = [0, 9].every((from) => three(from).every((speed) => Math.abs(speed) <= speedMax));
  check(places && speeds && Math.abs(own.numbers[15]) <= eyeOffsetMax, 'the own player');
  check(own.id !== 0 && own.grounded <= 1 && own.noclip <= noclipMax, 'the own player');
}

const doubleBytes = new DataView(new ArrayBuffer(8));
const sign = 1n << 63n;

/** A double's place in the order of all doubles. */
function orderOf(value: number): bigint {
  doubleBytes.setFloat64(0, value);
  const bits = doubleBytes.getBigUint64(0);
  return bits & sign ? BigInt.asUintN(64, ~bits) : bits | sign;
}

function doubleAt(order: bigint): number {
  doubleBytes.setBigUint64(0, order & sign ? order & ~sign : BigInt.asUintN(64, ~order));
  return doubleBytes.getFloat64(0);
}

function readNumber(bits: BitReader, told: number): number {
  if (!bits.bit()) return told;
  const bytes = bits.get(3) + 1;
  let folded = 0n;
  for (let i = 0; i < bytes; ++i) folded |= BigInt(bits.get(8)) << BigInt(8 * i);
  const off = folded & 1n ? ~(folded >> 1n) : folded >> 1n;
  return doubleAt(BigInt.asUintN(64, orderOf(told) + off));
}

/** Number i as the base foretells it, those before it known. */
function foretoldNumber(known: number[], base: number[], i: number, age: number, tickRateHz: number): number {
  if (i >= 3 && i < 6) {
    const stepM = known[i - 3] * (1 / tickRateHz);
    let at = base[i];
    for (let tick = 0; tick < age; ++tick) at += stepM;
    return at;
  }
  return i >= 6 && i < 9 && base[i - 3] === base[i] ? known[i - 3] : base[i];
}

/** What an own player without a base is told against. */
const nobody: OwnState = {
  id: 0, numbers: new Array<number>(16).fill(0), grounded: 0, stuckTicks: 0, noclip: 0, health: 0, deltaYaw: 0,
};

/** Throws a WireError for what is no own player. */
export function readOwnState(
  bytes: Uint8Array, base: OwnState | undefined, age: number, tickRateHz: number,
): OwnState {
  const bits = new BitReader(bytes);
  const before = base ?? nobody;
  const own: OwnState = { ...before, id: bits.bit() ? bits.get(32) : before.id, numbers: [] };
  for (let i = 0; i < before.numbers.length; ++i) {
    own.numbers.push(readNumber(bits, foretoldNumber(own.numbers, before.numbers, i, age, tickRateHz)));
  }
  if (bits.bit()) {
    [own.grounded, own.stuckTicks, own.noclip, own.health] = [bits.get(8), bits.get(8), bits.get(8), bits.get(8)];
    own.deltaYaw = bits.get(16);
  }
  bits.end();
  checkOwn(own);
  return own;
}
