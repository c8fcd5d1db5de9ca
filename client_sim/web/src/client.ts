// A client without sockets and clocks: fed with packets and the time, drained of packets and events.

import type { BlockKind } from './block_kinds';
import { WireError, check, equalBytes } from './bytes';
import { buildOf, faultOf, type ClientConfig } from './client_config';
import { EventQueue, type ClientEvent } from './client_events';
import {
  chatBytesMax, isAct, standStill, writeActs, writeChat, writeContentRequest, writeGameCall, writeHello, writeJoin, type Act,
  type Command,
} from './client_messages';
import { CommandIssuer } from './command_issuer';
import { Connection } from './connection';
import { ContentFetch } from './content_fetch';
import { makeKeyPair, type Crypto, type KeyPair } from './crypto';
import { CueFilter } from './cues';
import { Stream } from './frames';
import { ClientHandshake, resumeProof, type HandshakeFailure } from './handshake';
import { HeldContent } from './held_content';
import { isPacked, readPackedPart } from './packed';
import { connectionOf, resetToken } from './packet';
import type { Replication } from './replication';
import { readServerMessage, type MonsterShow, type ServerMessage } from './server_messages';
import { closeReasons, reasonName, type ConnectionEnd } from './session_end';
import { ticksSince, worldTicksMax, type SnapshotPart } from './snapshot';
import { validText } from './text';
import { travels } from './travels';
import { View } from './view';
import type { Welcome } from './welcome';
import { WorldFacts } from './world_facts';

export type { ClientConfig } from './client_config';
export type { ClientEvent } from './client_events';

const silenceMs = 5000;
const seekMs = 20_000;
const joinMs = 10_000;
const fetchMs = 30_000;
const chatLinesMax = 16;
/** Seconds that a snapshot may be ahead of what is known, and how much faster than the server's ticks that grows. */
const reachS = 5;
const reachGrowth = 8;
const cueBytes = 20;
const welcomeBytes = 1024;

export type ClientState = 'connecting' | 'joining' | 'playing' | 'ended';

/** The session that a client goes on with when it was cut off. */
interface EarlierSession {
  connection: number;
  resumption: Uint8Array;
  /** Whose it was: to a server of another key it would be of no use. */
  server: Uint8Array;
}

/** One player's stay, from its first hello to its end. All times in milliseconds; they never run backwards. */
export class Client {
  private readonly identity: KeyPair;
  private handshake: ClientHandshake | undefined;
  private connection: Connection | undefined;
  private earlier: EarlierSession | undefined;
  private seekingSince: number | undefined;
  private snapshotAt = 0;  // when a newer tick came last, or the welcome
  private waitsSince: number | undefined;  // for its first snapshot, or for what it lacks
  private linked = false;
  private ended: ConnectionEnd | undefined;
  private readonly events = new EventQueue();
  private issuer: CommandIssuer | undefined;
  private cueFilter = new CueFilter();
  private readonly facts = new WorldFacts();
  private readonly fetch: ContentFetch;
  private readonly held: HeldContent;
  private actsSaid = 0;
  private readonly chatOut: string[] = [];
  private chatSaidOn: Connection | undefined;  // that the first of them is on its way over
  private connectionServer: Uint8Array | undefined;

  state: ClientState = 'connecting';
  welcome: Welcome | undefined;
  view = new View(60);
  /** The command of every tick from now on; beyond its bounds the nearest within. */
  command: Command = standStill;
  /** The server's key, once it has proven it. */
  serverKey: Uint8Array | undefined;
  /** Messages that may not travel where they did, or that made no sense. */
  dropped = 0;

  constructor(private readonly crypto: Crypto, private readonly config: ClientConfig) {
    this.identity = config.identity ?? makeKeyPair(crypto);
    this.fetch = new ContentFetch(config.fetchBytesMax);
    this.held = new HeldContent(config.holds);
    const fault = faultOf(config);
    if (fault) this.finish(0, { reason: closeReasons[fault], text: '', byPeer: false });
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

  get blockKinds(): readonly BlockKind[] {
    return this.facts.blockKinds;
  }
  get weaponNames(): readonly string[] {
    return this.facts.weaponNames;
  }
  get monsterShows(): readonly MonsterShow[] {
    return this.facts.monsterShows;
  }
  get replication(): Replication | undefined {
    return this.facts.replication;
  }
  /** Events that nobody took, and that gave way to newer ones. */
  get missedEvents(): number {
    return this.events.missed;
  }

  /** Of the map or prop that is being fetched: how much of it is here. */
  get fetchedBytes(): number {
    return this.fetch.request()?.offset ?? 0;
  }

  takeEvents(): ClientEvent[] {
    return this.events.take();
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

  /**
   * Said once it plays, also when its session is lost meanwhile. False: it has ended, too many lines wait, or it is
   * none. @param text printable, 1-200 bytes
   */
  say(text: string): boolean {
    if (this.state === 'ended' || !validText(text, 1, chatBytesMax) || this.chatOut.length >= chatLinesMax) return false;
    this.chatOut.push(text);
    return true;
  }

  /**
   * Says something to the world's game, of a kind that it declared for clients. False: no such kind, too long, or it
   * does not play, or seeks its session.
   */
  sendGameMessage(name: string, bytes: Uint8Array): boolean {
    if (this.state !== 'playing' || this.seeking || !this.welcome || !this.connection) return false;
    const kinds = this.replication?.clientMessages ?? [];
    const number = kinds.findIndex((kind) => kind.name === name);
    if (number < 0 || bytes.length > kinds[number].bytesMax) return false;
    return this.connection.send(Stream.events, writeGameCall(this.welcome.world, number, bytes));
  }

  /** @returns the act's number, which its answers name; 0 when it does not play, seeks its session, or that is no act */
  act(act: Omit<Act, 'number'>): number {
    if (this.state !== 'playing' || this.seeking || !this.welcome || !this.connection || !isAct(act)) return 0;
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
    this.sayLines();
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
      payload: (binding, server) => this.writeHello(binding, server),
    }, now);
  }

  private writeHello(binding: Uint8Array, server: Uint8Array): Uint8Array {
    const { name, token = new Uint8Array(0), encoding } = this.config;
    const { earlier } = this;
    const resume = earlier && equalBytes(earlier.server, server) ? {
      connection: earlier.connection, proof: resumeProof(this.crypto, earlier.resumption, binding),
    } : undefined;
    return writeHello({ name, build: buildOf(this.config), token, resume, takesPacked: encoding !== 'plain' });
  }

  private receive(now: number, packet: Uint8Array): void {
    const token = resetToken(packet);
    if (token) {
      this.takeReset(now, packet, token);
    } else if (this.connection && connectionOf(packet) === this.connection.keys.connection) {
      this.takeSealed(now, this.connection, packet);
    } else if (this.handshake && this.state !== 'ended') {
      const keys = this.handshake.receive(now, packet);
      if (!keys) return;
      this.serverKey = this.connectionServer = this.handshake.serverKey;
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
        else this.take(now, stream, readServerMessage(message), message.length);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        connection.close(now, closeReasons.protocol, error.message);
      }
    }
    if (connection === this.connection && connection.end && this.state !== 'ended') this.takeEnd(now, connection.end);
  }

  private take(now: number, stream: Stream | undefined, message: ServerMessage, bytes: number): void {
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
        this.events.push(message, bytes);
        break;
      case 'content':
        this.takePart(now, message);
        break;
      case 'contentRefused':
        if (this.fetch.refuse(message.hash)) this.leaveWithoutContent(now);
        break;
      default:
        this.takeFact(message, bytes);
    }
  }

  private takeFact(message: ServerMessage, bytes: number): void {
    const event = this.facts.take(message);
    if (event === false) {
      ++this.dropped;
      return;
    }
    if (event) this.events.push(event, bytes);
    if (message.type === 'replicatedKinds') this.view.replication = message.replication;
    if (message.type === 'replicatedKinds' || message.type === 'blockKinds') this.joinWhenReady();
  }

  private takeWelcome(now: number, welcome: Welcome): void {
    this.seekingSince = undefined;
    this.waitsSince = this.snapshotAt = now;
    this.earlier = this.connection && this.connectionServer && {
      connection: this.connection.keys.connection, resumption: this.connection.keys.resumption,
      server: this.connectionServer,
    };
    this.welcome = welcome;
    this.state = 'joining';
    this.view = new View(welcome.tickRateHz);
    this.cueFilter = new CueFilter();
    this.issuer = new CommandIssuer(welcome, this.config.encoding !== 'plain');
    this.facts.begin(welcome);
    if (this.replication) this.view.replication = this.replication;
    this.events.push({ type: 'welcome', welcome }, welcomeBytes);
    const lacking = this.held.lackingOf(welcome);
    if (lacking.length > 0 && !this.config.fetchContent) {
      this.leaveWithoutContent(now);
      return;
    }
    this.fetch.begin(lacking);
    this.requestContent();
    this.joinWhenReady();
  }

  /** Once the world's kinds and all that was lacking are here. */
  private joinWhenReady(): void {
    const { welcome } = this;
    if (!welcome || !this.facts.complete || this.fetch.busy) return;
    const held = this.held.heldOf(welcome);
    this.connection?.send(Stream.control, writeJoin(held, welcome.world, this.config.watches ?? false));
  }

  private requestContent(): void {
    const wish = this.fetch.request();
    if (wish) this.connection?.send(Stream.control, writeContentRequest(wish.hash, wish.offset));
  }

  private takePart(now: number, { hash, total, offset, bytes }: ServerMessage & { type: 'content' }): void {
    if (this.fetch.busy) this.waitsSince = now;
    const whole = this.fetch.take(hash, total, offset, bytes);
    if (this.fetch.failure) this.leaveWithoutContent(now, `: ${this.fetch.failure}`);
    if (!whole) return;
    this.held.add(hash);
    this.events.push({ type: 'content', hash, bytes: whole }, whole.length);
    this.requestContent();
    this.joinWhenReady();
  }

  private leaveWithoutContent(now: number, why = ''): void {
    const names = this.welcome ? this.held.lackingOf(this.welcome).map(({ name }) => name) : [];
    const text = [...new Set(names)].join(' ') + why;
    this.finish(now, { reason: closeReasons.lacks_content, text, byPeer: false });
  }

  /** A tick far ahead of the clock would make every true one after it look old. */
  private believable(now: number, tick: number, { tick: first, tickRateHz }: Welcome): boolean {
    const { tick: newest } = this.view;
    const known = newest !== 0 && ticksSince(newest, first) > 0 ? newest : first;
    const elapsed = Math.floor(((now - this.snapshotAt) * tickRateHz) / 1000);
    return ticksSince(tick, known) <= reachS * tickRateHz + reachGrowth * elapsed;
  }

  private takeSnapshot(now: number, part: SnapshotPart): void {
    check(part.tick <= worldTicksMax, 'the tick of a part');
    if (!this.welcome || part.world !== this.welcome.world || !this.connection) {
      ++this.dropped;
      return;
    }
    if (!this.believable(now, part.tick, this.welcome)) {
      ++this.dropped;
      this.view.lose();  // it counts as arrived: the server must hear that nothing of it is held
      return;
    }
    const before = this.view.tick;
    this.view.take(part);
    for (const item of part.items) {
      if (item.type !== 'cues' || !this.cueFilter.isNew(part.tick, part.part)) continue;
      this.events.push({ type: 'cues', tick: part.tick, cues: item.cues }, cueBytes * item.cues.length);
    }
    if (this.view.tick === before) return;
    this.snapshotAt = now;
    this.issuer?.observe(now, part, this.connection.rttMs ?? 0);
    if (this.state === 'joining') {
      this.state = 'playing';
      this.events.push({ type: 'playing', resumed: this.welcome.resumed });
    }
  }

  /** One line at a time, so that a session that goes on over another connection says few of them twice. Those that
   *  wait when the client leaves are not said. */
  private sayLines(): void {
    if (this.chatSaidOn?.unacknowledgedOf(Stream.chat) === 0) {
      this.chatOut.shift();
      this.chatSaidOn = undefined;
    }
    const { connection, chatOut } = this;
    if (!connection || this.state !== 'playing' || this.seeking) return;
    if (chatOut.length === 0 || this.chatSaidOn === connection) return;
    if (connection.send(Stream.chat, writeChat(chatOut[0]))) this.chatSaidOn = connection;
  }

  private issueCommands(now: number): void {
    if (this.state !== 'playing' || !this.issuer || !this.connection) return;
    const messages = this.issuer.due(now, this.connection.rttMs ?? 0, this.command, this.view);
    for (const message of messages) this.connection.sendUnreliable(message);
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
    this.handshake = undefined;
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
