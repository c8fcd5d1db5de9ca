// What a sealed packet's plaintext holds (WIRE.md, Frames).

import { ByteReader, ByteWriter, WireError, varintBytes } from './bytes';
import { sealedHeaderBytes } from './protection';
import type { Range } from './ranges';
import { readText } from './text';

export enum Stream {
  control = 0,
  events = 1,
  chat = 2,
  edits = 3,
  bulk = 4,
}
export const streams: readonly Stream[] = [Stream.control, Stream.events, Stream.chat, Stream.edits, Stream.bulk];

export enum FrameType {
  padding = 0,
  ping = 1,
  ack = 2,
  credit = 3,
  streamReset = 4,
  pathChallenge = 5,
  pathResponse = 6,
  close = 7,
  unreliable = 8,
  stream = 16,
}

/** Packets that arrived, by ascending ranges; the delay is the largest one's. */
export interface AckFrame {
  type: FrameType.ack;
  ranges: Range[];
  delayUs: number;
}
export interface CreditFrame {
  type: FrameType.credit;
  stream: Stream;
  limit: number;
}
export interface StreamFrame {
  type: FrameType.stream;
  stream: Stream;
  offset: number;
  bytes: Uint8Array;
}
export type Frame =
  | { type: FrameType.ping }
  | AckFrame
  | CreditFrame
  | { type: FrameType.streamReset; stream: Stream; offset: number }
  | { type: FrameType.pathChallenge | FrameType.pathResponse; data: Uint8Array }
  | { type: FrameType.close; reason: number; text: Uint8Array }
  | { type: FrameType.unreliable; message: Uint8Array }
  | StreamFrame;

const framesMax = 40;
export const ackRangesMax = 64;
export const closeTextMax = 200;

/** Does who gets it have to acknowledge its packet? */
export function asksForAck(frame: Frame): boolean {
  return frame.type !== FrameType.ack && frame.type !== FrameType.pathResponse && frame.type !== FrameType.close;
}

function readStreamNumber(value: number): Stream {
  if (value >= streams.length) throw new WireError(`there is no stream ${value}`);
  return value;
}

function readAck(reader: ByteReader): AckFrame {
  const largest = reader.varint();
  const delayUs = reader.varint();
  const more = reader.u8();
  if (more >= ackRangesMax) throw new WireError('too many ranges in an acknowledgement');
  const ranges: Range[] = [];
  let end = largest + 1;
  let begin = end - 1 - reader.varint();
  ranges.push({ begin, end });
  for (let i = 0; i < more; ++i) {
    end = begin - 1 - reader.varint();
    begin = end - 1 - reader.varint();
    ranges.push({ begin, end });
  }
  if (begin < 1) throw new WireError('an acknowledgement of packets before the first');
  return { type: FrameType.ack, ranges: ranges.reverse(), delayUs };
}

function readFrame(type: number, reader: ByteReader): Frame {
  if (type >= FrameType.stream) {
    const stream = readStreamNumber(type - FrameType.stream);
    const offset = reader.varint();
    const bytes = reader.varint();
    if (bytes === 0) throw new WireError('a stream frame without bytes');
    return { type: FrameType.stream, stream, offset, bytes: reader.take(bytes) };
  }
  switch (type) {
    case FrameType.ping:
      return { type };
    case FrameType.ack:
      return readAck(reader);
    case FrameType.credit:
      return { type, stream: readStreamNumber(reader.u8()), limit: reader.varint() };
    case FrameType.streamReset:
      return { type, stream: readStreamNumber(reader.u8()), offset: reader.varint() };
    case FrameType.pathChallenge:
    case FrameType.pathResponse:
      return { type, data: reader.take(8) };
    case FrameType.close: {
      const reason = reader.u8();
      const bytes = reader.u8();
      const text = reader.take(bytes);
      if (reason === 0) throw new WireError('a close without a reason');
      if (readText(text, 0, closeTextMax) === undefined) throw new WireError('a close with a text that is none');
      return { type, reason, text };
    }
    case FrameType.unreliable:
      if ((sealedHeaderBytes + reader.position) % 8 !== 0) throw new WireError('an unaligned message');
      if (reader.left === 0) throw new WireError('an unreliable message without bytes');
      return { type, message: reader.take(reader.left) };
    default:
      throw new WireError(`there is no frame ${type}`);
  }
}

/** All frames of a packet but padding; throws a WireError when one of them is none. */
export function readFrames(plain: Uint8Array): Frame[] {
  const reader = new ByteReader(plain);
  const frames: Frame[] = [];
  while (reader.left > 0) {
    const type = reader.u8();
    if (type === FrameType.padding) continue;
    if (frames.length === framesMax) throw new WireError('too many frames in a packet');
    frames.push(readFrame(type, reader));
  }
  if (frames.filter((frame) => frame.type === FrameType.ack).length > 1) {
    throw new WireError('two acknowledgements in a packet');
  }
  return frames;
}

function writeAck(writer: ByteWriter, frame: AckFrame): void {
  const newestFirst = frame.ranges.slice(-ackRangesMax).reverse();
  writer.u8(FrameType.ack);
  writer.varint(newestFirst[0].end - 1);
  writer.varint(frame.delayUs);
  writer.u8(newestFirst.length - 1);
  newestFirst.forEach((range, i) => {
    if (i > 0) writer.varint(newestFirst[i - 1].begin - range.end - 1);
    writer.varint(range.end - range.begin - 1);
  });
}

/** Appends a frame. An unreliable message is aligned by padding before it, and has to be the last. */
export function writeFrame(writer: ByteWriter, frame: Frame): void {
  switch (frame.type) {
    case FrameType.ping:
      writer.u8(frame.type);
      break;
    case FrameType.ack:
      writeAck(writer, frame);
      break;
    case FrameType.credit:
    case FrameType.streamReset:
      writer.u8(frame.type);
      writer.u8(frame.stream);
      writer.varint(frame.type === FrameType.credit ? frame.limit : frame.offset);
      break;
    case FrameType.pathChallenge:
    case FrameType.pathResponse:
      writer.u8(frame.type);
      writer.put(frame.data);
      break;
    case FrameType.close:
      writer.u8(frame.type);
      writer.u8(frame.reason);
      writer.u8(frame.text.length);
      writer.put(frame.text);
      break;
    case FrameType.unreliable:
      while ((sealedHeaderBytes + writer.length + 1) % 8 !== 0) writer.u8(FrameType.padding);
      writer.u8(frame.type);
      writer.put(frame.message);
      break;
    case FrameType.stream:
      writer.u8(FrameType.stream + frame.stream);
      writer.varint(frame.offset);
      writer.varint(frame.bytes.length);
      writer.put(frame.bytes);
      break;
  }
}

/** Bytes that a stream frame takes besides its bytes, of which there are at most `room`. */
export function streamFrameOverhead(offset: number, room: number): number {
  return 1 + varintBytes(offset) + varintBytes(Math.max(0, room));
}
