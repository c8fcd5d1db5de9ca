// The driver: in which order its client hears of packets and of a link that broke, and that it stops for good.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Client, ClientEvent } from '../src/client';
import { Driver } from '../src/driver';
import type { Link, LinkHandlers } from '../src/links';

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A client that writes down what it hears, and links that do what a test wants. */
function stage(): { driver: Driver; heard: string[]; handlers: LinkHandlers[]; client: { finished: boolean; state: string } } {
  const heard: string[] = [];
  const handlers: LinkHandlers[] = [];
  const client = {
    finished: false, state: 'playing',
    linkOpened: () => heard.push('opened'),
    linkBroke: () => heard.push('broke'),
    advance: (_now: number, packets: Uint8Array[]): Uint8Array[] => {
      for (const packet of packets) heard.push(`packet ${packet[0]}`);
      return [];
    },
    takeEvents: (): ClientEvent[] => [],
    quit: () => (client.finished = true),
  };
  const link: Link = { send: () => {}, close: () => {} };
  const open = (_address: unknown, told: LinkHandlers): Link => {
    handlers.push(told);
    return link;
  };
  const driver = new Driver(client as unknown as Client, { host: '127.0.0.1', port: 1 }, open, () => {});
  return { driver, heard, handlers, client };
}

test('driver: what came before a link broke is heard before that', async () => {
  const { driver, heard, handlers } = stage();
  handlers[0].opened();
  handlers[0].packet(Uint8Array.of(7));
  handlers[0].broke('reset');
  assert.deepEqual(heard, ['opened', 'packet 7', 'broke']);
  await soon(700);
  assert.equal(handlers.length, 2, 'it is opened again');
  driver.stop();
});

test('driver: stopped it hears nothing more, opens nothing, and whoever waits goes on', async () => {
  const { driver, heard, handlers } = stage();
  handlers[0].broke('reset');
  handlers[0].packet(Uint8Array.of(7));
  driver.stop();
  handlers[0].packet(Uint8Array.of(8));
  handlers[0].opened();
  handlers[0].broke('again');
  await soon(700);
  assert.deepEqual([heard, handlers.length], [['broke'], 1]);
  await driver.finished;
  await driver.quit();
});
