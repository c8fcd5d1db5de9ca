// What a world tells of its kinds, and its game's messages (WIRE.md, Replicated kinds).

import { ByteReader, check } from './bytes';

/** Whom a field is told to. */
export type Audience = 'all' | 'owner' | 'team';
const audiences: readonly Audience[] = ['all', 'owner', 'team'];

/** A field that a game adds to a kind: low + step * steps. */
export interface AddedField {
  name: string;
  /** Its place among the kind's. */
  number: number;
  bits: number;
  to: Audience;
  interpolated: boolean;
  low: number;
  step: number;
}

/** A kind, or a range of kinds that are told alike. */
export interface ReplicatedKind {
  first: number;
  last: number;
  name: string;
  motionPredicted: boolean;
  fields: AddedField[];
}

export interface MessageKind {
  name: string;
  bytesMax: number;
}

export interface Replication {
  kinds: ReplicatedKind[];
  /** Of the world's game, by their numbers. */
  messages: MessageKind[];
  /** That clients send to it, likewise. */
  clientMessages: MessageKind[];
}

// Players, and a game's own kinds: they alone have an owner and a team.
const player = 0;
const ownKindFirst = 80;
const ownKindLast = 127;

/** Kinds without added fields, and no messages. */
export const noReplication: Replication = { kinds: [], messages: [], clientMessages: [] };

const bytesMax = 40960;
const format = 2;
const kindsMax = 64;
const fieldsMax = 8;
const messagesMax = 64;
const messageBytesMax = 1024;
const callBytesMax = 256;
const sharedBitsMax = 64;

// The fields of every entity, as this client reads them: name, bits, 1 signed and 2 interpolated, step.
const standardFields: readonly (readonly [string, number, number, number])[] = [
  ['x', 13, 2, 1 / 128], ['y', 13, 2, 1 / 128], ['z', 13, 2, 1 / 128],
  ['velocity_x', 16, 1, 1 / 16], ['velocity_y', 16, 1, 1 / 16], ['velocity_z', 16, 1, 1 / 16],
  ['yaw', 8, 2, 1 / 256], ['pitch', 8, 3, 1 / 256], ['health', 8, 0, 1 / 255],
  ['state', 8, 0, 1], ['flags', 8, 0, 1], ['kind', 8, 0, 1],
];

function readName(reader: ByteReader): string {
  const name = String.fromCharCode(...reader.take(reader.u8()));
  check(/^[!-~]{1,32}$/.test(name), 'a name');
  return name;
}

function readStandard(reader: ByteReader): void {
  check(reader.u8() === standardFields.length, 'the fields of every entity');
  for (const [name, bits, flags, step] of standardFields) {
    const same = readName(reader) === name && reader.u8() === bits && reader.u8() === flags && reader.f64() === step;
    check(same, 'the fields of every entity');
  }
}

function readField(reader: ByteReader, number: number): AddedField {
  const [name, bits, flags, low, step] = [readName(reader), reader.u8(), reader.u8(), reader.f64(), reader.f64()];
  check(bits >= 1 && bits <= 32 && flags < 8 && (flags & 3) < audiences.length, 'an added field');
  check(Math.abs(low) <= 1e15 && step > 0 && step <= 1e15, 'the range of an added field');
  return { name, number, bits, to: audiences[flags & 3], interpolated: (flags & 4) !== 0, low, step };
}

function isUnique(names: { name: string }[]): boolean {
  return new Set(names.map(({ name }) => name)).size === names.length;
}

function readKind(reader: ByteReader): ReplicatedKind {
  const [first, last, name, predicted, count] = [reader.u8(), reader.u8(), readName(reader), reader.u8(), reader.u8()];
  check(first <= last && predicted <= 1 && count <= fieldsMax, 'a kind');
  const fields = Array.from({ length: count }, (_, number) => readField(reader, number));
  const sharedBits = fields.reduce((sum, field) => sum + (field.to === 'all' ? field.bits : 0), 0);
  const owned = first === player || (first >= ownKindFirst && first <= ownKindLast);
  check(owned || fields.every(({ to }) => to === 'all'), 'whom a field is told to');
  check(isUnique(fields) && sharedBits <= sharedBitsMax, 'the added fields of a kind');
  return { first, last, name, motionPredicted: predicted === 1, fields };
}

/** Throws a WireError for what says nothing of kinds. */
export function readReplication(bytes: Uint8Array): Replication {
  check(bytes.length <= bytesMax, 'what is told of kinds');
  const reader = new ByteReader(bytes);
  check(reader.u8() === format, 'the format of what is told of kinds');
  readStandard(reader);
  const kindCount = reader.u8();
  check(kindCount <= kindsMax, 'the number of kinds');
  const kinds = Array.from({ length: kindCount }, () => readKind(reader));
  check(isUnique(kinds) && kinds.every((kind, i) => i === 0 || kind.first > kinds[i - 1].last), 'the kinds');
  const messages = readMessages(reader, messageBytesMax);
  const clientMessages = readMessages(reader, callBytesMax);
  check(reader.left === 0, 'what is told of kinds');
  return { kinds, messages, clientMessages };
}

function readMessages(reader: ByteReader, most: number): MessageKind[] {
  const count = reader.u8();
  check(count <= messagesMax, 'the number of messages');
  const messages = Array.from({ length: count }, (): MessageKind => {
    const [name, bytesMaxOfIt] = [readName(reader), reader.u16()];
    check(bytesMaxOfIt <= most, 'a message');
    return { name, bytesMax: bytesMaxOfIt };
  });
  check(isUnique(messages), 'the messages');
  return messages;
}

export function kindOf(replication: Replication, kind: number): ReplicatedKind | undefined {
  return replication.kinds.find(({ first, last }) => first <= kind && kind <= last);
}

/** The added fields of a kind that go to an audience. */
export function fieldsFor(replication: Replication, kind: number, to: Audience): AddedField[] {
  return kindOf(replication, kind)?.fields.filter((field) => field.to === to) ?? [];
}
