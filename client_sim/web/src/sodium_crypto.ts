// The primitives by libsodium, which runs wherever JavaScript does.

import sodium from 'libsodium-wrappers-sumo';

import { Cipher, type Crypto } from './crypto';

/** Ready once libsodium is loaded; fails only where WebAssembly and JavaScript both cannot run it. */
export async function sodiumCrypto(): Promise<Crypto> {
  await sodium.ready;
  return {
    ciphers: [Cipher.chacha20Poly1305],
    random: (bytes) => sodium.randombytes_buf(bytes),
    sha256: (message) => sodium.crypto_hash_sha256(message),
    hmac: (key, message) => sodium.crypto_auth_hmacsha256(message, key),
    publicKey: (secret) => sodium.crypto_scalarmult_base(secret),
    x25519(secret, publicKey) {
      try {
        return sodium.crypto_scalarmult(secret, publicKey);
      } catch {
        return undefined;
      }
    },
    sipHash: (key, message) => sodium.crypto_shorthash(message, key),
    seal(cipher, key, nonce, authenticated, plain) {
      if (cipher !== Cipher.chacha20Poly1305) throw new Error('a cipher that was never offered');
      return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(plain, authenticated, null, nonce, key);
    },
    open(cipher, key, nonce, authenticated, sealed) {
      if (cipher !== Cipher.chacha20Poly1305) return undefined;
      try {
        return sodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, sealed, authenticated, nonce, key);
      } catch {
        return undefined;
      }
    },
  };
}
