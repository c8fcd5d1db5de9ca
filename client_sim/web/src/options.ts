// The command line of ashlar-web-client.

import { readFileSync } from 'node:fs';

import { chatBytesMax } from './client_messages';
import { makeKeyPair, type Crypto, type KeyPair } from './crypto';
import { publicKeyPrefix, readKey, readToken, secretKeyPrefix } from './keys';
import { validText } from './text';

export const usage = `usage: ashlar-web-client HOST:PORT [options]

Joins a server, walks a square, says a line, and prints what it sees.

  --name NAME          the player's name (default webby)
  --for DURATION       how long it stays: 10s, 5m (default 10s)
  --transport udp|tcp  (default udp)
  --encoding packed|plain
                       how snapshots shall come (default packed)
  --say TEXT           the line that it says (default "hello from the web client"; "" for none)
  --server-key KEY     takes no other server than the one with this public key
  --identity FILE      the player's secret key, as ashlar-server key new makes it; else a key of this run
  --token FILE         a connect token, for closed servers
  --fetch              fetches maps and props from the server; else it leaves a server that has any
  --ping               asks whether anybody is there, prints the answer, and ends

Exit codes: 0 it played until the end, 1 it could not or was sent away, 2 the command line is wrong.
`;

/** The command line is wrong: one line that says how. */
export class UsageError extends Error {}

export interface Options {
  host: string;
  port: number;
  name: string;
  forMs: number;
  transport: 'udp' | 'tcp';
  encoding: 'packed' | 'plain';
  say: string;
  serverKey?: Uint8Array;
  identity?: KeyPair;
  token?: Uint8Array;
  fetch: boolean;
  ping: boolean;
}

function readAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65535) {
    throw new UsageError(`'${text}' is no address; write HOST:PORT, as 127.0.0.1:7777 or [::1]:7777`);
  }
  return { host: match[1] ?? match[2], port };
}

// A timer of JavaScript that is to wait longer does not wait at all.
const timerMsMax = 2 ** 31 - 1;

function readDuration(text: string): number {
  const match = /^(\d{1,6})(ms|s|m|h)?$/.exec(text);
  if (!match) throw new UsageError(`'${text}' is no duration; write 500ms, 10s, 5m or 1h`);
  const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? 's']!;
  const ms = Number(match[1]) * unitMs;
  if (ms > timerMsMax) throw new UsageError(`'${text}' is too long; 24 days is the most`);
  return ms;
}

function readLine(text: string): string {
  if (validText(text, 0, chatBytesMax)) return text;
  throw new UsageError(`--say takes up to ${chatBytesMax} bytes of text that can be printed, on one line`);
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`cannot read '${path}': ${(error as Error).message}`);
  }
}

function readIdentity(crypto: Crypto, path: string): KeyPair {
  const secret = readKey(crypto, secretKeyPrefix, readFile(path).toString('utf8'));
  if (!secret) throw new UsageError(`'${path}' holds no secret key; ashlar-server key new --out FILE makes one`);
  return makeKeyPair(crypto, secret);
}

function readTokenFile(path: string): Uint8Array {
  const token = readToken(readFile(path).toString('utf8'));
  if (!token) throw new UsageError(`'${path}' holds no connect token; ashlar-server token mint makes one`);
  return token;
}

/** Throws a UsageError with one line that names what is wrong and the remedy. */
export function readOptions(crypto: Crypto, words: readonly string[]): Options {
  const options: Options = {
    host: '', port: 0, name: 'webby', forMs: 10_000, transport: 'udp', encoding: 'packed', say: 'hello from the web client', fetch: false,
    ping: false,
  };
  const rest = [...words];
  const valueOf = (option: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new UsageError(`${option} needs a value`);
    return value;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    switch (word) {
      case '--name': options.name = valueOf(word); break;
      case '--for': options.forMs = readDuration(valueOf(word)); break;
      case '--say': options.say = readLine(valueOf(word)); break;
      case '--transport': {
        const transport = valueOf(word);
        if (transport !== 'udp' && transport !== 'tcp') {
          throw new UsageError(`--transport is udp or tcp, not '${transport}'`);
        }
        options.transport = transport;
        break;
      }
      case '--encoding': {
        const encoding = valueOf(word);
        if (encoding !== 'packed' && encoding !== 'plain') {
          throw new UsageError(`--encoding is packed or plain, not '${encoding}'`);
        }
        options.encoding = encoding;
        break;
      }
      case '--server-key': {
        options.serverKey = readKey(crypto, publicKeyPrefix, valueOf(word));
        if (!options.serverKey) throw new UsageError('--server-key wants a public key; ashlar-server key show prints it');
        break;
      }
      case '--identity': options.identity = readIdentity(crypto, valueOf(word)); break;
      case '--token': options.token = readTokenFile(valueOf(word)); break;
      case '--fetch': options.fetch = true; break;
      case '--ping': options.ping = true; break;
      default:
        if (word.startsWith('-')) throw new UsageError(`there is no option ${word}; --help lists them`);
        if (options.host) throw new UsageError(`one server is enough: '${word}' is one too many`);
        Object.assign(options, readAddress(word));
    }
  }
  if (!options.host) throw new UsageError('which server? ashlar-web-client HOST:PORT; --help tells more');
  return options;
}
