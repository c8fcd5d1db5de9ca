// Blocks of a chunk that are other than they were, and ground that is sent (WIRE.md, Blocks and Ground that is sent).

import type { BlockEdits } from '../generated/ashlar/wire/block-edits';
import type { GroundChunk } from '../generated/ashlar/wire/ground-chunk';
import type { GroundGone } from '../generated/ashlar/wire/ground-gone';
import { check, present } from './bytes';
import { chunkBlocks, isChunk } from './snapshot';

export const blockKindsMax = 256;
const changesMax = 4096;
const chunkBytesMax = 40_000;
const goneMax = 1024;

/** A block of the world, and what it is now. */
export interface BlockChange {
  block: [number, number, number];
  is: number;
}

/** By index, each once, of kinds that a world may have. Throws a WireError for any other list. */
export function readChanges(wire: BlockEdits | GroundChunk): BlockChange[] {
  const chunk = [wire.x(), wire.y(), wire.z()];
  check(isChunk(chunk), 'a chunk');
  check(wire.changesLength() <= changesMax, 'a list of blocks');
  const [x, y, z] = chunk.map((at) => at * chunkBlocks);
  let before = -1;
  return Array.from({ length: wire.changesLength() }, (_, i): BlockChange => {
    const change = present(wire.changes(i), 'a block');
    const index = change.index();
    const known = index < chunkBlocks ** 3 && change.block() < blockKindsMax;
    check(known && index > before, 'a block of a chunk');
    before = index;
    return { block: [x + ((index >> 5) & 31), y + (index >> 10), z + (index & 31)], is: change.block() };
  });
}

// This client asks for no ground. A server that sends some all the same is let talk as long as it makes sense.

export function checkGround(wire: GroundChunk): void {
  check(wire.bytesLength() <= chunkBytesMax, 'the bytes of a chunk');
  readChanges(wire);
}

export function checkGone(wire: GroundGone): void {
  check(wire.chunksLength() <= goneMax, 'a list of chunks');
  for (let i = 0; i < wire.chunksLength(); ++i) {
    const chunk = present(wire.chunks(i), 'a chunk');
    check(isChunk([chunk.x(), chunk.y(), chunk.z()]), 'a chunk');
  }
}
