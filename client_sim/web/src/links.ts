// Sockets to a server: UDP by node:dgram, TCP by node:net.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, isIPv6, type Socket as TcpSocket } from 'node:net';

import { TcpPackets, frameForTcp } from './packet';

const againMs = 500;
// Who does not take what it is sent, or does not hang up in turn, is not waited for.
const unsentBytesMax = 256 * 1024;
const hangUpMs = 1000;

/** What a link tells whoever opened it. */
export interface LinkHandlers {
  opened(): void;
  packet(packet: Uint8Array): void;
  broke(why: string): void;
}

export interface Link {
  send(packet: Uint8Array): void;
  close(): void;
}

/** A server's address in numbers. */
export interface Address {
  host: string;
  port: number;
}

export type OpenLink = (address: Address, handlers: LinkHandlers) => Link;

/** A datagram socket. It never breaks: what nobody hears is what the handshake waits for. */
export class UdpLink implements Link {
  private socket: UdpSocket | undefined;
  private ready = false;
  private told = false;
  private closed = false;
  private again: NodeJS.Timeout | undefined;

  constructor(private readonly address: Address, private readonly handlers: LinkHandlers) {
    this.bind();
  }

  private bind(): void {
    const socket = createSocket(isIPv6(this.address.host) ? 'udp6' : 'udp4');
    this.socket = socket;  // at once: who closes the link before it is ready closes it, too
    socket.on('message', (packet) => this.handlers.packet(new Uint8Array(packet)));
    // "Nobody listens there" comes back as an error: it could be forged, and the server may come yet.
    socket.on('error', () => this.fail(socket));
    // Without a way to the address Node calls back with an error, of which its types know nothing.
    const connected = (error?: Error): void => (error ? this.fail(socket) : this.succeed(socket));
    socket.connect(this.address.port, this.address.host, connected);
  }

  private succeed(socket: UdpSocket): void {
    if (socket !== this.socket) return;
    this.ready = true;
    if (this.told) return;
    this.told = true;
    this.handlers.opened();
  }

  /** A network that is away now may come: it is tried again. */
  private fail(socket: UdpSocket): void {
    if (socket !== this.socket || this.ready) return;
    this.drop();
    this.again = setTimeout(() => this.bind(), againMs);
  }

  private drop(): void {
    clearTimeout(this.again);
    this.socket?.close();
    this.socket = undefined;
    this.ready = false;
  }

  /** Goes on from another port of ours, as behind a router that forgot us. */
  rebind(): void {
    if (this.closed) return;
    this.drop();
    this.bind();
  }

  send(packet: Uint8Array): void {
    if (this.ready) this.socket?.send(packet, () => {});
  }

  close(): void {
    this.closed = true;
    this.drop();
  }
}

/** A connection with packets behind their lengths. */
export class TcpLink implements Link {
  private readonly socket: TcpSocket;
  private readonly packets = new TcpPackets();
  private over = false;

  constructor(address: Address, private readonly handlers: LinkHandlers) {
    this.socket = connect({ host: address.host, port: address.port, noDelay: true });
    this.socket.on('connect', () => {
      if (!this.over) handlers.opened();
    });
    this.socket.on('data', (bytes) => this.take(bytes));
    this.socket.on('error', (error) => this.breakOff(error.message));
    this.socket.on('close', () => this.breakOff('the server closed the connection'));
  }

  private take(bytes: Uint8Array): void {
    if (this.over) return;
    try {
      for (const packet of this.packets.take(bytes)) this.handlers.packet(packet);
    } catch {
      this.breakOff('the stream holds no packets');
    }
  }

  private breakOff(why: string): void {
    if (this.over) return;
    this.over = true;
    this.socket.destroy();
    this.handlers.broke(why);
  }

  send(packet: Uint8Array): void {
    // As on a path that is full: what is lost is said again.
    if (!this.over && this.socket.writableLength <= unsentBytesMax) this.socket.write(frameForTcp(packet));
  }

  /** Sends what is still to be sent, and ends: within a second, whatever the other does. */
  close(): void {
    if (this.over) return;
    this.over = true;
    if (this.socket.connecting) {
      this.socket.destroy();
      return;
    }
    this.socket.end();
    const timer = setTimeout(() => this.socket.destroy(), hangUpMs);
    this.socket.once('close', () => clearTimeout(timer));
  }

  /** As a network that fails: for tests of what comes after. */
  cut(): void {
    this.breakOff('cut');
  }
}

export const openUdp: OpenLink = (address, handlers) => new UdpLink(address, handlers);
export const openTcp: OpenLink = (address, handlers) => new TcpLink(address, handlers);
