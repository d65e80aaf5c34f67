import { createHash, randomBytes } from 'node:crypto';

/** Makes a text of 256 random bits, for keys and tokens. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of a text in hex. Hashes of 256 random bits cannot be searched, so secrets need no slow hash. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
