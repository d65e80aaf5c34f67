import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Error } from './error.ts';

/** The supported digests, with their lengths in bytes. Node has no fast implementation of CRC-32C and CRC-64. */
const lengths = { CRC32: 4, SHA1: 20, SHA256: 32 };
/** The other algorithms of S3, which are refused. */
const notHere = new Set(['CRC32C', 'CRC64NVME', 'MD5', 'SHA512', 'XXHASH3', 'XXHASH64', 'XXHASH128']);
/** Headers with the checksum prefix that carry no checksum. */
const aboutChecksums = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);
const headerPrefix = 'x-amz-checksum-';

export type ChecksumAlgorithm = keyof typeof lengths;
/** Whether the checksum of an object covers the checksums of its parts, or its content. */
export type ChecksumType = 'COMPOSITE' | 'FULL_OBJECT';

export interface Checksum {
  algorithm: ChecksumAlgorithm;
  /** In base64. */
  value: string;
}

export interface ObjectChecksum extends Checksum {
  type: ChecksumType;
}

/** The checksum settings of a multipart upload. */
export interface UploadChecksum {
  algorithm: ChecksumAlgorithm;
  type: ChecksumType;
}

export interface Digest {
  update(chunk: Uint8Array): void;
  /** Returns the digest in base64. */
  end(): string;
}

export function createDigest(algorithm: ChecksumAlgorithm): Digest {
  if (algorithm !== 'CRC32') {
    const hash = createHash(algorithm);
    return { update: (chunk) => void hash.update(chunk), end: () => hash.digest('base64') };
  }
  let crc = 0;
  return {
    update(chunk) {
      crc = crc32(chunk, crc);
    },
    end: () => encodeCrc(crc),
  };
}

export function headerOfChecksum(algorithm: ChecksumAlgorithm): string {
  return `${headerPrefix}${algorithm.toLowerCase()}`;
}

/** Returns the XML element name of a checksum. */
export function elementOfChecksum(algorithm: ChecksumAlgorithm): `Checksum${ChecksumAlgorithm}` {
  return `Checksum${algorithm}`;
}

/** Returns the algorithm of a checksum header or trailer, or undefined for other headers. */
export function algorithmOfHeader(name: string): ChecksumAlgorithm | undefined {
  if (!name.startsWith(headerPrefix) || aboutChecksums.has(name)) return undefined;
  return algorithmOf(name.slice(headerPrefix.length), name);
}

/** Returns the algorithm of a name; throws for unknown and unsupported ones. */
export function algorithmOf(name: string, source: string): ChecksumAlgorithm {
  const algorithm = name.toUpperCase();
  if (notHere.has(algorithm)) throw notImplemented(`${source} ${name}`);
  if (!isAlgorithm(algorithm)) throw invalidRequest(`The algorithm type you specified in ${source} is invalid.`);
  return algorithm;
}

/** Throws unless the text is a base64 digest of this algorithm. */
export function assertChecksum({ algorithm, value }: Checksum, source: string): void {
  if (!isBase64(value, lengths[algorithm])) throw invalidRequest(`Value for ${source} is invalid.`);
}

/** Returns whether the text is base64 of that many bytes. */
export function isBase64(text: string, bytes: number): boolean {
  const decoded = Buffer.from(text, 'base64');
  return decoded.length === bytes && decoded.toString('base64') === text;
}

/** Reads the checksum settings from the headers that start an upload. */
export function readUploadChecksum(headers: IncomingHttpHeaders): UploadChecksum | undefined {
  const name = headers['x-amz-checksum-algorithm'];
  const type = headers['x-amz-checksum-type'];
  if (typeof name !== 'string') {
    if (type === undefined) return undefined;
    throw invalidRequest('The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.');
  }
  const algorithm = algorithmOf(name, 'x-amz-checksum-algorithm');
  if (type === undefined || type === 'COMPOSITE') return { algorithm, type: 'COMPOSITE' };
  if (type !== 'FULL_OBJECT') throw invalidRequest('Value for x-amz-checksum-type header is invalid.');
  if (algorithm !== 'CRC32')
    throw invalidRequest(
      `The FULL_OBJECT checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    );
  return { algorithm, type };
}

/** Throws unless a part has a checksum of its upload's algorithm. */
export function assertPartChecksum(upload: UploadChecksum | undefined, part: Checksum | undefined): void {
  // S3 verifies a checksum that the upload does not require, and forgets it.
  if (!upload || upload.algorithm === part?.algorithm) return;
  throw invalidRequest(
    `Checksum Type mismatch occurred, expected checksum Type: ${upload.algorithm.toLowerCase()}, actual checksum Type: ${part?.algorithm.toLowerCase() ?? 'null'}`,
  );
}

/** Returns the checksum of an object from those of its parts. */
export function combineChecksums(
  { algorithm, type }: UploadChecksum,
  parts: { size: number; checksum: string }[],
): ObjectChecksum {
  if (type === 'COMPOSITE') {
    const digest = createDigest(algorithm);
    for (const { checksum } of parts) digest.update(Buffer.from(checksum, 'base64'));
    return { algorithm, type, value: `${digest.end()}-${parts.length}` };
  }
  let crc = 0;
  for (const { checksum, size } of parts)
    crc = (shiftCrc(crc, size) ^ Buffer.from(checksum, 'base64').readUInt32BE()) >>> 0;
  return { algorithm, type, value: encodeCrc(crc) };
}

/**
 * Returns a CRC shifted by a number of bytes, without the contribution of those bytes. CRCs are linear: the CRC
 * continued over zeros, XORed with that of zeros alone, is the shift.
 */
function shiftCrc(crc: number, bytes: number): number {
  let [shifted, offset] = [crc, 0];
  for (let left = bytes; left > 0; left -= zeroBlock.length) {
    const zeros = left < zeroBlock.length ? zeroBlock.subarray(0, left) : zeroBlock;
    shifted = crc32(zeros, shifted);
    offset = crc32(zeros, offset);
  }
  return (shifted ^ offset) >>> 0;
}

const zeroBlock = Buffer.alloc(64 * 1024);

function encodeCrc(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}

function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return name in lengths;
}

export function invalidRequest(message: string): S3Error {
  return new S3Error('InvalidRequest', message);
}
