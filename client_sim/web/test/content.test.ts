// Maps and props that a server sends: put together, held to what they say of themselves, and never too much of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { concat, writeU32 } from '../src/bytes';
import { ContentFetch, fetchBytesUsual, fetchLayoutMax, readEnvelope, type WantedContent } from '../src/content_fetch';
import { HeldContent, heldMax } from '../src/held_content';
import { Seeded } from './support';

const map = (hash: bigint): WantedContent => ({ hash, kind: 'map' });
const mib = 1024 * 1024;

/** An envelope of so many bytes that says how many it unpacks to. */
function envelope(bytes: number, { kind = 1, layout = 5 } = {}): Uint8Array {
  const head = Uint8Array.of(0x41, 0x43, 0x4f, 0x4e, 1, kind, 0, 0, 0, 0, 0, 0);
  writeU32(head, 8, layout);
  return concat(head, new Seeded(61).bytes(Math.min(bytes - 12, 4096)), new Uint8Array(Math.max(0, bytes - 12 - 4096)));
}

test('content: parts make a whole, others are let pass, and an interrupted one goes on', () => {
  const whole = envelope(100_000);
  const fetch = new ContentFetch();
  fetch.begin([map(7n), map(9n), map(7n)]);
  assert.equal(fetch.take(9n, 10, 0, whole.subarray(0, 10)), undefined);
  assert.equal(fetch.take(7n, whole.length, 0, whole.subarray(0, 32768)), undefined);
  assert.equal(fetch.take(7n, whole.length, 0, whole.subarray(0, 32768)), undefined);
  assert.deepEqual(fetch.request(), { hash: 7n, offset: 32768 });
  fetch.begin([map(9n), map(7n)]);
  assert.deepEqual(fetch.request(), { hash: 7n, offset: 32768 }, 'a new welcome that wants it, too');
  assert.equal(fetch.take(7n, whole.length, 32768, whole.subarray(32768, 65536)), undefined);
  assert.deepEqual(fetch.take(7n, whole.length, 65536, whole.subarray(65536)), whole);
  assert.deepEqual(fetch.request(), { hash: 9n, offset: 0 });
  assert.equal(fetch.failure, undefined);
  assert.ok(fetch.take(9n, whole.length, 0, whole));
  assert.ok(!fetch.busy, 'each is fetched once');
  const small = envelope(13, { kind: 2 });
  assert.deepEqual(readEnvelope(small), { kind: 'prop', layoutBytes: 5, frame: small.subarray(12) });
  assert.equal(readEnvelope(small.map((byte, i) => (i === 4 ? 2 : byte))), undefined);
});

test('content: parts that leave a gap, or of another whole, make it fail', () => {
  for (const [total, offset] of [[101, 40], [100, 41]]) {
    const fetch = new ContentFetch();
    fetch.begin([map(7n)]);
    assert.equal(fetch.take(7n, 100, 0, new Uint8Array(40)), undefined);
    assert.equal(fetch.take(7n, total, offset, new Uint8Array(20)), undefined);
    assert.ok(fetch.failure);
  }
});

test('content: what is no content of its kind makes it fail', () => {
  const bytes = envelope(500);
  for (const wrong of [new Uint8Array(500), envelope(500, { kind: 2 }), envelope(500, { layout: 16 * mib + 1 }), bytes.subarray(0, 12)]) {
    const fetch = new ContentFetch();
    fetch.begin([map(7n)]);
    assert.equal(fetch.take(7n, wrong.length, 0, wrong), undefined);
    assert.ok(fetch.failure);
  }
});

test('content: of one world no more is taken than its bounds', () => {
  const wanted = Array.from({ length: 100 }, (_, i) => map(BigInt(i + 1)));
  const took = (fetch: ContentFetch, each: Uint8Array): number => {
    for (let i = 0; i < wanted.length; ++i) if (!fetch.take(BigInt(i + 1), each.length, 0, each)) return i;
    return wanted.length;
  };
  const fetch = new ContentFetch();
  fetch.begin(wanted);
  assert.equal(took(fetch, envelope(4 * mib)), fetchBytesUsual / (4 * mib));
  assert.match(fetch.failure!, /more than a client takes/);
  const unpacked = new ContentFetch();
  unpacked.begin(wanted);
  assert.equal(took(unpacked, envelope(100, { layout: 16 * mib })), fetchLayoutMax / (16 * mib));
  assert.match(unpacked.failure!, /more than a client takes/);
  const small = new ContentFetch(1000);
  small.begin(wanted);
  assert.equal(small.take(1n, 1001, 0, new Uint8Array(1)), undefined);
  assert.match(small.failure!, /more than a client takes/, 'before it is there');
  small.begin(wanted);
  assert.equal(took(small, envelope(300)), 3, 'another welcome begins anew');
});

test('content: of what was fetched the hashes that were asked for last are remembered', () => {
  const held = new HeldContent((hash) => hash === 1n);
  assert.ok(held.has(1n) && !held.has(5n));
  for (let hash = 10n; hash < 10n + BigInt(heldMax); ++hash) held.add(hash);
  assert.ok(held.has(10n));
  held.add(9999n);
  assert.ok(held.has(10n) && !held.has(11n) && held.has(9999n));
});
