// What the protocol needs of a cryptographic library, and the key derivation that it builds of that.

import { concat } from './bytes';

/** As the accept says it. */
export enum Cipher {
  chacha20Poly1305 = 1,
  aes256Gcm = 2,
}

export const tagBytes = 16;
export const keyBytes = 32;

/**
 * The primitives, all at once and without waiting. `sodium_crypto.ts` has them of libsodium, everywhere;
 * `node_crypto.ts` adds AES-256-GCM where there is node:crypto.
 */
export interface Crypto {
  /** The ciphers that it has, which the hello offers. */
  readonly ciphers: readonly Cipher[];
  random(bytes: number): Uint8Array;
  sha256(message: Uint8Array): Uint8Array;
  /** @param key 32 bytes */
  hmac(key: Uint8Array, message: Uint8Array): Uint8Array;
  publicKey(secret: Uint8Array): Uint8Array;
  /** undefined: the other's key is one that gives the same for every secret. */
  x25519(secret: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined;
  /** SipHash-2-4. @param key 16 bytes @returns 8 bytes */
  sipHash(key: Uint8Array, message: Uint8Array): Uint8Array;
  /** Ends in the tag. @param nonce 12 bytes */
  seal(cipher: Cipher, key: Uint8Array, nonce: Uint8Array, authenticated: Uint8Array, plain: Uint8Array): Uint8Array;
  /** undefined: it was not sealed with these. */
  open(
    cipher: Cipher, key: Uint8Array, nonce: Uint8Array, authenticated: Uint8Array, sealed: Uint8Array,
  ): Uint8Array | undefined;
}

/** Who somebody is: the public key that the secret proves. */
export interface KeyPair {
  readonly secret: Uint8Array;
  readonly publicKey: Uint8Array;
}

export function makeKeyPair(crypto: Crypto, secret: Uint8Array = crypto.random(keyBytes)): KeyPair {
  return { secret, publicKey: crypto.publicKey(secret) };
}

const text = new TextEncoder();
const noBytes = new Uint8Array(0);

/** expand(key, label, context) of WIRE.md. @param bytes at most 32 */
export function expand(
  crypto: Crypto, key: Uint8Array, label: string, context: Uint8Array = noBytes, bytes = keyBytes,
): Uint8Array {
  const info = concat(text.encode(`ashlar ${label}`), Uint8Array.of(0), context, Uint8Array.of(1));
  return crypto.hmac(key, info).slice(0, bytes);
}

/** The packet nonce of both the handshake and sealed packets before their iv: 4 zero bytes, then n as u64. */
export function countNonce(n: number): Uint8Array {
  const nonce = new Uint8Array(12);
  for (let i = 4; i < 12; ++i) {
    nonce[i] = n % 256;
    n = Math.floor(n / 256);
  }
  return nonce;
}
