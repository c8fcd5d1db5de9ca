// The small parts by themselves: ranges against a plain set, packets cut out of TCP, keys, options, the clock.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ByteReader, ByteWriter, WireError, concat } from '../src/bytes';
import type { Crypto } from '../src/crypto';
import { InputClock } from '../src/input_clock';
import { publicKeyPrefix, readKey, secretKeyPrefix, writeKey } from '../src/keys';
import { UsageError, readOptions } from '../src/options';
import { TcpPackets, frameForTcp } from '../src/packet';
import { RangeSet } from '../src/ranges';
import { takeScore, type ToldScore } from '../src/score_board';
import { readServerMessage } from '../src/server_messages';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Seeded, example } from './support';

let crypto: Crypto;
before(async () => {
  crypto = await sodiumCrypto();
});

test('score: changes take what is known to what is so, and wrong ones are refused', () => {
  const row = (id: number, name: string, score: number) => ({ id, name, score, kills: 0, deaths: 0, team: 0 });
  const told = (rows: ReturnType<typeof row>[], changes: boolean, gone: number[] = [], match = 3): ToldScore =>
    ({ world: 1, score: { match, phase: 2, leftTicks: 9, teams: [0, 0, 0, 0], rows }, changes, gone });
  const known = takeScore(undefined, told([row(1, 'ann', 5), row(2, 'bob', 3), row(4, 'eve', 1)], false))!;
  const next = takeScore(known, told([row(2, '', 6), row(9, 'dan', 5)], true, [4]))!;
  assert.deepEqual(next.score.rows, [row(2, 'bob', 6), row(1, 'ann', 5), row(9, 'dan', 5)]);
  assert.equal(next.changes, false);
  assert.equal(takeScore(undefined, told([], true)), undefined);
  assert.equal(takeScore(known, told([], true, [], 4)), undefined);
  assert.equal(takeScore(known, told([row(7, '', 1)], true)), undefined);
  assert.equal(takeScore(known, { ...told([], true), world: 2 }), undefined);
  const many = Array.from({ length: 64 }, (_, i) => row(100 + i, 'x', 0));
  assert.equal(takeScore(known, told(many, true)), undefined);
});

test('ranges: hold what a plain set holds', () => {
  const random = new Seeded(31);
  for (let round = 0; round < 300; ++round) {
    const ranges = new RangeSet();
    const plain = new Set<number>();
    for (let step = 0; step < 30; ++step) {
      const begin = random.below(60);
      const end = begin + random.below(12);
      const adds = random.chance(0.6);
      if (adds) ranges.add(begin, end);
      else ranges.remove(begin, end);
      for (let i = begin; i < end; ++i) adds ? plain.add(i) : plain.delete(i);
      for (let i = 0; i < 75; ++i) assert.equal(ranges.contains(i), plain.has(i), `round ${round}`);
      for (let i = 1; i < ranges.ranges.length; ++i) assert.ok(ranges.ranges[i].begin > ranges.ranges[i - 1].end);
    }
  }
});

test('bytes: varints come back, and are as long as they need be', () => {
  for (const value of [0, 1, 127, 128, 300, 16383, 16384, 2 ** 32, 2 ** 53 - 1]) {
    const writer = new ByteWriter(1);
    writer.varint(value);
    assert.equal(new ByteReader(writer.finish()).varint(), value);
  }
  const tooLarge = Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40);
  assert.throws(() => new ByteReader(tooLarge).varint(), WireError);
});

test('TCP: packets come out whole, however the bytes were cut', () => {
  const random = new Seeded(41);
  const packets = Array.from({ length: 50 }, () => random.bytes(1 + random.below(1200)));
  const bytes = concat(...packets.map(frameForTcp));
  const cutter = new TcpPackets();
  const got: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + 1 + random.below(2000));
    got.push(...cutter.take(bytes.subarray(at, next)));
    at = next;
  }
  assert.deepEqual(got, packets);
  assert.throws(() => new TcpPackets().take(Uint8Array.of(0, 0)), WireError);
  assert.throws(() => new TcpPackets().take(Uint8Array.of(0xb1, 4)), WireError);
});

test('keys: are read as they are written, and not with a letter changed', () => {
  const key = new Seeded(51).bytes(32);
  const text = writeKey(crypto, publicKeyPrefix, key);
  assert.deepEqual(readKey(crypto, publicKeyPrefix, `${text}\n`), key);
  assert.equal(readKey(crypto, secretKeyPrefix, text), undefined);
  for (let at = publicKeyPrefix.length; at < text.length; ++at) {
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    assert.equal(readKey(crypto, publicKeyPrefix, changed), undefined);
  }
});

test('options: wrong ones are named', () => {
  const wrong: [string, string[]][] = [
    ['which server', []],
    ['no address', ['localhost']],
    ['no address', ['localhost:70000']],
    ['one too many', ['a:1', 'b:2']],
    ['--for needs a value', ['a:1', '--for']],
    ['no duration', ['a:1', '--for', 'soon']],
    ['too long', ['a:1', '--for', '597h']],
    ['udp or tcp', ['a:1', '--transport', 'pigeon']],
    ['public key', ['a:1', '--server-key', 'ashlar-public-abc']],
    ['cannot read', ['a:1', '--identity', '/does/not/exist']],
    ['no option', ['a:1', '--nmae', 'x']],
    ['--say takes', ['a:1', '--say', 'two\nlines']],
    ['--say takes', ['a:1', '--say', 'x'.repeat(201)]],
  ];
  for (const [what, words] of wrong) {
    assert.throws(() => readOptions(crypto, words), (error: Error) =>
      error instanceof UsageError && error.message.includes(what), words.join(' '));
  }
  const options = readOptions(crypto, ['[::1]:7777', '--for', '2m', '--transport', 'tcp', '--name', 'Ada']);
  assert.deepEqual([options.host, options.port, options.forMs, options.name], ['::1', 7777, 120_000, 'Ada']);
});

test('messages: recorded ones with bytes changed are read or refused, never anything else', () => {
  const random = new Seeded(71);
  const names = ['Welcome', 'Snapshot', 'ChatLine', 'ContentPart', 'ContentRefused'];
  for (let round = 0; round < 20_000; ++round) {
    const bytes = exampleOf(names[round % names.length]).slice();
    for (let i = random.below(6); i >= 0; --i) bytes[random.below(bytes.length)] = random.chance(0.5) ? random.below(256) : [0, 1, 0x7f, 0x80, 0xff][random.below(5)];
    try {
      readServerMessage(bytes);
    } catch (error) {
      assert.ok(error instanceof WireError, `round ${round}: ${(error as Error).stack}`);
    }
  }
});

const examples = new Map<string, Uint8Array>();
function exampleOf(name: string): Uint8Array {
  let bytes = examples.get(name);
  if (!bytes) examples.set(name, (bytes = example(name)));
  return bytes;
}

for (const [oneWayMs, rateHz] of [[1, 60], [60, 60], [200, 60], [500, 60], [300, 128], [1, 20], [60, 20], [60, 10]]) {
  const where = `${oneWayMs} ms from the server, whose clock drifts`;
  const wish = rateHz > 20 ? 2 : 1;
  test(`clock: at ${rateHz} Hz commands arrive ${wish === 2 ? 'two ticks' : 'a tick'} ahead, ${where}`, () => {
    const clock = new InputClock(rateHz);
    const serverTickMs = (1000 / rateHz) * 1.003;
    const toServer: { at: number; tick: number }[] = [];
    const toClient: { at: number; tick: number; ahead: number | undefined }[] = [];
    let newest: number | undefined;
    let serverTick = 5000;
    let late = 0;
    let early = 0;
    const jitter = new Seeded(oneWayMs);
    const aheads: number[] = [];
    for (let now = 0; now < 30_000; now += 2) {
      for (; toServer[0]?.at <= now; toServer.shift()) {
        const { tick } = toServer[0];
        newest = Math.max(newest ?? 0, tick);
        if (now > 4000 && tick <= serverTick) ++late;
        if (now > 4000 && tick > serverTick + 63) ++early;
      }
      if (now >= (serverTick - 5000) * serverTickMs) {
        ++serverTick;
        if (now > 10_000) aheads.push((newest ?? 0) - serverTick);
        toClient.push({ at: now + oneWayMs, tick: serverTick, ahead: newest && newest - serverTick });
      }
      for (; toClient[0]?.at <= now; toClient.shift()) {
        clock.observe(now, toClient[0].tick, toClient[0].ahead, 2 * oneWayMs);
      }
      for (let tick = clock.next(now, 2 * oneWayMs); tick !== undefined; tick = clock.next(now, 2 * oneWayMs)) {
        toServer.push({ at: now + oneWayMs + jitter.below(4), tick });
      }
    }
    assert.ok(late < 10 && early === 0, `${late} late, ${early} early`);
    const ahead = (newest ?? 0) - serverTick;
    assert.ok(ahead >= 1 && ahead <= 5, `${ahead} ticks ahead at the end`);
    const mean = aheads.reduce((sum, one) => sum + one, 0) / aheads.length;
    assert.ok(mean > wish - 1 && mean < wish + 1, `${mean} ticks ahead`);
  });
}

test('clock: ticks that wrap are issued as others are', () => {
  const rates = [60, 60].map((rate) => new InputClock(rate, 2));
  const first = [5000, 2 ** 32 - 120];
  const issued: number[][] = [[], []];
  const random = new Seeded(111);
  for (let now = 0; now < 6000; now += 4) {
    const jump = random.chance(0.01) ? random.below(40) - 20 : random.below(5);
    const since = Math.floor((now * 60) / 1000);
    rates.forEach((clock, i) => {
      if (now % 32 === 0) clock.observe(now, (first[i] + since) >>> 0, now === 0 ? undefined : jump, 50);
      for (let tick = clock.next(now, 50); tick !== undefined; tick = clock.next(now, 50)) {
        assert.ok(tick >= 0 && tick < 2 ** 32);
        issued[i].push((tick - first[i]) >>> 0);
      }
    });
  }
  assert.deepEqual(issued[1], issued[0]);
  assert.ok(issued[0].length > 200);
});
