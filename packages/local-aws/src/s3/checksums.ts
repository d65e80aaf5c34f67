import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Error } from './error.ts';

/** The digests of content that are computed here, with their length in bytes. CRC-32C and CRC-64 have no fast implementation in Node. */
const lengths = { CRC32: 4, SHA1: 20, SHA256: 32 };
/** The other algorithms of S3, which are refused. */
const notHere = new Set(['CRC32C', 'CRC64NVME', 'MD5', 'SHA512', 'XXHASH3', 'XXHASH64', 'XXHASH128']);
/** The headers that begin like those that carry a checksum, and say something of it. */
const aboutChecksums = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);
const headerPrefix = 'x-amz-checksum-';

export type ChecksumAlgorithm = keyof typeof lengths;
/** Whether the checksum of an object is one of the checksums of its parts, or of its content. */
export type ChecksumType = 'COMPOSITE' | 'FULL_OBJECT';

export interface Checksum {
  algorithm: ChecksumAlgorithm;
  /** In base64. */
  value: string;
}

export interface ObjectChecksum extends Checksum {
  type: ChecksumType;
}

/** What a multipart upload was started with. */
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

/** Returns the name of a checksum in XML. */
export function elementOfChecksum(algorithm: ChecksumAlgorithm): `Checksum${ChecksumAlgorithm}` {
  return `Checksum${algorithm}`;
}

/** Returns the algorithm that a header or trailer carries a checksum of, or undefined for one that carries none. */
export function algorithmOfHeader(name: string): ChecksumAlgorithm | undefined {
  if (!name.startsWith(headerPrefix) || aboutChecksums.has(name)) return undefined;
  return algorithmOf(name.slice(headerPrefix.length), name);
}

/** Returns the algorithm of the name; throws for one that S3 or this S3 does not have. */
export function algorithmOf(name: string, source: string): ChecksumAlgorithm {
  const algorithm = name.toUpperCase();
  if (notHere.has(algorithm)) throw notImplemented(`${source} ${name}`);
  if (!isAlgorithm(algorithm)) throw invalidRequest(`The algorithm type you specified in ${source} is invalid.`);
  return algorithm;
}

/** Throws unless the text is base64 of a digest of this algorithm. */
export function assertChecksum({ algorithm, value }: Checksum, source: string): void {
  if (!isBase64(value, lengths[algorithm])) throw invalidRequest(`Value for ${source} is invalid.`);
}

/** Returns whether the text is the base64 of so many bytes. */
export function isBase64(text: string, bytes: number): boolean {
  const decoded = Buffer.from(text, 'base64');
  return decoded.length === bytes && decoded.toString('base64') === text;
}

/** Reads how the parts of an upload and its object are to be checked from the headers that start it. */
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

/** Throws unless a part is sent with a checksum of the algorithm that its upload was started with. */
export function assertPartChecksum(upload: UploadChecksum | undefined, part: Checksum | undefined): void {
  // S3 verifies a checksum that the upload does not ask for, and forgets it.
  if (!upload || upload.algorithm === part?.algorithm) return;
  throw invalidRequest(
    `Checksum Type mismatch occurred, expected checksum Type: ${upload.algorithm.toLowerCase()}, actual checksum Type: ${part?.algorithm.toLowerCase() ?? 'null'}`,
  );
}

/** Returns the checksum of an object out of those of its parts. */
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
 * Returns what a CRC becomes when so many bytes follow, apart from what these bytes add. A CRC is linear: what zeros make
 * of it, less what zeros make of nothing, is the shift alone.
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
