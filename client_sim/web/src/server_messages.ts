// What a server says, from bytes to checked values (WIRE.md, Messages). A WireError is a broken or hostile server.

import { ByteBuffer, Encoding } from 'flatbuffers';

import { ActAnswers } from '../generated/ashlar/wire/act-answers';
import { BlockContents } from '../generated/ashlar/wire/block-contents';
import { BlockEdits } from '../generated/ashlar/wire/block-edits';
import { BlockKinds } from '../generated/ashlar/wire/block-kinds';
import { Carried } from '../generated/ashlar/wire/carried';
import { ChatLine } from '../generated/ashlar/wire/chat-line';
import { ContentPart } from '../generated/ashlar/wire/content-part';
import { ContentRefused } from '../generated/ashlar/wire/content-refused';
import { Fight } from '../generated/ashlar/wire/fight';
import { GameMessage } from '../generated/ashlar/wire/game-message';
import { GroundChunk } from '../generated/ashlar/wire/ground-chunk';
import { GroundGone } from '../generated/ashlar/wire/ground-gone';
import { InventoryChange } from '../generated/ashlar/wire/inventory-change';
import { ReplicatedKinds } from '../generated/ashlar/wire/replicated-kinds';
import { Saved } from '../generated/ashlar/wire/saved';
import { Score } from '../generated/ashlar/wire/score';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { ServerMessage as WireServerMessage } from '../generated/ashlar/wire/server-message';
import { Snapshot as WireSnapshot } from '../generated/ashlar/wire/snapshot';
import { MonsterShows } from '../generated/ashlar/wire/monster-shows';
import { WeaponKinds } from '../generated/ashlar/wire/weapon-kinds';
import { Welcome as WireWelcome } from '../generated/ashlar/wire/welcome';
import { blockKindsMax, checkGone, checkGround, readChanges, type BlockChange } from './block_changes';
import { readBlockKinds, type BlockKind } from './block_kinds';
import { check, present, WireError } from './bytes';
import { readSnapshot } from './plain';
import { readReplication, type Replication } from './replication';
import { serverMessageShape } from './shapes';
import { isInWorld, lifeTicksMax, type SnapshotPart } from './snapshot';
import { nameBytesMax, shown, validPlayerName } from './text';
import { verifyMessage } from './verifier';
import { readWeaponNames, weaponsMax } from './weapons';
import { readWelcome, type Welcome } from './welcome';

export const contentBytesMax = 4 * 1024 * 1024;
const waysToHurt = 10;

export interface ActAnswer {
  number: number;
  block: [number, number, number];
  verdict: number;
}

/** Somebody was hurt or died: WIRE.md, Fights. */
export interface Hit {
  who: number;
  /** 0: nobody. */
  by: number;
  points: number;
  died: boolean;
  how: number;
}

/** What one player has in the match. */
export interface ScoreRow {
  id: number;
  name: string;
  score: number;
  kills: number;
  deaths: number;
  /** From 1; 0: none. */
  team: number;
}

/** What a slot of the inventory holds now; count 0: nothing. */
export interface SlotChange {
  slot: number;
  block: number;
  count: number;
}

/** The match and its score. */
export interface ScoreBoard {
  match: number;
  phase: number;
  leftTicks: number;
  teams: number[];
  rows: ScoreRow[];
}

/** How a kind of monster shows, as names of what a client has; empty: none. */
export interface MonsterShow {
  kind: number;
  blood: string;
  sightSound: string;
  painSound: string;
  deathSound: string;
  attackSound: string;
  stepSound: string;
}

export type ServerMessage =
  | { type: 'welcome'; welcome: Welcome }
  | { type: 'snapshot'; part: SnapshotPart }
  | { type: 'chat'; from: string; text: string }
  | { type: 'content'; hash: bigint; total: number; offset: number; bytes: Uint8Array }
  | { type: 'contentRefused'; hash: bigint; reason: number }
  | { type: 'actAnswers'; tick: number; world: number; answers: ActAnswer[] }
  | { type: 'blockEdits'; tick: number; world: number; changes: BlockChange[] }
  | { type: 'blockKinds'; world: number; kinds: BlockKind[] }
  | { type: 'saved'; tick: number; world: number }
  | { type: 'fight'; tick: number; world: number; health: number; armour: number; hits: Hit[] }
  | { type: 'inventory'; tick: number; world: number; whole: boolean; slots: SlotChange[] }
  /** The chest that the player looks into (`open`; without, no longer), and signs and timers near it. */
  | {
    type: 'blockContents'; tick: number; world: number; open: boolean; block: [number, number, number];
    slots: SlotChange[]; text: string;
    /** When its timer runs out: ageTicks and the tick by then; 0: it has none. */
    due: bigint;
  }
  | { type: 'weaponKinds'; world: number; names: string[] }
  | { type: 'monsterShows'; world: number; kinds: MonsterShow[] }
  /** Weapons as bits, ammunition of the four kinds, what is held, and items picked up since the one before. */
  | { type: 'carried'; tick: number; world: number; weapons: number; ammo: number[]; held: number; picked: number[] }
  /** Whole, or what changed of the one before (score_board.ts). */
  | { type: 'score'; tick: number; world: number; score: ScoreBoard; changes: boolean; gone: number[] }
  | { type: 'replicatedKinds'; world: number; replication: Replication }
  | { type: 'gameMessage'; tick: number; world: number; number: number; bytes: Uint8Array }
  | { type: 'unknown' };

/** A player's name, by the stricter rule of names. */
function playerName(bytes: string | Uint8Array | null): string {
  const name = shown(bytes, 1, nameBytesMax, 'a name');
  check(validPlayerName(name), 'a name');
  return name;
}

const raw = Encoding.UTF8_BYTES;
const isEmpty = (bytes: string | Uint8Array | null): boolean => bytes === null || bytes.length === 0;

function readChat(wire: ChatLine): ServerMessage {
  const from = isEmpty(wire.from(raw)) ? '' : playerName(wire.from(raw));
  return { type: 'chat', from, text: shown(wire.text(raw), 1, 200, 'a line') };
}

function readRefused(wire: ContentRefused): ServerMessage {
  check(wire.reason() <= 3, 'a reason');
  return { type: 'contentRefused', hash: wire.hash(), reason: wire.reason() };
}

function readContent(wire: ContentPart): ServerMessage {
  const bytes = present(wire.bytesArray(), 'the bytes of content');
  check(bytes.length >= 1 && bytes.length <= 32768, 'a part of content');
  check(wire.total() <= contentBytesMax && wire.offset() + bytes.length <= wire.total(), 'the place of a part');
  return { type: 'content', hash: wire.hash(), total: wire.total(), offset: wire.offset(), bytes };
}

function readAnswers(wire: ActAnswers): ServerMessage {
  check(wire.answersLength() >= 1 && wire.answersLength() <= 64, 'a list of answers');
  const answers = Array.from({ length: wire.answersLength() }, (_, i): ActAnswer => {
    const answer = present(wire.answers(i), 'an answer');
    check(answer.verdict() <= 23, 'a verdict');
    return { number: answer.number(), block: [answer.x(), answer.y(), answer.z()], verdict: answer.verdict() };
  });
  return { type: 'actAnswers', tick: wire.tick(), world: wire.world(), answers };
}

function readEdits(wire: BlockEdits): ServerMessage {
  check(wire.changesLength() >= 1, 'a list of blocks');
  return { type: 'blockEdits', tick: wire.tick(), world: wire.world(), changes: readChanges(wire) };
}

function readFight(wire: Fight): ServerMessage {
  check(wire.hitsLength() <= 64 && wire.armourHalf() <= 1, 'a fight');
  const hits = Array.from({ length: wire.hitsLength() }, (_, i): Hit => {
    const hit = present(wire.hits(i), 'a hit');
    check(hit.who() !== 0 && hit.kind() <= 1 && hit.how() < waysToHurt, 'a hit');
    return { who: hit.who(), by: hit.by(), points: hit.points(), died: hit.kind() === 1, how: hit.how() };
  });
  return { type: 'fight', tick: wire.tick(), world: wire.world(), health: wire.health(), armour: wire.armour(), hits };
}

function readSlots(wire: InventoryChange | BlockContents): SlotChange[] {
  check(wire.slotsLength() <= 36, 'an inventory');
  let before = -1;
  return Array.from({ length: wire.slotsLength() }, (_, i): SlotChange => {
    const slot = present(wire.slots(i), 'a slot');
    const [kind, count] = [slot.kind(), slot.count()];
    const nothing = kind === 0 && count === 0;
    const some = kind > 0 && kind < blockKindsMax && count > 0 && count <= 64;
    check(slot.slot() > before && slot.slot() < 36 && (nothing || some), 'a slot');
    before = slot.slot();
    return { slot: slot.slot(), block: kind, count };
  });
}

function readContents(wire: BlockContents): ServerMessage {
  const block: [number, number, number] = [wire.x(), wire.y(), wire.z()];
  check(isInWorld(block) && wire.due() <= lifeTicksMax, 'what a block holds');
  return {
    type: 'blockContents', tick: wire.tick(), world: wire.world(), open: wire.open(), block, slots: readSlots(wire),
    text: shown(wire.text(raw), 0, 64, 'the text of a sign'), due: wire.due(),
  };
}

function readInventory(wire: InventoryChange): ServerMessage {
  const slots = readSlots(wire);
  return { type: 'inventory', tick: wire.tick(), world: wire.world(), whole: wire.whole(), slots };
}

function readShows(wire: MonsterShows): ServerMessage {
  check(wire.kindsLength() >= 1 && wire.kindsLength() <= 64, 'how monsters show');
  const kinds = Array.from({ length: wire.kindsLength() }, (_, i): MonsterShow => {
    const show = present(wire.kinds(i), 'how a monster shows');
    check(show.kind() < 64, 'a kind of monster');
    const name = (bytes: string | Uint8Array | null): string => {
      const text = shown(bytes, 0, 32, 'what a monster shows');
      check(/^[ -~]*$/.test(text), 'what a monster shows');
      return text;
    };
    return {
      kind: show.kind(), blood: name(show.blood(raw)), sightSound: name(show.sightSound(raw)),
      painSound: name(show.painSound(raw)), deathSound: name(show.deathSound(raw)),
      attackSound: name(show.attackSound(raw)), stepSound: name(show.stepSound(raw)),
    };
  });
  check(kinds.every((show, i) => i === 0 || show.kind > kinds[i - 1].kind), 'the kinds of monsters');
  return { type: 'monsterShows', world: wire.world(), kinds };
}

function readCarried(wire: Carried): ServerMessage {
  const arsenal = present(wire.arsenal(), 'what is carried');
  const known = arsenal.held() < weaponsMax && arsenal.wanted() < weaponsMax;
  check(known && arsenal.firing() <= 1 && arsenal.backpack() <= 1, 'what is carried');
  check(wire.pickedLength() <= 64 && wire.spentLength() <= weaponsMax, 'what is carried');
  return {
    type: 'carried', tick: wire.tick(), world: wire.world(), weapons: arsenal.weapons(), held: arsenal.held(),
    ammo: [arsenal.bullets(), arsenal.shells(), arsenal.rockets(), arsenal.cells()],
    picked: [...(wire.pickedArray() ?? [])],
  };
}

function readScore(wire: Score): ServerMessage {
  check(wire.phase() <= 3 && wire.teamsLength() === 4 && wire.rowsLength() <= 64 && wire.goneLength() <= 64, 'the score');
  const changes = wire.changes();
  const rows = Array.from({ length: wire.rowsLength() }, (_, i): ScoreRow => {
    const row = present(wire.rows(i), 'a row of the score');
    check(row.id() !== 0 && row.team() <= 4, 'a row of the score');
    const name = changes && isEmpty(row.name(raw)) ? '' : playerName(row.name(raw));
    return { id: row.id(), name, score: row.score(), kills: row.kills(), deaths: row.deaths(), team: row.team() };
  });
  const score = {
    match: wire.match(), phase: wire.phase(), leftTicks: wire.leftTicks(), teams: [...wire.teamsArray()!], rows,
  };
  const gone = [...(wire.goneArray() ?? [])];
  check((changes || gone.length === 0) && !gone.includes(0), 'the score');
  return { type: 'score', tick: wire.tick(), world: wire.world(), score, changes, gone };
}

function readGameMessage(wire: GameMessage): ServerMessage {
  const bytes = wire.bytesArray() ?? new Uint8Array(0);
  check(wire.number() < 64 && bytes.length <= 1024, 'a message of the game');
  return { type: 'gameMessage', tick: wire.tick(), world: wire.world(), number: wire.number(), bytes: bytes.slice() };
}

// The generated code looks at lists of numbers where they are, which JavaScript refuses where that is unaligned.
const alignment = 8;

/** Verified, then every value held against its bounds; throws a WireError for all else. */
export function readServerMessage(told: Uint8Array): ServerMessage {
  const bytes = told.byteOffset % alignment === 0 ? told : told.slice();
  verifyMessage(bytes, 'ASHS', serverMessageShape);
  const message = WireServerMessage.getRootAsServerMessage(new ByteBuffer(bytes));
  const type = message.bodyType();
  const body = <T>(table: T): T => present(message.body(table as never) as T | null, 'the body of a message');
  switch (type) {
    case ServerBody.NONE:
      throw new WireError('a message without a body');
    case ServerBody.Welcome:
      return { type: 'welcome', welcome: readWelcome(body(new WireWelcome())) };
    case ServerBody.Snapshot:
      return { type: 'snapshot', part: readSnapshot(body(new WireSnapshot())) };
    case ServerBody.ChatLine:
      return readChat(body(new ChatLine()));
    case ServerBody.ContentPart:
      return readContent(body(new ContentPart()));
    case ServerBody.ContentRefused:
      return readRefused(body(new ContentRefused()));
    case ServerBody.ActAnswers:
      return readAnswers(body(new ActAnswers()));
    case ServerBody.BlockEdits:
      return readEdits(body(new BlockEdits()));
    case ServerBody.BlockKinds: {
      const kinds = body(new BlockKinds());
      const bytes = present(kinds.kindsArray(), 'the kinds of blocks');
      return { type: 'blockKinds', world: kinds.world(), kinds: readBlockKinds(bytes) };
    }
    case ServerBody.Fight:
      return readFight(body(new Fight()));
    case ServerBody.InventoryChange:
      return readInventory(body(new InventoryChange()));
    case ServerBody.BlockContents:
      return readContents(body(new BlockContents()));
    case ServerBody.WeaponKinds: {
      const kinds = body(new WeaponKinds());
      return { type: 'weaponKinds', world: kinds.world(), names: readWeaponNames(kinds) };
    }
    case ServerBody.MonsterShows:
      return readShows(body(new MonsterShows()));
    case ServerBody.Carried:
      return readCarried(body(new Carried()));
    case ServerBody.Score:
      return readScore(body(new Score()));
    case ServerBody.ReplicatedKinds: {
      const kinds = body(new ReplicatedKinds());
      const bytes = present(kinds.kindsArray(), 'what is told of kinds');
      return { type: 'replicatedKinds', world: kinds.world(), replication: readReplication(bytes) };
    }
    case ServerBody.GameMessage:
      return readGameMessage(body(new GameMessage()));
    case ServerBody.Saved: {
      const saved = body(new Saved());
      return { type: 'saved', tick: saved.tick(), world: saved.world() };
    }
    case ServerBody.GroundChunk:
      checkGround(body(new GroundChunk()));
      return { type: 'unknown' };
    case ServerBody.GroundGone:
      checkGone(body(new GroundGone()));
      return { type: 'unknown' };
    default:
      return { type: 'unknown' };
  }
}
