// Kinds of blocks and of what is told, as bytes: those of every world, and what a test wants besides.

import { ByteWriter } from '../src/bytes';
import type { Replication } from '../src/replication';

export const usualKinds = [
  'air', 'stone', 'dirt', 'grass', 'sand', 'gravel', 'wood', 'leaves', 'brick', 'glass', 'water', 'snow', 'clay',
  'sandstone', 'pine_wood', 'pine_needles', 'birch_wood', 'birch_leaves', 'coal_ore', 'iron_ore', 'gold_ore',
  'crystal_ore', 'stone_slab', 'stone_stairs_east', 'stone_stairs_north', 'stone_stairs_west', 'stone_stairs_south',
  'wood_post', 'ladder', 'lamp',
];

export interface WrittenKind {
  name: string;
  flags: number;
  slots: number;
  light: number;
  damage: number;
  drops: number;
  hardness: number[];
  friction: number;
  jump: number;
  timer: number;
  becomes: number;
  blast: number;
  tool: number;
  boxes: number[][];
}

export function f64(value: number): Uint8Array {
  return new Uint8Array(new Float64Array([value]).buffer);
}

function putKind(writer: ByteWriter, kind: WrittenKind): void {
  writer.u8(kind.name.length);
  writer.put(new TextEncoder().encode(kind.name));
  for (const byte of [kind.flags, kind.slots, kind.light]) writer.u8(byte);
  for (const number of [kind.damage, kind.drops]) writer.u16(number);
  for (const number of [...kind.hardness, kind.friction, kind.jump, kind.timer]) writer.put(f64(number));
  writer.u16(kind.becomes);
  writer.put(f64(kind.blast));
  writer.u8(kind.tool);
  writer.u8(kind.boxes.length);
  for (const box of kind.boxes) writer.put(Uint8Array.from(box));
}

/** @param changes by number: of those of every world, or of others behind them */
export function writeKinds(changes: Record<number, Partial<WrittenKind>> = {}): Uint8Array {
  const writer = new ByteWriter();
  const count = Math.max(usualKinds.length, ...Object.keys(changes).map((number) => Number(number) + 1));
  writer.u8(4);
  writer.u16(count);
  for (let i = 0; i < count; ++i) {
    putKind(writer, {
      name: usualKinds[i] ?? `kind_${i}`, flags: 0, slots: 0, light: 0, damage: 0, drops: 0, hardness: [0, 0, 0, 0],
      friction: 1, jump: 1, timer: 0, becomes: 0, blast: 0, tool: 0, boxes: [], ...changes[i],
    });
  }
  return writer.finish();
}

const standard: [string, number, number, number][] = [
  ['x', 13, 2, 128], ['y', 13, 2, 128], ['z', 13, 2, 128], ['velocity_x', 16, 1, 16], ['velocity_y', 16, 1, 16],
  ['velocity_z', 16, 1, 16], ['yaw', 8, 2, 256], ['pitch', 8, 3, 256], ['health', 8, 0, 255], ['state', 8, 0, 1],
  ['flags', 8, 0, 1], ['kind', 8, 0, 1],
];

function putName(bytes: ByteWriter, name: string): void {
  bytes.u8(name.length);
  bytes.put(new TextEncoder().encode(name));
}

export function writeReplication(replication: Replication): Uint8Array {
  const bytes = new ByteWriter();
  bytes.u8(2);
  bytes.u8(standard.length);
  for (const [name, bits, flags, perOne] of standard) {
    putName(bytes, name);
    bytes.u8(bits);
    bytes.u8(flags);
    bytes.put(f64(1 / perOne));
  }
  bytes.u8(replication.kinds.length);
  for (const kind of replication.kinds) {
    bytes.u8(kind.first);
    bytes.u8(kind.last);
    putName(bytes, kind.name);
    bytes.u8(kind.motionPredicted ? 1 : 0);
    bytes.u8(kind.fields.length);
    for (const field of kind.fields) {
      putName(bytes, field.name);
      bytes.u8(field.bits);
      bytes.u8(['all', 'owner', 'team'].indexOf(field.to) + (field.interpolated ? 4 : 0));
      bytes.put(f64(field.low));
      bytes.put(f64(field.step));
    }
  }
  for (const messages of [replication.messages, replication.clientMessages]) {
    bytes.u8(messages.length);
    for (const { name, bytesMax } of messages) {
      putName(bytes, name);
      bytes.u16(bytesMax);
    }
  }
  return bytes.finish();
}
