// Plain snapshots, from tables to checked values (WIRE.md, Snapshots).

import type { Snapshot as WireSnapshot } from '../generated/ashlar/wire/snapshot';
import { ByteReader, check } from './bytes';
import { cellSteps, isInWorld, positionIn, type Entity, type OwnPlayer, type SnapshotHead } from './snapshot';

const headerBytes = 16;
const recordBytes = 16;
const partsMax = 32;

/** Those of a cell whose ids are from first to last. */
export interface Block {
  cell: string;
  first: number;
  last: number;
  entities: Entity[];
}

export interface PlainPart extends SnapshotHead {
  refreshTicks: number;
  own: OwnPlayer | undefined;
  blocks: Block[];
}

function readEntity(reader: ByteReader, cell: number[]): Entity {
  const id = reader.u32();
  const steps = [reader.u16(), reader.u16(), reader.u16()];
  check(id !== 0 && steps.every((step) => step < cellSteps), 'an entity');
  const entity: Entity = {
    id,
    positionM: positionIn(cell, steps),
    kind: reader.u8(), yaw: reader.u8(), pitch: reader.i8(), health: reader.u8(), state: reader.u8(),
    flags: reader.u8(),
  };
  check(Math.abs(entity.pitch) <= 64, 'the pitch of an entity');
  return entity;
}

/** Blocks, one behind the other to the end. */
export function readBlocks(bytes: Uint8Array): Block[] {
  const reader = new ByteReader(bytes);
  const blocks: Block[] = [];
  while (reader.left > 0) {
    check(reader.left >= headerBytes, 'a block');
    const cell = [reader.i16(), reader.i16(), reader.i16()];
    const count = reader.u16();
    const block: Block = { cell: cell.join(), first: reader.u32(), last: reader.u32(), entities: [] };
    check(block.first <= block.last && count * recordBytes <= reader.left, 'a block');
    let before = -1;
    for (let i = 0; i < count; ++i) {
      const entity = readEntity(reader, cell);
      check(entity.id > before && entity.id >= block.first && entity.id <= block.last, 'the id of an entity');
      before = entity.id;
      block.entities.push(entity);
    }
    blocks.push(block);
  }
  return blocks;
}

function readOwn(wire: WireSnapshot): OwnPlayer | undefined {
  const own = wire.own();
  if (!own) return undefined;
  const position = own.positionM()!;
  const velocity = own.velocityMps()!;
  const positionM: [number, number, number] = [position.x(), position.y(), position.z()];
  const velocityMps: [number, number, number] = [velocity.x(), velocity.y(), velocity.z()];
  check([...positionM, ...velocityMps].every(Number.isFinite), 'the own player');
  check(isInWorld(positionM) && own.id() !== 0, 'the own player');
  return {
    id: own.id(), positionM, velocityMps, grounded: own.grounded() !== 0, health: own.health(),
    deltaYaw: wire.ownDeltaYaw(),
  };
}

/** @param wire verified. Heights and motions of sectors are left where they are. */
export function readSnapshot(wire: WireSnapshot): PlainPart {
  check(wire.partCount() >= 1 && wire.partCount() <= partsMax && wire.part() < wire.partCount(), 'a part');
  return {
    tick: wire.tick(),
    world: wire.world(),
    appliedTick: wire.appliedTick(),
    inputAhead: wire.inputAhead() === -128 ? undefined : wire.inputAhead(),
    part: wire.part(),
    partCount: wire.partCount(),
    refreshTicks: wire.refreshTicks(),
    own: readOwn(wire),
    blocks: readBlocks(wire.blocksArray() ?? new Uint8Array(0)),
  };
}
