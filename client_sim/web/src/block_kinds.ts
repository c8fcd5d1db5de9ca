// What the blocks of a world are like (WIRE.md, Kinds of blocks).

import { blockKindsMax } from './block_changes';
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

// Worlds are made of these, so every world has them in their places (docs/blocks.md).
const worldKinds = [
  'air', 'stone', 'dirt', 'grass', 'sand', 'gravel', 'wood', 'leaves', 'brick', 'glass', 'water', 'snow', 'clay',
  'sandstone', 'pine_wood', 'pine_needles', 'birch_wood', 'birch_leaves', 'coal_ore', 'iron_ore', 'gold_ore',
  'crystal_ore', 'stone_slab', 'stone_stairs_east', 'stone_stairs_north', 'stone_stairs_west', 'stone_stairs_south',
  'wood_post', 'ladder', 'lamp',
];
// Its loot comes of its place, once: it neither moves nor comes anew.
const treasure = 'treasure';

const isFull = ({ boxes }: BlockKind): boolean =>
  boxes.length === 1 && boxes[0].min.every((low) => low === 0) && boxes[0].max.every((high) => high === 16);
const holdsData = ({ text, slots, timerS }: BlockKind): boolean => text || slots > 0 || timerS > 0;

/** Does what it says of itself fit together? */
function isWhole(kind: BlockKind): boolean {
  const moves = kind.falls || kind.liquid;
  const shaped = !(kind.liquid && kind.boxes.length > 0) && (!kind.falls || isFull(kind));
  const stands = kind.tool === 0 || !(moves || holdsData(kind));
  const changes = kind.timerS !== 0 || (kind.becomes === 0 && kind.blastM === 0);
  return shaped && stands && changes && !(holdsData(kind) && moves) && !(kind.becomes !== 0 && kind.blastM > 0);
}

/** And beside the others? */
function fits(kind: BlockKind, number: number, kinds: readonly BlockKind[]): boolean {
  const then = kinds[kind.becomes];
  const ends = !(kind.timerS > 0 && kind.becomes === number) && then.tool === 0 && then.name !== treasure;
  const stays = kind.name !== treasure || !(kind.falls || kind.liquid || kind.tool !== 0);
  const ofWorld = number >= worldKinds.length || (kind.name === worldKinds[number] && kind.tool === 0);
  return ends && stays && ofWorld;
}

/** Air is what nothing is. */
function isAir(kind: BlockKind): boolean {
  const seen = kind.opaque || kind.climbable || kind.liquid || kind.boxes.length > 0 || kind.light > 0;
  const felt = kind.damage > 0 || kind.friction !== 1 || kind.jump !== 1 || kind.hardnessS.some((s) => s !== 0);
  return !seen && !felt && !holdsData(kind) && kind.drops === 0;
}

/** Throws a WireError for what are no kinds. */
export function readBlockKinds(bytes: Uint8Array): BlockKind[] {
  check(bytes.length <= bytesMax, 'the kinds of blocks');
  const reader = new ByteReader(bytes);
  check(reader.u8() === format, 'the format of the kinds of blocks');
  const count = reader.u16();
  check(count >= worldKinds.length && count <= blockKindsMax, 'the number of kinds of blocks');
  const kinds = Array.from({ length: count }, () => readKind(reader, count));
  check(reader.left === 0 && new Set(kinds.map(({ name }) => name)).size === count, 'the kinds of blocks');
  check(kinds.every((kind, i) => isWhole(kind) && fits(kind, i, kinds)) && isAir(kinds[0]), 'a kind of block');
  return kinds;
}
