// What snapshots come to, in whichever encoding they travel, and the measures that both have.

import type { BlockState, PrivateEntity } from './block_delta';
import { check } from './bytes';
import type { Cue } from './cues';
import type { OwnState } from './own_delta';
import type { Audience, Replication } from './replication';

/** Parts of a snapshot, entities of a block, and of a group whose fields only some are told. */
export const partsMax = 32;
export const entitiesMax = 48;
export const groupEntitiesMax = 16;
/** Ticks that a command may be ahead of the snapshot that says that it was applied. */
export const appliedAheadMax = 256;
/** No world counts its ticks farther. */
export const worldTicksMax = 0xffff0000;

/** Cells are cubes of 64 m; places within one are below this, in 1/128 m. */
export const cellSteps = 8192;
const cellM = 64;
const stepsPerM = cellSteps / cellM;

/** A place within a cell, in metres of the world. */
export function positionIn(cell: readonly number[], steps: readonly number[]): Triple {
  return [0, 1, 2].map((axis) => cell[axis] * cellM + steps[axis] / stepsPerM) as Triple;
}

export type Triple = [number, number, number];

/** Throws a WireError unless an entity may be so; its place is in steps. */
export function checkEntity(id: number, place: Triple, pitch: number): void {
  check(id !== 0 && place.every((step) => step >= 0 && step < cellSteps), 'an entity');
  check(Math.abs(pitch) <= 64, 'the pitch of an entity');
}

/** Could a place of the world be in this cell? */
export function isCell([x, y, z]: readonly number[]): boolean {
  return Math.abs(x) <= 16384 && Math.abs(y) <= 16384 && Math.abs(z) <= 64;
}

/** The world reaches so many blocks, which are metres, from its middle. */
export const worldBlocks = 2 ** 20;
export const worldBlocksUp = 2 ** 12;
/** Of a world at most. */
export const lifeTicksMax = 2n ** 62n;

/** False for what is no number. */
export function isInWorld([x, y, z]: readonly number[]): boolean {
  return Math.abs(x) < worldBlocks && Math.abs(y) < worldBlocks && Math.abs(z) < worldBlocksUp;
}

/** Edge of a chunk. */
export const chunkBlocks = 32;
export function isChunk(chunk: readonly number[]): boolean {
  return [worldBlocks, worldBlocks, worldBlocksUp].every((most, axis) =>
    chunk[axis] >= -most / chunkBlocks && chunk[axis] < most / chunkBlocks);
}

export interface Entity {
  id: number;
  positionM: [number, number, number];
  /** 0 a player, 16 and on a monster, 80 and on a game's own, 128 and on a projectile. */
  kind: number;
  /** Turns of 1/256, counter-clockwise from +x; pitch up. */
  yaw: number;
  pitch: number;
  /** 255 is full. */
  health: number;
  state: number;
  /** 1 on the ground, 2 recovering, 4 dead. */
  flags: number;
}

export interface OwnPlayer {
  id: number;
  positionM: [number, number, number];
  velocityMps: [number, number, number];
  grounded: boolean;
  health: number;
  /** 1/65536 turn that the server adds to the yaw of commands. */
  deltaYaw: number;
}

/** What every part says of its snapshot. */
export interface SnapshotHead {
  tick: number;
  world: number;
  appliedTick: number;
  /** undefined: the server has had no command yet. */
  inputAhead: number | undefined;
  part: number;
  partCount: number;
}

/** What a part tells beside its head, in whichever encoding: read by what it is told against. */
export type SnapshotItem =
  /** @param base of the block `age` ticks before, where age is not 0; throws a WireError where they do not fit */
  | {
    type: 'block'; number: number; age: number;
    read(base: BlockState | undefined, tickRateHz: number, replication: Replication): BlockState;
  }
  | { type: 'gone'; number: number }
  /** Somebody is in another block from now on, and until that is told as it was. */
  | { type: 'moved'; id: number; number: number }
  | { type: 'own'; age: number; read(base: OwnState | undefined, tickRateHz: number): OwnState }
  /** Heights and motions of packed parts are left as they are; those of plain ones are in the message. */
  | { type: 'heights'; map: number; slice: number; age: number; bytes: Uint8Array }
  | { type: 'motion'; bytes: Uint8Array }
  /** A group of entities whose fields only some are told. */
  | { type: 'fields'; to: Audience; number: number; read(replication: Replication): PrivateEntity[] }
  | { type: 'cues'; cues: Cue[] };

export interface SnapshotPart extends SnapshotHead {
  epoch: number;
  items: SnapshotItem[];
}

/** Somebody as of a tick. */
export interface SeenEntity {
  tick: number;
  entity: Entity;
}

/** Ticks from an earlier one; they are compared as they wrap. */
export function ticksSince(tick: number, earlier: number): number {
  return (tick - earlier) | 0;
}
