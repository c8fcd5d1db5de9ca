// The shapes of what a server says, by protocol/schema/server_message.fbs: fields in the schema's order.

import { scalar, struct, text, vectorOf, type TableShape } from './verifier';

const bool = scalar(1);
const u8 = scalar(1);
const u16 = scalar(2);
const u32 = scalar(4);
const u64 = scalar(8);
const f64 = scalar(8);

/** 45 of them: the order of rules.ts. */
const rules: TableShape = [
  u16, u8, u8, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, u8, u16, u16, f64, f64, f64, u8, u16,
  u8, u8, u8, u16, u16, u8, u8, u16, u8, u16, u16, u16, u16, u8, u16, f64, u16, u16, u16, f64, u16,
];

const placedMap: TableShape = [text, u64, u32, u32, u32, u32];

const welcome: TableShape = [
  vectorOf(1), bool, u8, u64, u32, u16, { kind: 'table', shape: rules }, { kind: 'tables', shape: placedMap }, text,
  vectorOf(40, 8), { kind: 'strings' }, u8, u16, u64, vectorOf(12, 4), bool, u64, u16, u16, vectorOf(24, 4), { kind: 'strings' }, u64,
];

/** Structs: OwnPlayer of 136 bytes, then the lists from blocks on. */
const snapshot: TableShape = [
  u32, u32, u8, u8, u8, u8, u8, u8, struct(136, 8), u16, vectorOf(12, 2), vectorOf(16, 4), vectorOf(8, 4), vectorOf(4),
  vectorOf(2), vectorOf(6, 2), vectorOf(12, 4), vectorOf(56, 8), vectorOf(4, 2), vectorOf(8, 4), vectorOf(4),
  vectorOf(20, 4), vectorOf(8, 4),
];

const chatLine: TableShape = [text, text];
const contentPart: TableShape = [u64, u32, u32, vectorOf(1)];
const contentRefused: TableShape = [u64, u8];
const actAnswers: TableShape = [u32, vectorOf(20, 4), u8];
const blockEdits: TableShape = [u32, u32, u32, u32, vectorOf(4, 2), u8];
const blockKinds: TableShape = [vectorOf(1), u8];
const saved: TableShape = [u32, u8];
const fight: TableShape = [u32, u8, u16, u16, u8, vectorOf(12, 4)];
const inventoryChange: TableShape = [u32, u8, bool, vectorOf(4, 2)];
const blockContents: TableShape = [u32, u8, bool, u32, u32, u32, vectorOf(4, 2), text, u64];
const weapon: TableShape = [
  text, u8, u8, u8, u8, u8, u8, u8, u16, u16, u8, u8, f64, f64, f64, f64, f64, f64, f64, u8, f64, f64, f64, f64,
];
const monsterShow: TableShape = [u8, text, text, text, text, text, text];
const monsterShows: TableShape = [{ kind: 'tables', shape: monsterShow }, u8];
const weaponKinds: TableShape = [{ kind: 'tables', shape: weapon }, vectorOf(6, 2), u8];
const carried: TableShape = [u32, u8, struct(40, 4), vectorOf(1), vectorOf(1)];
const scoreRow: TableShape = [u32, text, u32, u16, u16, u8];
const score: TableShape = [
  u32, u8, u32, u8, u32, vectorOf(4), { kind: 'tables', shape: scoreRow }, bool, vectorOf(4),
];
const replicatedKinds: TableShape = [vectorOf(1), u8];
const gameMessage: TableShape = [u32, u8, u8, vectorOf(1)];
const groundChunk: TableShape = [u32, u32, u32, u32, u64, vectorOf(1), vectorOf(4, 2), u8];
const groundGone: TableShape = [u32, vectorOf(12, 4), u8];

/** Of ServerMessage: the union's type and its tables, in the union's order. */
export const serverMessageShape: TableShape = [
  u8,
  {
    kind: 'union',
    shapes: [
      welcome, snapshot, chatLine, contentPart, contentRefused, actAnswers, blockEdits, blockKinds, saved,
      fight, inventoryChange, weaponKinds, carried, score, replicatedKinds, gameMessage,
      groundChunk, groundGone, blockContents, monsterShows,
    ],
  },
];
