// What the blocks of a world are like (WIRE.md, Kinds of blocks).

import { ByteReader, check } from './bytes';

/** A box of a block's shape, in 1/16 m from its corner. */
export interface ShapeBox {
  min: [number, number, number];
  max: [number, number, number];
}

/** A kind's number is its place in the list. */
export interface BlockKind {
  name: string;
  opaque: boolean;
  liquid: boolean;
  climbable: boolean;
  falls: boolean;
  /** Holds a text that players write. */
  text: boolean;
  /** Stacks of items that it holds. */
  slots: number;
  light: number;
  /** Points a second that it takes from whoever stands in it. */
  damage: number;
  drops: number;
  /** Seconds to dig it by hand, pick, axe, shovel; -1 for never. */
  hardnessS: number[];
  friction: number;
  jump: number;
  /** So long after it was put there it becomes another kind, or explodes; 0: it stays. */
  timerS: number;
  becomes: number;
  blastM: number;
  /** What it is to who holds it: 0 nothing but a block, 1 a pick, 2 an axe, 3 a shovel. */
  tool: number;
  boxes: ShapeBox[];
}

const bytesMax = 36864;
const format = 4;

function readBox(reader: ByteReader): ShapeBox {
  const [west, south, bottom, east, north, top] = Array.from({ length: 6 }, () => reader.u8());
  check(west < east && south < north && bottom < top && Math.max(east, north, top) <= 16, 'the shape of a block');
  return { min: [west, south, bottom], max: [east, north, top] };
}

function readKind(reader: ByteReader, kinds: number): BlockKind {
  const name = String.fromCharCode(...reader.take(reader.u8()));
  check(/^[a-z0-9_]{1,32}$/.test(name), 'the name of a block');
  const [flags, slots, light, damage, drops] = [reader.u8(), reader.u8(), reader.u8(), reader.u16(), reader.u16()];
  check(flags < 32 && slots <= 36 && light <= 15 && damage <= 10000 && drops < kinds, 'a kind of block');
  const hardnessS = Array.from({ length: 4 }, () => reader.f64());
  check(hardnessS.every((s) => s === -1 || (s >= 0 && s <= 600)), 'the hardness of a block');
  const [friction, jump, timerS, becomes] = [reader.f64(), reader.f64(), reader.f64(), reader.u16()];
  const [blastM, tool, boxCount] = [reader.f64(), reader.u8(), reader.u8()];
  check(timerS === 0 || (timerS >= 0.1 && timerS <= 604800), 'the timer of a block');
  check(becomes < kinds && blastM >= 0 && blastM <= 7, 'what a block becomes');
  check(tool <= 3, 'the tool that a kind is');
  check(friction >= 0 && friction <= 4 && jump >= 0 && jump <= 4 && boxCount <= 4, 'a kind of block');
  return {
    name, slots, light, damage, drops, hardnessS, friction, jump, timerS, becomes, blastM, tool,
    opaque: (flags & 1) !== 0, liquid: (flags & 2) !== 0, climbable: (flags & 4) !== 0, falls: (flags & 8) !== 0,
    text: (flags & 16) !== 0,
    boxes: Array.from({ length: boxCount }, () => readBox(reader)),
  };
}

/** Throws a WireError for what are no kinds. */
export function readBlockKinds(bytes: Uint8Array): BlockKind[] {
  check(bytes.length <= bytesMax, 'the kinds of blocks');
  const reader = new ByteReader(bytes);
  check(reader.u8() === format, 'the format of the kinds of blocks');
  const count = reader.u16();
  check(count >= 1 && count <= 256, 'the number of kinds of blocks');
  const kinds = Array.from({ length: count }, () => readKind(reader, count));
  check(reader.left === 0 && new Set(kinds.map(({ name }) => name)).size === count, 'the kinds of blocks');
  return kinds;
}
