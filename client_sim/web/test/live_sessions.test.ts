// Sessions that are cut off, move and come back, against ashlar-server as built.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { standStill } from '../src/client_messages';
import type { Crypto } from '../src/crypto';
import { TcpLink, UdpLink, openUdp } from '../src/links';
import { withNodeAes } from '../src/node_crypto';
import { sodiumCrypto } from '../src/sodium_crypto';
import { Player, Server, SilencedLink, ask, distance, noServer, temporaryFolder, transports } from './live_support';

const live = { skip: noServer, timeout: 60_000 };

let both: Crypto;
let server: Server;
const folder = temporaryFolder();
before(async () => {
  both = withNodeAes(await sodiumCrypto());
  if (noServer === false) server = await Server.start();
});
after(async () => {
  await server?.stop();
  folder.remove();
});

for (const [name, openLink] of transports) {
  test(`live: over ${name} a session goes on after the link was cut`, live, async () => {
    const cut = new SilencedLink(openLink);
    const player = new Player(both, server.port, { name: `lost-${name}` }, cut.openLink);
    await player.playing();
    player.client.command = { ...standStill, forward: 127 };
    const from = player.position;
    await player.until('walked', () => distance(player.position, from) > 1);
    player.client.command = standStill;
    const id = player.client.view.own!.id;
    if (cut.link instanceof TcpLink) {
      cut.link.cut();
    } else {
      cut.silent = true;
      await player.until('the session is sought', () => player.client.seeking);
      cut.deafTo = player.client.connectionNumber;
      cut.silent = false;
    }
    await player.until('playing again', () => player.count('playing') === 2);
    assert.equal(player.client.welcome?.resumed, true);
    assert.equal(player.client.view.own!.id, id, 'the body of before');
    assert.ok(player.client.say('here again'));
    await player.until('the line comes back', () => player.heard('here again'));
    await player.driver.quit();
  });
}

test('live: a silence that ends by itself ends no session', live, async () => {
  const cut = new SilencedLink(openUdp);
  const player = new Player(both, server.port, { name: 'tunnel' }, cut.openLink);
  await player.playing();
  cut.silent = true;
  await player.until('the session is sought', () => player.client.seeking);
  cut.silent = false;
  await player.until('the session is heard again', () => !player.client.seeking);
  const tick = player.client.view.tick;
  await player.until('the server still talks', () => player.client.view.tick > tick + 10);
  assert.equal(player.count('playing'), 1);
  await player.driver.quit();
});

test('live: another port of ours ends no session', live, async () => {
  const link = new SilencedLink(openUdp);
  const player = new Player(both, server.port, { name: 'roamer' }, link.openLink);
  await player.playing();
  player.client.command = { ...standStill, forward: 127, yaw: 32768 };
  (link.link as UdpLink).rebind();
  const tick = player.client.view.tick;
  await player.until('the session moved along', () => player.client.view.tick > tick + 60);
  assert.equal(player.count('seeking'), 0);
  await player.driver.quit();
});

test('live: a server that was killed and started again is joined anew, when it says so itself', live, async () => {
  const key = join(folder.path, 'restarted.key');
  ask('key', 'new', '--out', key);
  const first = await Server.start('--key-file', key);
  const player = new Player(both, first.port, { name: 'patient' });
  await player.playing();
  await first.stop('SIGKILL');
  const again = await Server.start('--key-file', key, '--port', String(first.port));
  try {
    await player.until('playing again', () => player.count('playing') === 2);
    assert.equal(player.client.welcome?.resumed, false);
    const sought = player.events.find((event) => event.type === 'seeking');
    assert.ok(sought?.type === 'seeking' && sought.why.includes('does not know'), 'the reset was believed');
    await again.stop();
    await player.driver.finished;
    assert.equal(player.reason, 'shutting_down');
  } finally {
    await again.stop();
  }
});
