// Against ashlar-server, as built: nothing here knows more of it than WIRE.md tells.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { ActKind, BlockFace, standStill } from '../src/client_messages';
import { Cipher, makeKeyPair, type Crypto } from '../src/crypto';
import { publicKeyPrefix, readKey, readToken, secretKeyPrefix } from '../src/keys';
import { openTcp } from '../src/links';
import { withNodeAes } from '../src/node_crypto';
import { sodiumCrypto } from '../src/sodium_crypto';
import {
  Player, Server, ask, distance, noServer, serverProgram, temporaryFolder, transports,
} from './live_support';

const live = { skip: noServer, timeout: 60_000 };

let sodium: Crypto;
let both: Crypto;
let server: Server;
const folder = temporaryFolder();
before(async () => {
  sodium = await sodiumCrypto();
  both = withNodeAes(sodium);
  if (noServer === false) server = await Server.start('--motd', 'good morning');
});
after(async () => {
  await server?.stop();
  folder.remove();
});

for (const [name, openLink] of transports) {
  test(`live: over ${name} two players join, walk, see each other, chat and leave`, live, async () => {
    const walker = new Player(sodium, server.port, { name: `walker-${name}` }, openLink);
    const watcher = new Player(both, server.port, { name: `watcher-${name}`, encoding: 'plain' }, openLink);
    await Promise.all([walker.playing(), watcher.playing()]);
    assert.equal(walker.client.welcome?.motd, 'good morning');
    assert.equal(walker.client.blockKinds[0].name, 'air');

    const id = walker.client.view.own!.id;
    const seen = (): number[] | undefined => watcher.client.view.entities().find((entity) => entity.id === id)?.positionM;
    await watcher.until('the other is seen', () => seen() !== undefined);
    const from = walker.position;
    const seenFrom = seen()!;
    const turned = walker.client.view.own!.deltaYaw;
    walker.client.command = { ...standStill, forward: 127, yaw: (16384 - turned) & 0xffff };
    await walker.until('walked two metres', () => distance(walker.position, from) > 2);
    await watcher.until('the other is seen to walk', () => seen() !== undefined && distance(seen()!, seenFrom) > 1.5);
    assert.ok(walker.position[1] - from[1] > 1.5, 'a quarter turn is north');
    walker.client.command = standStill;
    await watcher.until('the other is where it says', () => seen() !== undefined && distance(seen()!, walker.position) < 0.05);

    assert.ok(walker.client.say(`hello over ${name}: grüß dich`));
    const line = `hello over ${name}: grüß dich`;
    await walker.until('the line comes back', () => walker.heard(line));
    await watcher.until('the line is heard', () => watcher.heard(line));
    assert.ok(walker.client.rttMs! < 1000);

    const nearest = (player: Player, at: number): number =>
      Math.min(...player.client.view.entities().filter(({ id: who }) => who === at).map(({ positionM }) =>
        distance(positionM, (at === id ? walker : watcher).position)));
    const other = watcher.client.view.own!.id;
    await walker.until('packed and plain show the same', () => nearest(walker, other) < 0.05 && nearest(watcher, id) < 0.05);
    await Promise.all([walker.driver.quit(), watcher.driver.quit()]);
    assert.equal(walker.reason, 'quit');
  });
}

test('live: each cipher that is offered alone is spoken', live, async () => {
  const aesAlone = { ...both, ciphers: [Cipher.aes256Gcm] };
  const players = [new Player(sodium, server.port, { name: 'chacha' }), new Player(aesAlone, server.port, { name: 'aes' })];
  for (const player of players) {
    await player.playing();
    await player.driver.quit();
    assert.equal(player.reason, 'quit');
  }
});

test('live: new keys are followed by the server', live, async () => {
  const player = new Player(both, server.port, { name: 'rekeyed', keyAgeMs: 100 });
  await player.playing();
  const from = player.driver.now();
  await player.until('a second and more of keys', () => player.driver.now() - from > 1500);
  const tick = player.client.view.tick;
  await player.until('the server still talks', () => player.client.view.tick > tick + 30);
  assert.ok(player.client.view.own);
  assert.equal(player.count('seeking'), 0);
  await player.driver.quit();
});

test('live: a server with another key than the pinned one is refused, with the right one it is not', live, async () => {
  const right = readKey(both, publicKeyPrefix, server.key)!;
  const wrong = new Player(both, server.port, { name: 'careful', pinned: makeKeyPair(both).publicKey });
  await wrong.driver.finished;
  assert.equal(wrong.reason, 'wrong_server');
  const pinning = new Player(both, server.port, { name: 'careful', pinned: right });
  await pinning.playing();
  await pinning.driver.quit();
});

test('live: a name that is none is refused, and who comes twice is replaced, with the reason', live, async () => {
  const nameless = new Player(both, server.port, { name: ' ' }, openTcp);
  await nameless.driver.finished;
  assert.equal(nameless.reason, 'bad_name');
  const identity = makeKeyPair(both);
  const first = new Player(both, server.port, { name: 'twin', identity });
  await first.playing();
  const second = new Player(both, server.port, { name: 'twin', identity });
  await second.playing();
  await first.driver.finished;
  assert.equal(first.reason, 'replaced');
  await second.driver.quit();
});

test('live: a block is dug, and the edit is told', live, async () => {
  const player = new Player(both, server.port, { name: 'digger' });
  await player.playing();
  player.client.command = { ...standStill, pitch: -16384 };
  const tick = player.client.view.tick;
  await player.until('looking down', () => player.client.view.tick > tick + 20);
  const block = player.position.map((m, axis) => Math.floor(m) - (axis === 2 ? 1 : 0)) as [number, number, number];
  const number = player.client.act({ kind: ActKind.dig, block, face: BlockFace.top, placed: 0 });
  assert.ok(number > 0);
  const verdicts = (): number[] => player.events.flatMap((event) =>
    event.type === 'actAnswers' ? event.answers.filter((answer) => answer.number === number).map(({ verdict }) => verdict) : []);
  await player.until('the act is done', () => verdicts().includes(0));
  const told = player.events.flatMap((event) => (event.type === 'blockEdits' ? event.changes : []));
  assert.ok(told.some((change) => change.is === 0 && distance(change.block, block) === 0));
  await player.driver.quit();
});

test('live: what the server would close a session for is not sent', live, async () => {
  for (const encoding of ['packed', 'plain'] as const) {
    const player = new Player(both, server.port, { name: `wild ${encoding}`, encoding });
    await player.playing();
    for (const text of ['two\nlines', 'a\tb', 'joined\u200d', '\ud83d']) assert.ok(!player.client.say(text));
    const sign = { kind: ActKind.write, block: [0, 0, 0] as [number, number, number], face: BlockFace.top, placed: 0 };
    assert.equal(player.client.act({ ...sign, text: 'two\nlines' }), 0);
    player.client.command = { yaw: 70000, pitch: 40000, buttons: 0xffff, forward: 200, left: -128 };
    const since = player.client.view.completeTick;
    await player.until('a second has passed', () => player.client.view.completeTick > since + 60);
    assert.ok(player.client.say(`still here, ${encoding}`));
    await player.until('the line', () => player.heard(`still here, ${encoding}`));
    await player.driver.quit();
    assert.equal(player.reason, 'quit');
  }
});

test('live: a closed server wants a token, and knows whose it is', live, async () => {
  const at = (name: string): string => join(folder.path, name);
  const issuer = ask('key', 'new', '--issuer', '--out', at('issuer.key'));
  ask('key', 'new', '--out', at('server.key'));
  const playerKey = ask('key', 'new', '--out', at('player.key'));
  const minted = ask('token', 'mint', '--issuer-key', at('issuer.key'), '--client-key', playerKey, '--id', 'account-7',
    '--name', 'Minted', '--expires', '10m', '--server', at('server.key'));
  const token = readToken(minted)!;
  const identity = makeKeyPair(both, readKey(both, secretKeyPrefix, readFileSync(at('player.key'), 'utf8'))!);
  const closed = await Server.start('--access', 'token', '--token-issuers', issuer, '--key-file', at('server.key'));
  try {
    for (const [config, reason] of [
      [{ name: 'nobody' }, 'token_missing'],
      [{ name: 'thief', token }, 'token_other_client'],
      [{ name: 'torn', identity, token: token.slice(0, 50) }, 'token_truncated'],
    ] as const) {
      const refused = new Player(both, closed.port, config);
      await refused.driver.finished;
      assert.equal(refused.reason, reason);
    }
    const player = new Player(both, closed.port, { name: 'other', identity, token });
    await player.playing();
    await player.until('the name is the token\'s', () => player.heard('Minted joined'));
    await player.driver.quit();
  } finally {
    await closed.stop();
  }
});

test('live: the program plays, and tells by its exit code what became of it', live, () => {
  const run = (...words: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [join(__dirname, '..', 'src', 'main.js'), ...words], { encoding: 'utf8' });
  const address = `127.0.0.1:${server.port}`;
  const played = run(address, '--for', '1500ms', '--name', 'program', '--transport', 'tcp', '--server-key', server.key);
  assert.equal(played.status, 0, played.stdout + played.stderr);
  assert.match(played.stdout, /<program> hello from the web client/);
  assert.match(played.stdout, /tick \d+: at/);
  assert.match(run(address, '--ping').stdout, /tick \d+, \d+ of 256 clients/);
  assert.equal(run('127.0.0.1:1', '--transport', 'tcp').status, 1);
  const wrong = run('127.0.0.1');
  assert.deepEqual([wrong.status, wrong.stderr.trim().split('\n').length], [2, 1]);
  assert.ok(serverProgram);
});

for (const encoding of ['plain', 'packed'] as const) {
  test(`live: a spectator is told of itself by ${encoding} snapshots`, live, async () => {
    const watcher = new Player(sodium, server.port, { name: `spectator-${encoding}`, watches: true, encoding });
    await watcher.playing();
    const tick = watcher.client.view.tick;
    await watcher.until('a second of snapshots', () => watcher.client.view.tick > tick + 60 || watcher.client.state === 'ended');
    assert.equal(watcher.reason, undefined);
    assert.ok(watcher.client.view.own);
    await watcher.driver.quit();
  });
}
