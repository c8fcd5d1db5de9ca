// Sessions with a server that lies, floods, or is another one than it was.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ByteBuffer } from 'flatbuffers';

import { Chat } from '../generated/ashlar/wire/chat';
import { ChatLine } from '../generated/ashlar/wire/chat-line';
import { ClientBody } from '../generated/ashlar/wire/client-body';
import { ClientMessage } from '../generated/ashlar/wire/client-message';
import { ContentPart } from '../generated/ashlar/wire/content-part';
import { Join } from '../generated/ashlar/wire/join';
import { ServerBody } from '../generated/ashlar/wire/server-body';
import { concat } from '../src/bytes';
import { Client } from '../src/client';
import { EventQueue, eventBytesMax, eventsMax } from '../src/client_events';
import { ActKind, BlockFace, standStill } from '../src/client_messages';
import { CommandIssuer } from '../src/command_issuer';
import { Cipher, type Crypto } from '../src/crypto';
import { Stream } from '../src/frames';
import { readServerMessage } from '../src/server_messages';
import { sodiumCrypto } from '../src/sodium_crypto';
import { View } from '../src/view';
import { writePart } from './packed_writer';
import { writeScore, writeWelcome } from './server_writer';
import { Session, blockKinds, replicatedKinds, sessionServer, stepMs } from './session';
import { messageOf } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

const chat = (text: string): Uint8Array => messageOf(ServerBody.ChatLine, (builder) =>
  ChatLine.createChatLine(builder, builder.createString('Ada'), builder.createString(text)));

function joins(session: Session): bigint[][] {
  return session.heard.filter(({ stream }) => stream === Stream.control)
    .map(({ message }) => ClientMessage.getRootAsClientMessage(new ByteBuffer(message)))
    .filter((message) => message.bodyType() === ClientBody.Join)
    .map((message) => {
      const join = message.body(new Join()) as Join;
      return Array.from({ length: join.contentLength() }, (_, i) => join.content(i)!);
    });
}

test('session: a client plays, and what makes no sense where it comes is dropped', () => {
  const session = new Session(crypto);
  session.play();
  assert.deepEqual(joins(session), [[]]);
  assert.equal(session.client.blockKinds.length, 30);
  session.say(Stream.events, writeScore('Ada'), writeScore('Ada', { world: 2 }));
  session.say(Stream.chat, chat('good morning'));
  session.say(Stream.control, blockKinds(), replicatedKinds());
  session.say(Stream.edits, chat('in the wrong place'));
  assert.deepEqual([session.count('score'), session.count('chat'), session.client.dropped], [1, 1, 4]);
  session.say(Stream.control, writeWelcome({ world: 2 }));
  assert.equal(session.client.state, 'joining');
  session.say(Stream.events, writeScore(undefined, { changes: true, world: 2 }));
  assert.equal(session.count('score'), 1, 'of another world nothing was told yet');
  session.say(Stream.control, blockKinds(2), replicatedKinds(undefined, 2));
  assert.equal(joins(session).length, 2);
});

test('session: what is no message closes it, of whatever kind it is', () => {
  const wrong: [Stream | undefined, Uint8Array][] = [
    [Stream.control, writeWelcome({ rules: { fallFreeM: NaN } })], [Stream.control, writeWelcome({ tick: 0xffff0001 })], [Stream.chat, chat('two\nlines')],
    [Stream.events, writeScore(' ')], [undefined, writePart({ tick: 9, items: [Uint8Array.of(99)] })],
    [undefined, Uint8Array.of(2, 0, 0, 0)], [undefined, writePart({ tick: 0xffff0001, items: [] })],
  ];
  for (const [stream, message] of wrong) {
    const session = new Session(crypto);
    session.play();
    if (stream === undefined) session.server.sendUnreliable(message);
    else assert.ok(session.server.send(stream, message));
    assert.equal(session.until(session.now + 500)?.reason, 'protocol');
  }
});

test('session: a tick far ahead of the clock is not believed, and true ones go on being taken', () => {
  const session = new Session(crypto);
  session.play(1000);
  const before = session.client.view.tick;
  session.server.sendUnreliable(writePart({ tick: 1000 + 100_000, items: [] }));
  session.go(20);
  assert.deepEqual([session.client.view.tick, session.client.dropped], [before, 1]);
  session.server.sendUnreliable(writePart({ tick: 1010, items: [] }));
  session.go(20);
  assert.equal(session.client.view.tick, 1010);
  // Who was away for a while is far behind.
  session.go(3000);
  session.server.sendUnreliable(writePart({ tick: 1010 + 1500, items: [] }));
  session.go(20);
  assert.equal(session.client.view.tick, 2510);
});

test('session: a score that comes unreliably ends no program', () => {
  const session = new Session(crypto);
  session.play();
  session.server.sendUnreliable(writeScore('Ada', { changes: true, gone: [4] }));
  session.go();
  assert.deepEqual([session.client.state, session.client.dropped], ['playing', 1]);
});

test('session: of fetched content no more is taken than a client was made for', () => {
  const session = new Session(crypto, { fetchContent: true, fetchBytesMax: 40 });
  const part = (hash: bigint, total: number): Uint8Array => messageOf(ServerBody.ContentPart, (builder) => {
    const envelope = concat(Uint8Array.of(0x41, 0x43, 0x4f, 0x4e, 1, 2, 0, 0, 5, 0, 0, 0), new Uint8Array(total - 12));
    return ContentPart.createContentPart(builder, hash, total, 0, ContentPart.createBytesVector(builder, envelope));
  });
  session.say(Stream.control, writeWelcome({ props: [{ hash: 5n }, { hash: 6n }, { hash: 7n }] }));
  session.say(Stream.bulk, part(5n, 20), part(6n, 20));
  assert.deepEqual([session.count('content'), session.client.state], [2, 'joining']);
  assert.ok(session.server.send(Stream.bulk, part(7n, 20)));
  assert.equal(session.until(session.now + 500)?.reason, 'lacks_content');
});

test('session: who ended stays so, though an answer comes late', () => {
  const client = new Client(crypto, { name: 'late' });
  client.advance(0, []);
  client.linkOpened(9000);
  for (let now = 9000; now <= 10_100; now += stepMs) client.advance(now, []);
  assert.deepEqual(client.takeEvents().map(({ type }) => type), ['ended']);
  const keys = {
    connection: 77, cipher: Cipher.chacha20Poly1305, clientToServer: sessionServer, serverToClient: sessionServer,
    resumption: sessionServer,
  };
  const { handshake } = client as unknown as { handshake: object | undefined };
  if (handshake) Object.assign(handshake, { receive: () => keys });
  client.advance(10_200, [new Uint8Array(40)]);
  assert.equal(client.state, 'ended');
});

test('session: no other server is told which session was ours', () => {
  const session = new Session(crypto);
  session.play();
  const helloTo = (server: Uint8Array): Uint8Array =>
    (session.client as unknown as { writeHello(binding: Uint8Array, server: Uint8Array): Uint8Array })
      .writeHello(new Uint8Array(32), server);
  assert.ok(helloTo(sessionServer).length > helloTo(new Uint8Array(32)).length + 30, 'a number and a proof');
});

test('session: names and tokens that no server takes end it before one is asked', () => {
  for (const [config, reason] of [
    [{ name: '' }, 'bad_name'], [{ name: ' Ada' }, 'bad_name'], [{ name: 'x'.repeat(25) }, 'bad_name'],
    [{ name: 'Ada', token: new Uint8Array(513) }, 'token_malformed'],
  ] as const) {
    const client = new Client(crypto, config);
    client.linkOpened(0);
    assert.deepEqual(client.advance(0, []), []);
    assert.ok(client.finished);
    assert.deepEqual(client.takeEvents(), [{ type: 'ended', reason, text: '', byServer: false }]);
  }
  assert.equal(new Client(crypto, { name: 'Ada', build: 'x'.repeat(2000) }).state, 'connecting');
});

test('events: those that nobody takes give way to newer ones, but for the end', () => {
  const events = new EventQueue();
  for (let i = 0; i < eventsMax + 10; ++i) events.push({ type: 'saved', tick: i }, 1);
  events.push({ type: 'ended', reason: 'kicked', text: '', byServer: true });
  const kept = events.take();
  assert.deepEqual([kept.length, events.missed], [eventsMax, 11]);
  assert.deepEqual([kept[0], kept[eventsMax - 1].type], [{ type: 'saved', tick: 11 }, 'ended']);
  for (let i = 0; i < 10; ++i) events.push({ type: 'saved', tick: i }, eventBytesMax / 4);
  assert.equal(events.take().length, 4);
  for (let i = 0; i < 40; ++i) events.push({ type: 'content', hash: BigInt(i), bytes: new Uint8Array(1) }, 4 * 2 ** 20);
  events.push({ type: 'found' });
  assert.deepEqual(events.take().map(({ type }) => type), [...new Array<string>(16).fill('content'), 'found']);
  assert.deepEqual(events.take(), []);
});

test('events: a server that talks to a deaf game fills no memory', () => {
  const session = new Session(crypto);
  session.play();
  for (let round = 0; round < 60; ++round) {
    for (let i = 0; i < 100; ++i) session.server.send(Stream.chat, chat('again and again'));
    for (let ms = 0; ms < 200; ms += stepMs) {
      session.now += stepMs;
      for (const packet of session.client.advance(session.now, session.server.poll(session.now))) {
        session.server.receive(session.now, packet);
      }
    }
  }
  assert.ok(session.client.missedEvents > 0);
  assert.equal(session.client.takeEvents().length, eventsMax);
});

test('commands: those before the first that is applied are said again, at whatever tick', () => {
  const message = readServerMessage(writeWelcome());
  assert.ok(message.type === 'welcome');
  for (const tick of [1000, 2 ** 31 + 1000, 2 ** 32 - 3]) {
    const issuer = new CommandIssuer(message.welcome, false);
    const view = new View(60);
    const head = { tick, world: 1, appliedTick: 0, inputAhead: undefined, part: 0, partCount: 1 };
    let longest = 0;
    for (let now = 0, at = tick; now < 400; now += 16, ++at) {
      issuer.observe(now, { ...head, tick: at >>> 0 }, 0);
      for (const said of issuer.due(now, 0, standStill, view)) longest = Math.max(longest, said.length);
    }
    assert.ok(longest > 100, `${longest} bytes hold fewer than eight commands`);
  }
});

test('session: lines that are said while it is sought, or were lost with it, are said once over the next connection', () => {
  const session = new Session(crypto);
  const { client } = session;
  const lines = (): string[] => session.heard.filter(({ stream }) => stream === Stream.chat)
    .map(({ message }) => ClientMessage.getRootAsClientMessage(new ByteBuffer(message)).body(new Chat()) as Chat)
    .map((line) => line.text()!);
  const dig = { kind: ActKind.dig, block: [0, 0, 0] as [number, number, number], face: BlockFace.top, placed: 0 };
  session.play();
  assert.equal(client.act(dig), 1);
  assert.ok(client.say('first'));
  session.go();
  assert.ok(client.say('lost on its way'));
  client.advance(session.now, []);
  client.linkBroke(session.now);
  assert.ok(client.seeking);
  assert.ok(client.say('while seeking'));
  assert.equal(client.act(dig), 0);
  session.go();
  assert.deepEqual(lines(), ['first']);
  session.reconnect(crypto);
  session.play(1100);
  session.go(1000);
  assert.ok(client.say('after'));
  session.go(1000);
  assert.deepEqual(lines(), ['first', 'lost on its way', 'while seeking', 'after']);
  let waiting = 0;
  client.linkBroke(session.now);
  while (client.say('more') && waiting < 100) ++waiting;
  assert.equal(waiting, 16);
});
