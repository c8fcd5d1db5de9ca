// Sockets to a server: UDP by node:dgram, TCP by node:net.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, isIPv6, type Socket as TcpSocket } from 'node:net';

import { TcpPackets, frameForTcp } from './packet';

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

  constructor(private readonly address: Address, private readonly handlers: LinkHandlers) {
    this.bind(() => handlers.opened());
  }

  private bind(ready: () => void): void {
    const socket = createSocket(isIPv6(this.address.host) ? 'udp6' : 'udp4');
    socket.on('message', (packet) => this.handlers.packet(new Uint8Array(packet)));
    // "Nobody listens there" comes back as an error: it could be forged, and the server may come yet.
    socket.on('error', () => {});
    socket.connect(this.address.port, this.address.host, () => {
      this.socket = socket;
      ready();
    });
  }

  /** Goes on from another port of ours, as behind a router that forgot us. */
  rebind(): void {
    this.close();
    this.bind(() => {});
  }

  send(packet: Uint8Array): void {
    this.socket?.send(packet, () => {});
  }

  close(): void {
    this.socket?.close();
    this.socket = undefined;
  }
}

/** A connection with packets behind their lengths. */
export class TcpLink implements Link {
  private readonly socket: TcpSocket;
  private readonly packets = new TcpPackets();
  private over = false;

  constructor(address: Address, private readonly handlers: LinkHandlers) {
    this.socket = connect({ host: address.host, port: address.port, noDelay: true });
    this.socket.on('connect', () => handlers.opened());
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
    if (!this.over) this.socket.write(frameForTcp(packet));
  }

  /** Sends what is still to be sent, and ends. */
  close(): void {
    this.over = true;
    this.socket.end();
  }

  /** As a network that fails: for tests of what comes after. */
  cut(): void {
    this.breakOff('cut');
  }
}

export const openUdp: OpenLink = (address, handlers) => new UdpLink(address, handlers);
export const openTcp: OpenLink = (address, handlers) => new TcpLink(address, handlers);
