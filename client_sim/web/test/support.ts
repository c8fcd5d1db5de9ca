// What the tests share: the page's examples, a seeded generator, recorded randomness.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Builder } from 'flatbuffers';

import type { ServerBody } from '../generated/ashlar/wire/server-body';
import { ServerMessage } from '../generated/ashlar/wire/server-message';
import { fromHex } from '../src/bytes';
import type { Crypto } from '../src/crypto';

/** The folder of the whole project: the tests run from client_sim/web/dist/test. */
export const projectFolder = join(__dirname, '..', '..', '..', '..');

const page = readFileSync(join(projectFolder, 'protocol', 'WIRE.md'), 'utf8');

/** The bytes under this heading among WIRE.md's examples, a block of lines each. */
function blockOf(heading: string): string {
  const match = new RegExp(`^### ${heading}\\n\\n\`\`\`\\n([0-9a-f\\s]+)\`\`\``, 'm').exec(page);
  if (!match) throw new Error(`WIRE.md has no example '${heading}'`);
  return match[1];
}

export function example(heading: string): Uint8Array {
  return fromHex(blockOf(heading))!;
}

/** Blocks of packed snapshots that the server wrote, a line each. */
export function recordedBlocks(): string {
  return readFileSync(join(projectFolder, 'tests', 'protocol', 'snapshot', 'coded_blocks.txt'), 'utf8');
}

/** A server's message with this body. */
export function messageOf(type: ServerBody, body: (builder: Builder) => number): Uint8Array {
  const builder = new Builder(1024);
  const message = ServerMessage.createServerMessage(builder, type, body(builder));
  ServerMessage.finishServerMessageBuffer(builder, message);
  return builder.asUint8Array().slice();
}

/** The lines of Secrets: the server's, the player's, the client's ephemeral one, a slot's. */
export function exampleSecrets(): Uint8Array[] {
  return blockOf('Secrets').trim().split('\n').map((line) => fromHex(line)!);
}

/** Numbers that are the same in each run (mulberry32). */
export class Seeded {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

/** The same primitives with these answers in the place of random bytes, in their order. */
export function withRandom(crypto: Crypto, ...answers: Uint8Array[]): Crypto {
  return {
    ...crypto,
    random: (bytes) => {
      const answer = answers.shift();
      if (answer?.length !== bytes) throw new Error(`${bytes} random bytes were not expected`);
      return answer;
    },
  };
}
