// Links: UDP where there is no way to the server, TCP to servers that take nothing or never hang up, and both closed
// before they are ready.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { createServer, type AddressInfo, type Server as NetServer, type Socket as NetSocket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { TcpLink, UdpLink, type Address } from '../src/links';

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

async function tcpServer(onSocket: (socket: NetSocket) => void): Promise<{ server: NetServer; address: Address }> {
  const server = createServer({ allowHalfOpen: true }, onSocket);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
}

test('links: TCP that is closed is gone within seconds, though the server never hangs up', async () => {
  const sockets: NetSocket[] = [];
  const heard: string[] = [];
  const { server, address } = await tcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).on('data', (bytes) => heard.push(bytes.toString('latin1')));
  });
  const link: TcpLink = new TcpLink(address, { opened: () => link.send(Uint8Array.of(65)), packet: () => {}, broke: () => assert.fail() });
  for (let i = 0; i < 100 && heard.length === 0; ++i) await soon(10);
  link.send(Uint8Array.of(66));
  link.close();
  link.close();
  link.send(Uint8Array.of(67));
  const { socket } = link as unknown as { socket: NetSocket };
  for (let i = 0; i < 300 && !socket.destroyed; ++i) await soon(10);
  assert.ok(socket.destroyed);
  assert.equal(heard.join(''), '\x01\0A\x01\0B', 'what was to be sent was');
  for (const one of sockets) one.destroy();
  server.close();
});

test('links: TCP that is closed before it is open opens no more', async () => {
  const { server, address } = await tcpServer((socket) => socket.on('error', () => {}).destroy());
  const link = new TcpLink(address, { opened: () => assert.fail('opened'), packet: () => {}, broke: () => assert.fail('broke') });
  link.close();
  await soon(100);
  assert.ok((link as unknown as { socket: NetSocket }).socket.destroyed);
  server.close();
});

test('links: TCP to who takes nothing keeps no more than a quarter of a mebibyte', async () => {
  const sockets: NetSocket[] = [];
  const { server, address } = await tcpServer((socket) => sockets.push(socket.on('error', () => {}).pause()));
  let open = false;
  const link = new TcpLink(address, { opened: () => (open = true), packet: () => {}, broke: () => {} });
  for (let i = 0; i < 100 && !open; ++i) await soon(10);
  for (let i = 0; i < 20_000; ++i) {
    link.send(new Uint8Array(1200));
    if (i % 1000 === 0) await soon(1);
  }
  const { socket } = link as unknown as { socket: NetSocket };
  assert.ok(socket.writableLength <= 256 * 1024 + 1202, `${socket.writableLength} bytes`);
  link.cut();
  for (const one of sockets) one.destroy();
  server.close();
});

test('links: TCP breaks once, with what came before', async () => {
  const { server, address } = await tcpServer((socket) => {
    socket.on('error', () => {});
    socket.write(Uint8Array.of(1, 0, 7, 0, 0));
  });
  const heard: string[] = [];
  const link = new TcpLink(address, {
    opened: () => {}, packet: (packet) => heard.push(`packet ${packet[0]}`), broke: (why) => heard.push(why),
  });
  for (let i = 0; i < 100 && heard.length < 2; ++i) await soon(10);
  await soon(50);
  assert.deepEqual(heard, ['the stream holds no packets']);
  link.close();
  server.close();
});
