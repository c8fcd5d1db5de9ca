// Parts of packed snapshots, from bytes to items (WIRE.md, Packed snapshots).

import { readBlock, readGroup, type BlockState } from './block_delta';
import { ByteReader, check, WireError } from './bytes';
import { readCues } from './cues';
import { readOwnState } from './own_delta';
import type { Replication } from './replication';
import { checkHeights, checkMotionBytes, checkSlice, motionBytes } from './sectors';
import { appliedAheadMax, partsMax, type SnapshotItem, type SnapshotPart } from './snapshot';

const mark = 1;
const blockNumbersMax = 65536;

/** Is an unreliable message a part of a packed snapshot? A FlatBuffer begins with an even byte. */
export function isPacked(message: Uint8Array): boolean {
  return (message[0] & 1) === 1;
}

function varint32(reader: ByteReader): number {
  const value = reader.varint();
  check(value < 2 ** 32, 'a number');
  return value;
}

function blockNumber(reader: ByteReader): number {
  const number = varint32(reader);
  check(number < blockNumbersMax, 'the number of a block');
  return number;
}

function readItems(reader: ByteReader, tick: number): SnapshotItem[] {
  const type = reader.u8();
  switch (type) {
    case 1: {
      let age = reader.u8();
      const count = reader.u8();
      check(count > 0, 'a list of blocks');
      return Array.from({ length: count }, (): SnapshotItem => {
        const number = blockNumber(reader);
        const told = varint32(reader);
        if (told % 2 === 1) age = reader.u8();
        const bytes = reader.take(Math.floor(told / 2));
        const its = age;
        const read = (base: BlockState | undefined, rate: number, told: Replication): BlockState =>
          readBlock(bytes, base, { tick, age: its, rate }, told);
        return { type: 'block', number, age: its, read };
      });
    }
    case 2: {
      const count = reader.u8();
      check(count > 0, 'a list of blocks');
      return Array.from({ length: count }, () => ({ type: 'gone', number: blockNumber(reader) }));
    }
    case 3: {
      const age = reader.u8();
      const bytes = reader.take(reader.u8());
      return [{ type: 'own', age, read: (base, rate) => readOwnState(bytes, base, age, rate) }];
    }
    case 4: {
      const [age, map, slice] = [reader.u8(), reader.u8(), varint32(reader)];
      const bytes = reader.take(varint32(reader));
      checkSlice(map, slice, []);
      checkHeights(bytes);
      return [{ type: 'heights', map, slice, age, bytes }];
    }
    case 5: {
      const bytes = reader.take(motionBytes);
      checkMotionBytes(bytes);
      return [{ type: 'motion', bytes }];
    }
    case 6: {
      const to = reader.u8();
      check(to === 1 || to === 2, 'a group of fields');
      const number = blockNumber(reader);
      const bytes = reader.take(varint32(reader));
      const audience = to === 1 ? 'owner' : 'team';
      return [{ type: 'fields', to: audience, number, read: (told) => readGroup(bytes, audience, told) }];
    }
    case 7:
      return [{ type: 'cues', cues: readCues(reader.take(reader.u8())) }];
    case 8: {
      const count = reader.u8();
      check(count > 0, 'a list of those who moved');
      return Array.from({ length: count }, () => {
        const id = reader.u32();
        check(id !== 0, 'who moved');
        return { type: 'moved', id, number: blockNumber(reader) };
      });
    }
    default:
      throw new WireError(`there is no item ${type} of snapshots`);
  }
}

/** Throws a WireError for what is no part. */
export function readPackedPart(message: Uint8Array): SnapshotPart {
  const reader = new ByteReader(message);
  check(reader.u8() === mark, 'a packed part');
  const [world, epoch, inputAhead, tick] = [reader.u8(), reader.u8(), reader.i8(), reader.u32()];
  const [part, partCount, applied] = [reader.u8(), reader.u8(), varint32(reader)];
  check(epoch !== 0 && part < partCount && partCount <= partsMax && applied <= tick + appliedAheadMax, 'a packed part');
  const items: SnapshotItem[] = [];
  while (reader.left > 0) items.push(...readItems(reader, tick));
  // One list a part: who gets a part twice shows it once.
  check(items.filter(({ type }) => type === 'cues').length <= 1, 'the cues of a part');
  return {
    tick, world, epoch, part, partCount, items,
    appliedTick: applied === 0 ? 0 : tick + appliedAheadMax - applied,
    inputAhead: inputAhead === -128 ? undefined : inputAhead,
  };
}
