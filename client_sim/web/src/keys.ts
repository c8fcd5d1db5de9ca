// Keys and tokens as text (WIRE.md): a prefix, then base64url; of a key with a check behind it.

import { concat, equalBytes } from './bytes';
import { keyBytes, type Crypto } from './crypto';

const checkBytes = 4;

export const publicKeyPrefix = 'ashlar-public-';
export const secretKeyPrefix = 'ashlar-secret-';

function checkOf(crypto: Crypto, prefix: string, key: Uint8Array): Uint8Array {
  return crypto.sha256(concat(new TextEncoder().encode(prefix), key)).slice(0, checkBytes);
}

/** undefined: it is no such key, or was mistyped. */
export function readKey(crypto: Crypto, prefix: string, text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith(prefix)) return undefined;
  const digits = trimmed.slice(prefix.length);
  if (!/^[\w-]+$/.test(digits)) return undefined;
  const bytes = new Uint8Array(Buffer.from(digits, 'base64url'));
  if (bytes.length !== keyBytes + checkBytes) return undefined;
  const key = bytes.slice(0, keyBytes);
  return equalBytes(bytes.slice(keyBytes), checkOf(crypto, prefix, key)) ? key : undefined;
}

export function writeKey(crypto: Crypto, prefix: string, key: Uint8Array): string {
  return prefix + Buffer.from(concat(key, checkOf(crypto, prefix, key))).toString('base64url');
}

const tokenPrefix = 'ashlar-token-';

/** A connect token as ashlar-server token mint prints it; only the server looks into it. undefined: it is none. */
export function readToken(text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  const digits = trimmed.slice(tokenPrefix.length);
  if (!trimmed.startsWith(tokenPrefix) || !/^[\w-]+$/.test(digits)) return undefined;
  return new Uint8Array(Buffer.from(digits, 'base64url'));
}
