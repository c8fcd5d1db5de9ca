// Maps and props that a server gives to those who lack them, against ashlar-server as built.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { readEnvelope } from '../src/content_fetch';
import type { Crypto } from '../src/crypto';
import { TcpLink, openTcp } from '../src/links';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Player, Server, SilencedLink, noServer, temporaryFolder, transports } from './live_support';
import { Seeded } from './support';

const live = { skip: noServer, timeout: 60_000 };
const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];

let crypto: Crypto;
let server: Server;
const folder = temporaryFolder();
before(async () => {
  crypto = await sodiumCrypto();
  const prop = join(folder.path, 'gravel.obj');
  writeFileSync(prop, gravel(1500));
  // Slow enough that a fetch can be cut.
  if (noServer === false) {
    server = await Server.start('--map', 'MAP01', '--monsters', '0', '--prop', `${prop}@200,200`,
      '--content-bytes-per-s', '400000');
  }
});
after(async () => {
  await server?.stop();
  folder.remove();
});

/** Loose triangles that no compression makes small. */
function gravel(triangles: number): string {
  const random = new Seeded(7);
  const lines: string[] = [];
  for (let i = 0; i < 3 * triangles; ++i) lines.push(`v ${random.next()} ${random.next()} ${random.next()}`);
  for (let i = 0; i < triangles; ++i) lines.push(`f ${3 * i + 1} ${3 * i + 2} ${3 * i + 3}`);
  return `${lines.join('\n')}\n`;
}

test('live: who has no maps leaves, and who has them plays', live, async () => {
  const without = new Player(crypto, server.port, { name: 'without' });
  await without.driver.finished;
  assert.equal(without.reason, 'lacks_content');
  const named = new Set(without.client.welcome!.maps.map(({ contentHash }) => contentHash));
  assert.equal(named.size, 1);
  const all = new Player(crypto, server.port, { name: 'all', holds: () => true });
  await all.playing();
  await all.driver.quit();
});

for (const [name, openLink] of transports) {
  test(`live: over ${name} a map and a prop are fetched, and played with`, live, async () => {
    const player = new Player(crypto, server.port, { name: `fetch-${name}`, fetchContent: true }, openLink);
    await player.playing();
    const envelopes = player.events.flatMap((event) => (event.type === 'content' ? [readEnvelope(event.bytes)!] : []));
    assert.deepEqual(envelopes.map(({ kind }) => kind).sort(), ['map', 'prop']);
    for (const { frame } of envelopes) assert.deepEqual([...frame.subarray(0, 4)], zstdMagic);
    await player.driver.quit();
  });
}

test('live: a fetch goes on where it was when the connection broke', live, async () => {
  const link = new SilencedLink(openTcp);
  const player = new Player(crypto, server.port, { name: 'cut', fetchContent: true }, link.openLink);
  await player.until('a part is here', () => player.client.fetchedBytes > 0);
  (link.link as TcpLink).cut();
  await player.until('welcomed again', () => player.count('welcome') === 2);
  assert.ok(player.client.fetchedBytes > 0, 'what came before is kept');
  await player.playing();
  assert.equal(player.count('content'), 2);
  await player.driver.quit();
});
