// A server of its own for a test, and players on it.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, type ClientConfig, type ClientEvent } from '../src/client';
import type { Crypto } from '../src/crypto';
import { Driver } from '../src/driver';
import { openTcp, openUdp, type Link, type LinkHandlers, type OpenLink } from '../src/links';
import { connectionOf } from '../src/packet';
import { projectFolder } from './support';

export const serverProgram =
  process.env['ASHLAR_SERVER'] ?? join(projectFolder, 'build', 'release', 'bin', 'ashlar-server');
/** Why tests against a server are passed over; false where there is one. Where one is named it has to be there. */
export const noServer: string | false =
  process.env['ASHLAR_SERVER'] || existsSync(serverProgram) ? false : 'there is no server: ./dev build release';

const readyWithinMs = 20_000;
const plainWorld = ['--map', 'none', '--monsters', '0', '--terrain', 'flat'];

/** What the server's other commands print. */
export function ask(...words: string[]): string {
  const done = spawnSync(serverProgram, words, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`ashlar-server ${words.join(' ')}: ${done.stderr}`);
  return done.stdout.trim();
}

/** A server that listens; stop() or kill() it. */
export class Server {
  private output = '';
  private constructor(private readonly child: ChildProcess) {}

  port = 0;
  /** The public key, as text. */
  key = '';

  static async start(...words: string[]): Promise<Server> {
    const wanted = words.includes('--map') ? words : [...plainWorld, ...words];
    const port = words.includes('--port') ? [] : ['--port', '0'];
    const child = spawn(serverProgram, [...wanted, ...port, '--for', '120s'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const server = new Server(child);
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why}\n${server.output}`));
      const timer = setTimeout(() => fail('the server does not get ready'), readyWithinMs);
      const take = (text: string): void => {
        server.output += text;
        const ready = /event=ready port=(\d+) .* key=(\S+)/.exec(server.output);
        if (!ready) return;
        clearTimeout(timer);
        server.port = Number(ready[1]);
        server.key = ready[2];
        resolve();
      };
      child.stdout!.setEncoding('utf8').on('data', take);
      child.stderr!.setEncoding('utf8').on('data', take);
      child.once('exit', (code) => fail(`the server ended with ${code}`));
    });
    return server;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    await gone;
  }
}

/** A link that can be cut so that nothing passes, though nobody is told. */
export class SilencedLink {
  silent = false;
  /** Of this connection no packet comes in any more. */
  deafTo: number | undefined;
  link: Link | undefined;
  constructor(private readonly open: OpenLink) {}

  readonly openLink: OpenLink = (address, handlers: LinkHandlers) => {
    const link = this.open(address, {
      ...handlers,
      packet: (packet) => {
        const deaf = this.deafTo !== undefined && connectionOf(packet) === this.deafTo;
        if (!this.silent && !deaf) handlers.packet(packet);
      },
    });
    this.link = link;
    return {
      send: (packet) => {
        if (!this.silent) link.send(packet);
      },
      close: () => link.close(),
    };
  };
}

/** An event on one line, bytes by their number. */
function brief(event: ClientEvent): string {
  return JSON.stringify(event, (_, value: unknown) => {
    if (value instanceof Uint8Array) return `${value.length} bytes`;
    return typeof value === 'bigint' ? `${value}` : value;
  });
}

const patienceMs = 20_000;

/** A player whose events are kept, and who can be waited for. */
export class Player {
  readonly events: ClientEvent[] = [];
  readonly client: Client;
  readonly driver: Driver;

  constructor(crypto: Crypto, port: number, config: ClientConfig, openLink: OpenLink = openUdp) {
    this.client = new Client(crypto, config);
    const address = { host: '127.0.0.1', port };
    this.driver = new Driver(this.client, address, openLink, (event) => this.events.push(event));
  }

  /** Until it holds; throws with what came so far when that takes too long. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const begun = this.driver.now();
    while (!holds()) {
      if (this.driver.now() - begun > patienceMs) {
        throw new Error(`${this.client.state} and not yet: ${what}\n${this.events.map(brief).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async playing(): Promise<void> {
    await this.until('playing', () => this.client.state === 'playing' || this.client.state === 'ended');
    if (this.client.state === 'ended') throw new Error(`ended: ${this.reason}`);
  }

  count(type: ClientEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }
  heard(text: string): boolean {
    return this.events.some((event) => event.type === 'chat' && event.text === text);
  }
  get reason(): string | undefined {
    const ended = this.events.find((event) => event.type === 'ended');
    return ended?.type === 'ended' ? ended.reason : undefined;
  }
  get position(): [number, number, number] {
    return this.client.view.own!.positionM;
  }
}

export const transports: [string, OpenLink][] = [['UDP', openUdp], ['TCP', openTcp]];

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'ashlar-web-'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

export function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((value, i) => value - b[i]));
}
