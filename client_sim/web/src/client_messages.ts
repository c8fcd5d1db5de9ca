// What a client says, as bytes (WIRE.md, Messages). Lengths are the caller's to keep.

import { Builder } from 'flatbuffers';

import { Act as WireAct } from '../generated/ashlar/wire/act';
import { Acts } from '../generated/ashlar/wire/acts';
import { Chat } from '../generated/ashlar/wire/chat';
import { ClientBody } from '../generated/ashlar/wire/client-body';
import { ClientMessage } from '../generated/ashlar/wire/client-message';
import { Command as WireCommand } from '../generated/ashlar/wire/command';
import { ContentRequest } from '../generated/ashlar/wire/content-request';
import { GameCall } from '../generated/ashlar/wire/game-call';
import { Hello } from '../generated/ashlar/wire/hello';
import { Input } from '../generated/ashlar/wire/input';
import { Join } from '../generated/ashlar/wire/join';
import { validText } from './text';

function finish(builder: Builder, type: ClientBody, body: number): Uint8Array {
  const message = ClientMessage.createClientMessage(builder, type, body);
  ClientMessage.finishClientMessageBuffer(builder, message);
  return builder.asUint8Array().slice();
}

/** Who goes on with an earlier session. */
export interface ResumeClaim {
  connection: number;
  proof: Uint8Array;
}

export interface HelloValues {
  name: string;
  build: string;
  /** Empty: none. */
  token: Uint8Array;
  resume?: ResumeClaim;
  takesPacked: boolean;
}

export function writeHello({ name, build, token, resume, takesPacked }: HelloValues): Uint8Array {
  const builder = new Builder(256);
  const nameAt = builder.createString(name);
  const buildAt = builder.createString(build);
  const tokenAt = token.length > 0 ? Hello.createTokenVector(builder, token) : 0;
  const proofAt = resume ? Hello.createResumeProofVector(builder, resume.proof) : 0;
  Hello.startHello(builder);
  Hello.addName(builder, nameAt);
  Hello.addBuild(builder, buildAt);
  if (tokenAt) Hello.addToken(builder, tokenAt);
  Hello.addTakesPacked(builder, takesPacked);
  if (resume) {
    Hello.addResume(builder, resume.connection);
    Hello.addResumeProof(builder, proofAt);
  }
  return finish(builder, ClientBody.Hello, Hello.endHello(builder));
}

/** @param watches as a spectator */
export function writeJoin(content: readonly bigint[], world: number, watches: boolean): Uint8Array {
  const builder = new Builder(64);
  const contentAt = Join.createContentVector(builder, [...content]);
  // It keeps no ground, so it asks for none.
  Join.startJoin(builder);
  Join.addContent(builder, contentAt);
  Join.addWorld(builder, world);
  Join.addWatches(builder, watches);
  return finish(builder, ClientBody.Join, Join.endJoin(builder));
}

export const buttons = { jump: 1, use: 2, attack: 4, down: 8, reload: 16 } as const;

/** What the player wants in a tick. */
export interface Command {
  /** 1/65536 turn, counter-clockwise from +x: the player's own turning. */
  yaw: number;
  pitch: number;
  buttons: number;
  /** -127 to 127. */
  forward: number;
  left: number;
}
export const standStill: Readonly<Command> = { yaw: 0, pitch: 0, buttons: 0, forward: 0, left: 0 };

const pitchMax = 16384;
const axisMax = 127;
const buttonsKnown = 31 | (31 << 8);  // with the weapon that is asked for

/** The nearest that a server takes: any other closes the session. What is no number is 0. */
export function playable({ yaw, pitch, buttons: pressed, forward, left }: Command): Command {
  const within = (value: number, most: number): number => Math.round(Math.max(-most, Math.min(most, value))) || 0;
  return {
    yaw: Math.round(yaw) & 0xffff, pitch: within(pitch, pitchMax), buttons: pressed & buttonsKnown,
    forward: within(forward, axisMax), left: within(left, axisMax),
  };
}

/** A command with what its player saw: ticks back from its own, 0 not known. */
export interface NumberedCommand extends Command {
  tick: number;
  seen: number;
}

/**
 * @param commands 1 to 8, newest first, of ticks one behind the other
 * @param lostEpoch of packed snapshots that cannot be read any more; 0: none
 */
export function writeInput(
  commands: readonly NumberedCommand[], snapshotTick: number, world: number, lostEpoch: number,
): Uint8Array {
  const builder = new Builder(192);
  Input.startCommandsVector(builder, commands.length);
  for (const command of [...commands].reverse()) {
    const { yaw, pitch, buttons: pressed, seen, forward, left } = command;
    WireCommand.createCommand(builder, yaw, pitch, pressed, seen, forward, left);
  }
  const input = Input.createInput(builder, commands[0].tick, snapshotTick, builder.endVector(), world, lostEpoch);
  return finish(builder, ClientBody.Input, input);
}

/** Of a line of chat. */
export const chatBytesMax = 200;

/** @param text 1 to 200 bytes */
export function writeChat(text: string): Uint8Array {
  const builder = new Builder(256);
  return finish(builder, ClientBody.Chat, Chat.createChat(builder, builder.createString(text)));
}

/** @param number of its kind among `Replication.clientMessages`. @param bytes at most 256 */
export function writeGameCall(world: number, number: number, bytes: Uint8Array): Uint8Array {
  const builder = new Builder(320);
  const bytesAt = GameCall.createBytesVector(builder, bytes);
  return finish(builder, ClientBody.GameCall, GameCall.createGameCall(builder, world, number, bytesAt));
}

export function writeContentRequest(hash: bigint, offset: number): Uint8Array {
  const builder = new Builder(64);
  return finish(builder, ClientBody.ContentRequest, ContentRequest.createContentRequest(builder, hash, offset));
}

export enum ActKind {
  dig = 0,
  place = 1,
  stop = 2,
  drop = 3,
  /** Looks into a chest; what it holds comes as `blockContents`. */
  open = 4,
  close = 5,
  /** Out of the chest that is open into the inventory, and back. */
  take = 6,
  put = 7,
  /** Gives a sign its text. */
  write = 8,
}
export enum BlockFace {
  west = 0,
  east = 1,
  south = 2,
  north = 3,
  bottom = 4,
  top = 5,
}

/** What the player does to the block that it looks at. */
export interface Act {
  number: number;
  kind: ActKind;
  block: [number, number, number];
  /** Of take and put: how many items, 1 to 64. */
  face: BlockFace | number;
  /** What is placed before the face; of drop, take and put the kind of item. */
  placed: number;
  /** Of write: printable, at most 64 bytes; of the acts of one message one at most writes. */
  text?: string;
}

const signTextMax = 64;
const stackItemsMax = 64;

/** Does a server take it? Any other act closes the session; blocks and kinds may be anything, the world judges them. */
export function isAct({ kind, face, text = '' }: Omit<Act, 'number'>): boolean {
  const moves = kind === ActKind.take || kind === ActKind.put;
  const [least, most] = moves ? [1, stackItemsMax] : [BlockFace.west, BlockFace.top];
  const whole = Number.isInteger(kind) && Number.isInteger(face);
  if (!whole || kind < ActKind.dig || kind > ActKind.write || face < least || face > most) return false;
  return kind !== ActKind.write || validText(text, 0, signTextMax);
}

/** @param acts 1 to 8 @param tick of the command that they belong to; 0: as soon as they come */
export function writeActs(acts: readonly Act[], tick: number, world: number): Uint8Array {
  const builder = new Builder(256);
  const text = builder.createString(acts.find((act) => act.kind === ActKind.write)?.text ?? '');
  Acts.startActsVector(builder, acts.length);
  for (const act of [...acts].reverse()) {
    WireAct.createAct(builder, act.number, ...act.block, act.placed, act.kind, act.face);
  }
  return finish(builder, ClientBody.Acts, Acts.createActs(builder, tick, builder.endVector(), world, text));
}
