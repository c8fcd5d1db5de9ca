#!/usr/bin/env node
// ashlar-web-client: joins a server, walks a square, says a line, and prints what it sees.

import { lookup } from 'node:dns/promises';

import { Client, type ClientEvent } from './client';
import { standStill } from './client_messages';
import { readEnvelope } from './content_fetch';
import type { Crypto } from './crypto';
import { Driver } from './driver';
import { publicKeyPrefix, writeKey } from './keys';
import { openTcp, openUdp, type Address, type Link } from './links';
import { withNodeAes } from './node_crypto';
import { UsageError, readOptions, usage, type Options } from './options';
import { nonceBytes, readPong, writePing, type Pong } from './packet';
import { sodiumCrypto } from './sodium_crypto';
import type { View } from './view';

const build = 'ashlar-web-client 0.1.0';
const quarterTurn = 16384;
const firstMonster = 16;
const firstProjectile = 128;
const sideMs = 1000;
const pingWaitMs = 2000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const round = (metres: readonly number[]): string => metres.map((m) => m.toFixed(1)).join(' ');

function tell(event: ClientEvent): void {
  switch (event.type) {
    case 'welcome': {
      const { welcome } = event;
      print(`welcome to world ${welcome.world}, seed ${welcome.seed}, ${welcome.tickRateHz} ticks/s` +
        (welcome.motd ? `: ${welcome.motd}` : ''));
      for (const map of welcome.maps) print(`map ${map.name} at block ${map.origin.join(' ')}`);
      break;
    }
    case 'playing':
      print(event.resumed ? 'playing again where it was' : 'playing');
      break;
    case 'chat':
      print(`<${event.from || 'server'}> ${event.text}`);
      break;
    case 'content': {
      const envelope = readEnvelope(event.bytes);
      print(`fetched ${envelope?.kind ?? 'something unknown'} ${event.hash.toString(16)}, ${event.bytes.length} bytes`);
      break;
    }
    case 'fight':
      print(`health ${event.health}, armour ${event.armour}`);
      break;
    case 'seeking':
      print(`${event.why}: seeking it anew`);
      break;
    case 'found':
      print('heard again');
      break;
    case 'ended':
      print(`ended: ${event.reason}${event.text ? `, ${event.text}` : ''}${event.byServer ? ' (by the server)' : ''}`);
      break;
    default:
      break;
  }
}

function tellView(view: View, rttMs: number | undefined): void {
  if (!view.own) return;
  const others = view.entities().filter((entity) => entity.id !== view.own!.id);
  const players = others.filter((entity) => entity.kind === 0).length;
  const monsters = others.filter((entity) => entity.kind >= firstMonster && entity.kind < firstProjectile).length;
  print(`tick ${view.tick}: at ${round(view.own.positionM)}, ${players} players and ${monsters} monsters` +
    ` around, round trip ${rttMs === undefined ? 'not known' : `${rttMs.toFixed(1)} ms`}`);
}

async function play(crypto: Crypto, options: Options, address: Address): Promise<number> {
  const { name, serverKey: pinned, identity, token, encoding } = options;
  const client = new Client(crypto, { name, build, pinned, identity, token, encoding, fetchContent: options.fetch });
  let played = false;
  const onEvent = (event: ClientEvent): void => {
    tell(event);
    if (event.type !== 'playing' || played) return;
    played = true;
    if (client.serverKey) print(`server's key ${writeKey(crypto, publicKeyPrefix, client.serverKey)}`);
    if (options.say) client.say(options.say);
  };
  const driver = new Driver(client, address, options.transport === 'tcp' ? openTcp : openUdp, onEvent);
  const begun = driver.now();
  const walking = setInterval(() => {
    const side = Math.floor((driver.now() - begun) / sideMs);
    client.command = { ...standStill, forward: 127, yaw: (side % 4) * quarterTurn };
    tellView(client.view, client.rttMs);
  }, sideMs);
  let leaving = false;
  const leave = (): void => {
    if (client.state === 'ended') return;
    leaving = client.state === 'playing';
    client.quit(driver.now());
  };
  const end = setTimeout(leave, options.forMs);
  process.once('SIGINT', leave);
  process.once('SIGTERM', leave);
  process.stdout.on('error', leave);  // who reads our lines has gone
  await driver.finished;
  clearInterval(walking);
  clearTimeout(end);
  return played && leaving ? 0 : 1;
}

/** One question over either transport. */
async function ping(crypto: Crypto, options: Options, address: Address): Promise<number> {
  const nonce = crypto.random(nonceBytes);
  const open = options.transport === 'tcp' ? openTcp : openUdp;
  let link: Link | undefined;
  const pong = await new Promise<Pong | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), pingWaitMs);
    const done = (answer: Pong | undefined): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    link = open(address, {
      opened: () => setImmediate(() => link?.send(writePing(nonce))),
      packet: (packet) => {
        const answer = readPong(packet, nonce);
        if (answer) done(answer);
      },
      broke: () => done(undefined),
    });
  });
  link?.close();
  print(pong ? `tick ${pong.tick}, ${pong.clients} of ${pong.clientsMax} clients` : 'nobody answers');
  return pong ? 0 : 1;
}

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  process.stdout.on('error', () => {});
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  const crypto = withNodeAes(await sodiumCrypto());
  const options = readOptions(crypto, words);
  const { address: host } = await lookup(options.host).catch(() => {
    throw new UsageError(`there is no host '${options.host}'`);
  });
  const address = { host, port: options.port };
  return options.ping ? ping(crypto, options, address) : play(crypto, options, address);
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`ashlar-web-client: ${(error as Error).message}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);
