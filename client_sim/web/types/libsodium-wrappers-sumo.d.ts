// Of libsodium's JavaScript build what src/sodium_crypto.ts calls.
declare module 'libsodium-wrappers-sumo' {
  interface Sodium {
    readonly ready: Promise<void>;
    randombytes_buf(bytes: number): Uint8Array;
    crypto_hash_sha256(message: Uint8Array): Uint8Array;
    crypto_auth_hmacsha256(message: Uint8Array, key: Uint8Array): Uint8Array;
    crypto_scalarmult(secret: Uint8Array, point: Uint8Array): Uint8Array;
    crypto_scalarmult_base(secret: Uint8Array): Uint8Array;
    crypto_shorthash(message: Uint8Array, key: Uint8Array): Uint8Array;
    crypto_aead_chacha20poly1305_ietf_encrypt(
      message: Uint8Array, authenticated: Uint8Array | null, secretNonce: null, nonce: Uint8Array,
      key: Uint8Array): Uint8Array;
    crypto_aead_chacha20poly1305_ietf_decrypt(
      secretNonce: null, sealed: Uint8Array, authenticated: Uint8Array | null, nonce: Uint8Array,
      key: Uint8Array): Uint8Array;
  }
  const sodium: Sodium;
  export default sodium;
}
