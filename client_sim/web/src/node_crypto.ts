// AES-256-GCM by node:crypto, which has the processor's instructions for it; all else as it was.

import { createCipheriv, createDecipheriv } from 'node:crypto';

import { Cipher, tagBytes, type Crypto } from './crypto';

const aes = 'aes-256-gcm';

export function withNodeAes(base: Crypto): Crypto {
  return {
    ...base,
    ciphers: [...base.ciphers, Cipher.aes256Gcm],
    seal(cipher, key, nonce, authenticated, plain) {
      if (cipher !== Cipher.aes256Gcm) return base.seal(cipher, key, nonce, authenticated, plain);
      const sealing = createCipheriv(aes, key, nonce, { authTagLength: tagBytes });
      sealing.setAAD(authenticated);
      const body = sealing.update(plain);
      sealing.final();
      return Uint8Array.from([...body, ...sealing.getAuthTag()]);
    },
    open(cipher, key, nonce, authenticated, sealed) {
      if (cipher !== Cipher.aes256Gcm) return base.open(cipher, key, nonce, authenticated, sealed);
      if (sealed.length < tagBytes) return undefined;
      const opening = createDecipheriv(aes, key, nonce, { authTagLength: tagBytes });
      opening.setAAD(authenticated);
      opening.setAuthTag(sealed.subarray(sealed.length - tagBytes));
      try {
        const plain = opening.update(sealed.subarray(0, sealed.length - tagBytes));
        opening.final();
        return new Uint8Array(plain);
      } catch {
        return undefined;
      }
    },
  };
}
