// A client without sockets and clocks: fed with packets and the time, drained of packets and events.

import type { BlockChange } from './block_changes';
import type { BlockKind } from './block_kinds';
import { WireError, equalBytes } from './bytes';
import {
  isAct, playable, standStill, writeActs, writeChat, writeContentRequest, writeGameCall, writeHello, writeInput,
  writeJoin, type Act, type Command, type NumberedCommand,
} from './client_messages';
import { Connection } from './connection';
import { ContentFetch } from './content_fetch';
import { makeKeyPair, type Crypto, type KeyPair } from './crypto';
import { CueFilter, type Cue } from './cues';
import { Stream } from './frames';
import { ClientHandshake, resumeProof, type HandshakeFailure } from './handshake';
import { InputClock } from './input_clock';
import { writePackedInput } from './packed_input';
import { isPacked, readPackedPart } from './packed';
import { connectionOf, resetToken } from './packet';
import type { Replication } from './replication';
import { takeScore, type ToldScore } from './score_board';
import {
  readServerMessage, type ActAnswer, type Hit, type MonsterShow, type ScoreBoard, type ServerMessage,
  type SlotChange,
} from './server_messages';
import { closeReasons, reasonName, type ConnectionEnd } from './session_end';
import { ticksSince, type SnapshotPart } from './snapshot';
import { validText } from './text';
import { View } from './view';
import type { Welcome } from './welcome';

const silenceMs = 5000;
const seekMs = 20_000;
const joinMs = 10_000;
const fetchMs = 30_000;
const commandsMax = 8;
const chatBytesMax = 200;

export interface ClientConfig {
  name: string;
  build?: string;
  /** Who the player is; drawn when left out, and then another one each time. */
  identity?: KeyPair;
  /** The only server key that will do. */
  pinned?: Uint8Array;
  /** A connect token, for closed servers. */
  token?: Uint8Array;
  /** Does the client hold the map or prop of this hash? Without it: none. */
  holds?: (hash: bigint) => boolean;
  /** How snapshots shall come: packed unless told, at some fifth of the bytes. */
  encoding?: 'plain' | 'packed';
  /** Fetch what it lacks from the server, or leave with `lacks_content`? */
  fetchContent?: boolean;
  /** Come as a spectator: who flies through everything, and whom the others do not see? */
  watches?: boolean;
  /** After how long it changes the keys that it seals with; two hours at most. */
  keyAgeMs?: number;
}

export type ClientEvent =
  | { type: 'welcome'; welcome: Welcome }
  | { type: 'playing'; resumed: boolean }
  | { type: 'chat'; from: string; text: string }
  | { type: 'content'; hash: bigint; bytes: Uint8Array }
  | { type: 'actAnswers'; answers: ActAnswer[] }
  | { type: 'blockEdits'; changes: BlockChange[] }
  /** What happened up to this tick survives a power cut. */
  | { type: 'saved'; tick: number }
  /** The own health and armour in points, and who was hit. */
  | { type: 'fight'; health: number; armour: number; hits: Hit[] }
  | { type: 'inventory'; whole: boolean; slots: SlotChange[] }
  /** The chest that the player looks into (`open`; without, no longer), and signs and timers near it. */
  | {
    type: 'blockContents'; open: boolean; block: [number, number, number]; slots: SlotChange[]; text: string;
    due: bigint;
  }
  | { type: 'carried'; weapons: number; ammo: number[]; held: number; picked: number[] }
  | { type: 'score'; score: ScoreBoard }
  /** Of the server's own game, by the name of its kind. */
  | { type: 'gameMessage'; tick: number; name: string; bytes: Uint8Array }
  /** What only shows, as it came: each once, and what was lost never. A cue happened its age before the tick. */
  | { type: 'cues'; tick: number; cues: Cue[] }
  | { type: 'seeking'; why: string }
  /** The session that was sought is heard again by itself. */
  | { type: 'found' }
  | { type: 'ended'; reason: string; text: string; byServer: boolean };

export type ClientState = 'connecting' | 'joining' | 'playing' | 'ended';

/** Where a message may travel; undefined is unreliable. */
const travels: Record<ServerMessage['type'], Stream | undefined | null> = {
  welcome: Stream.control,
  snapshot: undefined,
  chat: Stream.chat,
  content: Stream.bulk,
  contentRefused: Stream.bulk,
  actAnswers: Stream.edits,
  blockEdits: Stream.edits,
  blockKinds: Stream.control,
  saved: Stream.edits,
  fight: Stream.events,
  inventory: Stream.events,
  blockContents: Stream.edits,
  weaponKinds: Stream.control,
  monsterShows: Stream.control,
  carried: Stream.events,
  score: Stream.events,
  replicatedKinds: Stream.control,
  gameMessage: Stream.events,
  unknown: null,
};

/** The session that a client goes on with when it was cut off. */
interface EarlierSession {
  connection: number;
  resumption: Uint8Array;
}

/** One player's stay, from its first hello to its end. All times in milliseconds; they never run backwards. */
export class Client {
  private readonly identity: KeyPair;
  private handshake: ClientHandshake | undefined;
  private connection: Connection | undefined;
  private earlier: EarlierSession | undefined;
  private seekingSince: number | undefined;
  private waitsSince: number | undefined;  // for its first snapshot, or for what it lacks
  private linked = false;
  private ended: ConnectionEnd | undefined;
  private events: ClientEvent[] = [];
  private clock: InputClock | undefined;
  private commands: NumberedCommand[] = [];
  private cueFilter = new CueFilter();
  private readonly fetch = new ContentFetch();
  private readonly fetched = new Set<bigint>();
  private actsSaid = 0;
  private score: ToldScore | undefined;

  state: ClientState = 'connecting';
  welcome: Welcome | undefined;
  /** What the world's blocks are like, by their numbers. */
  blockKinds: BlockKind[] = [];
  /** The names of the world's weapons, by their numbers. */
  weaponNames: string[] = [];
  /** How the world's monsters show, of the kinds that do not as usual. */
  monsterShows: MonsterShow[] = [];
  /** What the world tells of its kinds, and its game's messages; undefined until it told. */
  replication: Replication | undefined;
  view = new View(60);
  /** The command of every tick from now on; beyond its bounds the nearest within. */
  command: Command = standStill;
  /** The server's key, once it has proven it. */
  serverKey: Uint8Array | undefined;
  /** Messages that may not travel where they did, or that made no sense. */
  dropped = 0;

  constructor(private readonly crypto: Crypto, private readonly config: ClientConfig) {
    this.identity = config.identity ?? makeKeyPair(crypto);
  }

  /** True when nothing more comes of it: not even closes are left to say. */
  get finished(): boolean {
    return this.state === 'ended' && (!this.connection || this.connection.finished);
  }
  /** Its session is being sought anew. */
  get seeking(): boolean {
    return this.seekingSince !== undefined;
  }
  /** The session's; undefined while there is none. */
  get connectionNumber(): number | undefined {
    return this.connection?.keys.connection;
  }
  get rttMs(): number | undefined {
    return this.connection?.rttMs;
  }

  /** Of the map or prop that is being fetched: how much of it is here. */
  get fetchedBytes(): number {
    return this.fetch.request()?.offset ?? 0;
  }

  takeEvents(): ClientEvent[] {
    return this.events.splice(0);
  }

  /** There is a way to the server: at once for UDP, once connected for TCP, again after it broke. */
  linkOpened(now: number): void {
    this.linked = true;
    if (this.state !== 'ended') this.beginHandshake(now);
  }

  /** The TCP connection broke, or none came about. */
  linkBroke(now: number): void {
    this.linked = false;
    this.handshake = undefined;
    if (this.state === 'ended') this.connection = undefined;
    else if (this.earlier) this.seek(now, 'the connection broke');
    else this.handshakeFailed(now, 'no_answer');
  }

  /** False: the server has not asked for lines yet, too many wait, or it is none. @param text printable, 1-200 bytes */
  say(text: string): boolean {
    if (!validText(text, 1, chatBytesMax)) return false;
    return this.connection?.send(Stream.chat, writeChat(text)) ?? false;
  }

  /** Says something to the world's game, of a kind that it declared for clients. False: no such kind, or too long. */
  sendGameMessage(name: string, bytes: Uint8Array): boolean {
    if (this.state !== 'playing' || !this.welcome || !this.connection) return false;
    const kinds = this.replication?.clientMessages ?? [];
    const number = kinds.findIndex((kind) => kind.name === name);
    if (number < 0 || bytes.length > kinds[number].bytesMax) return false;
    return this.connection.send(Stream.events, writeGameCall(this.welcome.world, number, bytes));
  }

  /** @returns the act's number, which its answers name; 0 when it does not play, or that is no act */
  act(act: Omit<Act, 'number'>): number {
    if (this.state !== 'playing' || !this.welcome || !this.connection || !isAct(act)) return 0;
    const number = this.actsSaid + 1;
    const message = writeActs([{ ...act, number }], 0, this.welcome.world);
    if (!this.connection.send(Stream.edits, message)) return 0;
    this.actsSaid = number;
    return number;
  }

  /** Says goodbye; advance() until finished. */
  quit(now: number): void {
    this.finish(now, { reason: closeReasons.quit, text: '', byPeer: false });
  }

  /** Takes what arrived and lets time pass, every few milliseconds. @returns packets to send */
  advance(now: number, packets: readonly Uint8Array[]): Uint8Array[] {
    for (const packet of packets) this.receive(now, packet);
    if (this.state === 'ended') return this.connection?.poll(now) ?? [];
    this.watch(now);
    this.issueCommands(now);
    const out = this.connection && this.linked ? this.connection.poll(now) : [];
    const hello = this.linked ? this.handshake?.poll(now) : undefined;
    if (hello) out.push(hello);
    this.serverKey = this.handshake?.serverKey ?? this.serverKey;
    if (this.handshake?.failure) this.handshakeFailed(now, this.handshake.failure);
    return out;
  }

  private beginHandshake(now: number): void {
    this.handshake = new ClientHandshake(this.crypto, {
      identity: this.identity,
      pinned: this.config.pinned,
      payload: (binding) => this.writeHello(binding),
    }, now);
  }

  private writeHello(binding: Uint8Array): Uint8Array {
    const { name, build = '', token = new Uint8Array(0) } = this.config;
    const resume = this.earlier && {
      connection: this.earlier.connection,
      proof: resumeProof(this.crypto, this.earlier.resumption, binding),
    };
    return writeHello({ name, build, token, resume, takesPacked: this.config.encoding !== 'plain' });
  }

  private receive(now: number, packet: Uint8Array): void {
    const token = resetToken(packet);
    if (token) {
      this.takeReset(now, packet, token);
    } else if (this.connection && connectionOf(packet) === this.connection.keys.connection) {
      this.takeSealed(now, this.connection, packet);
    } else if (this.handshake) {
      const keys = this.handshake.receive(now, packet);
      if (!keys) return;
      this.serverKey = this.handshake.serverKey;
      this.handshake = undefined;
      this.connection = new Connection(this.crypto, keys, now, this.config.keyAgeMs);
      this.state = 'joining';
      this.takeSealed(now, this.connection, packet);
    }
  }

  private takeReset(now: number, packet: Uint8Array, token: Uint8Array): void {
    if (this.state === 'ended' || this.seeking || !this.connection || !this.welcome) return;
    if (connectionOf(packet) !== this.connection.keys.connection) return;
    if (equalBytes(token, this.welcome.resetToken)) this.seek(now, 'the server does not know the session any more');
  }

  private takeSealed(now: number, connection: Connection, packet: Uint8Array): void {
    for (const { stream, message } of connection.receive(now, packet)) {
      if (this.state === 'ended' || connection.end) break;
      try {
        if (stream === undefined && isPacked(message)) this.takeSnapshot(now, readPackedPart(message));
        else this.take(now, stream, readServerMessage(message));
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        connection.close(now, closeReasons.protocol, error.message);
      }
    }
    if (connection === this.connection && connection.end && this.state !== 'ended') this.takeEnd(now, connection.end);
  }

  private take(now: number, stream: Stream | undefined, message: ServerMessage): void {
    if (travels[message.type] !== stream) {
      ++this.dropped;
      return;
    }
    switch (message.type) {
      case 'welcome':
        this.takeWelcome(now, message.welcome);
        break;
      case 'snapshot':
        this.takeSnapshot(now, message.part);
        break;
      case 'chat':
        this.events.push(message);
        break;
      case 'content': {
        if (this.fetch.busy) this.waitsSince = now;
        const whole = this.fetch.take(message.hash, message.total, message.offset, message.bytes);
        if (this.fetch.failed) this.leaveWithoutContent(now);
        if (whole) this.takeContent(now, message.hash, whole);
        break;
      }
      case 'contentRefused':
        if (this.fetch.refuse(message.hash)) this.leaveWithoutContent(now);
        break;
      case 'blockKinds':
        this.takeBlockKinds(message.world, message.kinds);
        break;
      case 'actAnswers':
      case 'blockEdits':
      case 'saved':
      case 'fight':
      case 'inventory':
      case 'blockContents':
      case 'carried':
        if (message.world === this.welcome?.world) this.events.push(message);
        else ++this.dropped;
        break;
      case 'score': {
        const score = message.world === this.welcome?.world ? takeScore(this.score, message) : undefined;
        if (score !== undefined) this.events.push({ type: 'score', score: (this.score = score).score });
        else ++this.dropped;
        break;
      }
      case 'weaponKinds':
        if (message.world === this.welcome?.world) this.weaponNames = message.names;
        else ++this.dropped;
        break;
      case 'monsterShows':
        if (message.world === this.welcome?.world) this.monsterShows = message.kinds;
        else ++this.dropped;
        break;
      case 'replicatedKinds':
        this.takeReplication(message.world, message.replication);
        break;
      case 'gameMessage':
        this.takeGameMessage(message);
        break;
      default:
        ++this.dropped;
    }
  }

  private takeCues(tick: number, part: number, cues: Cue[]): void {
    if (this.cueFilter.isNew(tick, part)) this.events.push({ type: 'cues', tick, cues });
  }

  private takeWelcome(now: number, welcome: Welcome): void {
    this.seekingSince = undefined;
    this.waitsSince = now;
    this.earlier = this.connection && {
      connection: this.connection.keys.connection, resumption: this.connection.keys.resumption,
    };
    this.welcome = welcome;
    this.state = 'joining';
    this.view = new View(welcome.tickRateHz);
    this.cueFilter = new CueFilter();
    this.clock = new InputClock(welcome.tickRateHz, welcome.snapshotEveryTicks);
    this.commands = [];
    // Who resumes is not told them again.
    if (!welcome.resumed) {
      this.blockKinds = [];
      this.monsterShows = [];
      this.replication = undefined;
    }
    if (this.replication) this.view.replication = this.replication;
    this.events.push({ type: 'welcome', welcome });
    const lacking = this.contentOf(welcome).filter((hash) => !this.isHeld(hash));
    if (lacking.length > 0 && !this.config.fetchContent) {
      this.leaveWithoutContent(now);
      return;
    }
    this.fetch.begin(lacking);
    this.requestContent();
    this.joinWhenReady();
  }

  private takeBlockKinds(world: number, kinds: BlockKind[]): void {
    if (world !== this.welcome?.world || this.blockKinds.length > 0) {
      ++this.dropped;
      return;
    }
    this.blockKinds = kinds;
    this.joinWhenReady();
  }

  private takeReplication(world: number, told: Replication): void {
    if (world !== this.welcome?.world || this.replication) {
      ++this.dropped;
      return;
    }
    this.replication = this.view.replication = told;
    this.joinWhenReady();
  }

  private takeGameMessage({ tick, world, number, bytes }: ServerMessage & { type: 'gameMessage' }): void {
    const kind = this.replication?.messages[number];
    if (world !== this.welcome?.world || !kind || bytes.length > kind.bytesMax) {
      ++this.dropped;
      return;
    }
    this.events.push({ type: 'gameMessage', tick, name: kind.name, bytes });
  }

  private contentOf(welcome: Welcome): bigint[] {
    return [...welcome.maps, ...welcome.props].map((content) => content.contentHash);
  }

  private isHeld(hash: bigint): boolean {
    return this.fetched.has(hash) || (this.config.holds?.(hash) ?? false);
  }

  /** Once the world's kinds and all that was lacking are here. */
  private joinWhenReady(): void {
    const { welcome } = this;
    if (!welcome || this.blockKinds.length === 0 || !this.replication || this.fetch.busy) return;
    const held = [...new Set(this.contentOf(welcome))].filter((hash) => this.isHeld(hash));
    this.connection?.send(Stream.control, writeJoin(held, welcome.world, this.config.watches ?? false));
  }

  private requestContent(): void {
    const wish = this.fetch.request();
    if (wish) this.connection?.send(Stream.control, writeContentRequest(wish.hash, wish.offset));
  }

  private takeContent(now: number, hash: bigint, bytes: Uint8Array): void {
    this.fetched.add(hash);
    this.events.push({ type: 'content', hash, bytes });
    this.requestContent();
    this.joinWhenReady();
  }

  private leaveWithoutContent(now: number): void {
    const { maps = [], props = [] } = this.welcome ?? {};
    const names = [...maps, ...props].filter((content) => !this.isHeld(content.contentHash)).map(({ name }) => name);
    this.finish(now, { reason: closeReasons.lacks_content, text: [...new Set(names)].join(' '), byPeer: false });
  }

  private takeSnapshot(now: number, part: SnapshotPart): void {
    if (!this.welcome || part.world !== this.welcome.world || !this.connection) {
      ++this.dropped;
      return;
    }
    const before = this.view.tick;
    this.view.take(part);
    for (const item of part.items) if (item.type === 'cues') this.takeCues(part.tick, part.part, item.cues);
    if (this.view.tick === before) return;
    this.commands = this.commands.filter((command) => ticksSince(command.tick, part.appliedTick) > 0);
    this.clock?.observe(now, part.tick, part.inputAhead, this.connection.rttMs ?? 0);
    if (this.state === 'joining') {
      this.state = 'playing';
      this.events.push({ type: 'playing', resumed: this.welcome.resumed });
    }
  }

  private issueCommands(now: number): void {
    if (this.state !== 'playing' || !this.clock || !this.connection || !this.welcome) return;
    const rttMs = this.connection.rttMs ?? 0;
    const { lostEpoch } = this.view;
    for (let tick = this.clock.next(now, rttMs); tick !== undefined; tick = this.clock.next(now, rttMs)) {
      const sawBefore = this.view.completeTick === 0 ? 0 : ticksSince(tick, this.view.completeTick);
      const seen = sawBefore > 0 && sawBefore < 65536 ? sawBefore : 0;
      const consecutive = this.commands[0]?.tick === ((tick - 1) >>> 0);
      const unconfirmed = consecutive ? this.commands.slice(0, commandsMax - 1) : [];
      this.commands = [{ ...playable(this.command), tick, seen }, ...unconfirmed];
      const { world } = this.welcome;
      this.connection.sendUnreliable(this.config.encoding === 'plain'
        ? writeInput(this.commands, this.view.tick, world, lostEpoch)
        : writePackedInput(this.commands, world, lostEpoch));
    }
  }

  /** Neither its first snapshot nor more of what it lacks came in time: it waits no longer. */
  private watchJoining(now: number): void {
    if (this.state === 'playing' || now - (this.waitsSince ??= now) <= (this.fetch.busy ? fetchMs : joinMs)) return;
    if (!this.connection) {
      this.handshakeFailed(now, 'no_answer');
      return;
    }
    this.connection = undefined;
    const text = this.fetch.busy ? 'the server stopped sending what is lacking' : 'the server sent no snapshot in time';
    this.finish(now, { reason: closeReasons.timeout, text, byPeer: false });
  }

  /** Silence, an end that nobody said, how long it waits to play, and how long a session is sought. */
  private watch(now: number): void {
    const { connection } = this;
    if (connection && this.seekingSince === undefined && this.linked && now - connection.lastHeardAt >= silenceMs) {
      this.seek(now, 'the server is silent');
    }
    if (this.seekingSince === undefined) {
      if (connection?.end) this.takeEnd(now, connection.end);
      else this.watchJoining(now);
      return;
    }
    if (connection && !connection.end && connection.lastHeardAt > this.seekingSince && this.handshake &&
        !this.handshake.serverKey) {
      this.seekingSince = undefined;
      this.handshake = undefined;
      this.events.push({ type: 'found' });
    } else if (now - this.seekingSince >= seekMs) {
      this.finish(now, { reason: closeReasons.timeout, text: '', byPeer: false });
    }
  }

  private seek(now: number, why: string): void {
    if (this.seekingSince === undefined) {
      this.seekingSince = now;
      this.events.push({ type: 'seeking', why });
    }
    if (this.linked && !this.handshake) this.beginHandshake(now);
  }

  private handshakeFailed(now: number, failure: HandshakeFailure): void {
    if (failure === 'no_answer' && this.seeking) {
      this.beginHandshake(now);
      return;
    }
    this.connection = undefined;
    this.state = 'ended';
    this.events.push({ type: 'ended', reason: failure, text: '', byServer: false });
  }

  private takeEnd(now: number, end: ConnectionEnd): void {
    // A server that takes our new session closes the one of before: the handshake tells what comes of it.
    if (this.seeking && end.byPeer && this.handshake?.serverKey) {
      this.connection = undefined;
      return;
    }
    const lostItself = end.reason === closeReasons.timeout && !end.byPeer;
    if (lostItself && this.earlier) this.seek(now, 'the server is silent');
    else if (!this.seeking || end.byPeer) this.finish(now, end);
  }

  private finish(now: number, end: ConnectionEnd): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.ended = end;
    this.handshake = undefined;
    if (this.seeking) this.connection = undefined;
    else if (!end.byPeer) this.connection?.close(now, end.reason, end.text);
    this.events.push({ type: 'ended', reason: reasonName(end.reason), text: end.text, byServer: end.byPeer });
  }

  /** How it ended; undefined while it has not, or when no session came about. */
  get end(): ConnectionEnd | undefined {
    return this.ended;
  }
}
