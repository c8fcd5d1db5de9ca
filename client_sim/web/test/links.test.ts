// A UDP link where there is no way to the server, and one that is closed before it is ready.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { join } from 'node:path';
import { test } from 'node:test';

import { UdpLink, type Address } from '../src/links';

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Everybody's address: who has not asked for that may not connect to it. */
const refused: Address = { host: '255.255.255.255', port: 9 };

async function listener(): Promise<{ socket: Socket; address: Address; heard: string[] }> {
  const socket = createSocket('udp4');
  const heard: string[] = [];
  socket.on('message', (packet) => heard.push(packet.toString()));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { socket, address: { host: '127.0.0.1', port: socket.address().port }, heard };
}

function link(address: Address): { udp: UdpLink; opened: () => number } {
  let opened = 0;
  const udp = new UdpLink(address, { opened: () => ++opened, packet: () => {}, broke: () => assert.fail('broke') });
  return { udp, opened: () => opened };
}

test('links: UDP to where there is no way sends nothing, and goes on once there is one', async () => {
  const { socket, address, heard } = await listener();
  const target = { ...refused };
  const { udp, opened } = link(target);
  await soon(50);
  udp.send(Uint8Array.of(65));  // threw
  udp.rebind();
  await soon(50);
  udp.send(Uint8Array.of(66));
  assert.equal(opened(), 0);
  Object.assign(target, address);
  for (let i = 0; i < 40 && opened() === 0; ++i) await soon(50);
  assert.equal(opened(), 1);
  udp.send(Uint8Array.of(67));
  Object.assign(target, refused);
  udp.rebind();
  await soon(50);
  udp.send(Uint8Array.of(68));
  Object.assign(target, address);
  udp.rebind();
  await soon(50);
  udp.send(Uint8Array.of(69));
  await soon(50);
  assert.deepEqual(heard, ['C', 'E']);
  assert.equal(opened(), 1, 'it is told once');
  udp.close();
  udp.rebind();
  udp.send(Uint8Array.of(70));
  socket.close();
});

test('links: UDP that is closed before it is ready, or while there is no way, lets the process end', () => {
  const program = `
    const { UdpLink } = require(${JSON.stringify(join(__dirname, '..', 'src', 'links.js'))});
    const handlers = { opened() { throw new Error('opened'); }, packet() {}, broke() {} };
    new UdpLink({ host: '127.0.0.1', port: 9 }, handlers).close();
    const offline = new UdpLink(${JSON.stringify(refused)}, handlers);
    setTimeout(() => offline.close(), 50);`;
  const { status, stderr, signal } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 5000 });
  assert.deepEqual([status, signal, stderr], [0, null, '']);
});
