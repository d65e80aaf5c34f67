import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../http/errors.ts';
import type { SignedPath } from './parse-path.ts';

/** Bytes of SHA-256. */
const digestSize = 32;
/** Shorter signatures could be guessed. imgproxy allows a single byte. */
export const minSignatureSize = 8;

/** What imgproxy's clients and documentation write instead of a signature. Such URLs are never valid here. */
const placeholders = new Set(['unsafe', 'insecure', '_']);

/** A key for URLs, like the settings IMGPROXY_KEY, IMGPROXY_SALT and IMGPROXY_SIGNATURE_SIZE of imgproxy. */
export interface PictureKey {
  /** Hexadecimal. */
  key: string;
  /** Hexadecimal. */
  salt: string;
  /** Bytes of a signature, from 8 to 32; defaults to 32. Longer and shorter signatures are invalid. */
  signatureSize?: number;
}

/** Returns the signature of a path, which begins with a slash. */
export function signatureOf(path: string, { key, salt, signatureSize = digestSize }: PictureKey): string {
  if (signatureSize < minSignatureSize || signatureSize > digestSize)
    throw new RangeError(`Expected a signature size from ${minSignatureSize} to ${digestSize}.`);
  return createHmac('sha256', bytesOf(key))
    .update(bytesOf(salt))
    .update(path)
    .digest()
    .subarray(0, signatureSize)
    .toString('base64url');
}

/**
 * Returns whether a path has the signature of a key. The text is compared, not the bytes, because several texts decode to the
 * same bytes, and each would be a derivative of its own in a cache.
 */
export function isSigned({ signature, path }: SignedPath, key: PictureKey): boolean {
  const expected = Buffer.from(signatureOf(path, key));
  const received = Buffer.from(signature);
  return expected.length === received.length && timingSafeEqual(expected, received);
}

/** Throws the 403 if a path does not have the signature of a key. */
export function verifySignature(signed: SignedPath, key: PictureKey): void {
  if (isSigned(signed, key)) return;
  const { signature } = signed;
  if (placeholders.has(signature)) throw invalidSignature('URLs without a signature are not valid.');
  if (signature.includes(':'))
    throw invalidSignature('Expected a signature before the options, but the path begins with an option.');
  throw invalidSignature('The signature is invalid.');
}

function invalidSignature(msg: string): HttpError {
  return new HttpError(403, 'invalid_signature', msg);
}

function bytesOf(hex: string): Buffer {
  // Buffer.from ignores everything after the first invalid digit, so a broken key would be one that anybody can guess.
  if (!/^(?:[\da-f]{2})+$/i.test(hex)) throw new TypeError('Expected a key and salt of hexadecimal bytes.');
  return Buffer.from(hex, 'hex');
}
