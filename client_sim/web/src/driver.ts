// Drives a client over a link by the clock: the only place where time passes.

import { performance } from 'node:perf_hooks';

import type { Client, ClientEvent } from './client';
import type { Address, Link, OpenLink } from './links';

const turnMs = 4;
const reopenMs = 500;

export class Driver {
  private arrived: Uint8Array[] = [];
  private readonly timer: NodeJS.Timeout;
  private flushing = false;
  private stopped = false;
  private reopenAt: number | undefined;
  private resolveFinished!: () => void;
  /** The present link; another one once it broke. */
  link: Link;
  /** Done when the client has ended and said so. */
  readonly finished = new Promise<void>((resolve) => (this.resolveFinished = resolve));

  /** @param onEvent called for each event of the client, after the turn in which it came */
  constructor(
    readonly client: Client, private readonly address: Address, private readonly openLink: OpenLink,
    private readonly onEvent: (event: ClientEvent) => void,
  ) {
    this.link = this.open();
    this.timer = setInterval(() => this.turn(), turnMs);
  }

  now(): number {
    return performance.now();
  }

  private open(): Link {
    return this.openLink(this.address, {
      opened: () => {
        if (!this.stopped) this.client.linkOpened(this.now());
      },
      packet: (packet) => this.take(packet),
      broke: () => this.hearBroken(),
    });
  }

  private hearBroken(): void {
    if (this.stopped) return;
    // What came before it broke may say why.
    if (this.arrived.length > 0) this.turn();
    if (this.stopped) return;
    this.client.linkBroke(this.now());
    this.reopenAt = this.now() + reopenMs;
  }

  /** Packets that come together are answered together. */
  private take(packet: Uint8Array): void {
    if (this.stopped) return;
    this.arrived.push(packet);
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(() => {
      this.flushing = false;
      this.turn();
    });
  }

  private turn(): void {
    if (this.stopped) return;
    const { client } = this;
    const now = this.now();
    if (this.reopenAt !== undefined && now >= this.reopenAt && client.state !== 'ended') {
      this.reopenAt = undefined;
      this.link = this.open();
    }
    for (const packet of client.advance(now, this.arrived.splice(0))) this.link.send(packet);
    for (const event of client.takeEvents()) this.onEvent(event);
    if (client.finished) this.stop();
  }

  /** Leaves as a player does, and waits until that is said. */
  async quit(): Promise<void> {
    this.client.quit(this.now());
    await this.finished;
  }

  /** Without a word, as a program that was killed. */
  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
    this.link.close();
    this.resolveFinished();
  }
}
