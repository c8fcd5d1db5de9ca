// What a client is made with.

import type { KeyPair } from './crypto';
import type { CloseReason } from './session_end';
import { printableBytes, validPlayerName } from './text';

const buildBytesMax = 64;
const tokenBytesMax = 512;

export interface ClientConfig {
  /** 1 to 24 characters that are drawn; any other ends the client with `bad_name` before it asks the server. */
  name: string;
  /** For the server's log; made printable and cut to 64 bytes. */
  build?: string;
  /** Who the player is; drawn when left out, and then another one each time. */
  identity?: KeyPair;
  /** The only server key that will do. */
  pinned?: Uint8Array;
  /** A connect token, for closed servers. */
  token?: Uint8Array;
  /** Does the client hold the map or prop of this hash? Without it: none. */
  holds?: (hash: bigint) => boolean;
  /** How snapshots shall come: packed unless told, at some fifth of the bytes. */
  encoding?: 'plain' | 'packed';
  /** Fetch what it lacks from the server, or leave with `lacks_content`? */
  fetchContent?: boolean;
  /** Bytes of one world's content that it fetches, as they travel; 64 MiB unless told. */
  fetchBytesMax?: number;
  /** Come as a spectator: who flies through everything, and whom the others do not see? */
  watches?: boolean;
  /** After how long it changes the keys that it seals with; two hours at most. */
  keyAgeMs?: number;
}

/** Why no server would take its hello; undefined: one may. */
export function faultOf({ name, token }: ClientConfig): CloseReason | undefined {
  if (!validPlayerName(name)) return 'bad_name';
  return token && token.length > tokenBytesMax ? 'token_malformed' : undefined;
}

/** What the hello says of the program. */
export function buildOf({ build = '' }: ClientConfig): string {
  return new TextDecoder().decode(printableBytes(build, buildBytesMax));
}
