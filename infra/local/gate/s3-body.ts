import { createHash, createHmac, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Error, type S3ErrorCode } from '../aws/s3/error.ts';
import { pipeRequest } from './pipe-request.ts';
import { sameText, sha256, UNSIGNED_PAYLOAD, type Verified } from './signature.ts';

const MAX_LINE_BYTES = 16 * 1024;
const EMPTY_HASH = sha256('');
const STREAMING_PAYLOADS = new Set([
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
]);

/** Opens the body of an upload as a decoded stream that fails at its end unless length, digests and signatures match. */
export function openBody(req: IncomingMessage, verified: Verified): { body: Readable; length: number } {
  const chunked = STREAMING_PAYLOADS.has(verified.payloadHash);
  const length = readLength(req, chunked);
  const checks = new Checks(req.headers, length);
  const checked = new CheckedBody(checks);
  if (chunked) {
    const decoder = new ChunkDecoder(verified, checks);
    pipeRequest(req, decoder);
    // The last stage carries the error to its reader.
    pipeline(decoder, checked, () => undefined);
  } else {
    if (verified.payloadHash !== UNSIGNED_PAYLOAD) checks.expectSha256(verified.payloadHash);
    pipeRequest(req, checked);
  }
  return { body: checked, length };
}

/** Drops what describes the encoding on the wire from the headers of an upload. */
export function headersOfContent(headers: IncomingMessage['headers'], length: number): IncomingMessage['headers'] {
  const kept = { ...headers, 'content-length': String(length) };
  const encoding = (headers['content-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== 'aws-chunked')
    .join(',');
  if (encoding === '') delete kept['content-encoding'];
  else kept['content-encoding'] = encoding;
  delete kept['transfer-encoding'];
  return kept;
}

function readLength(req: IncomingMessage, chunked: boolean): number {
  const header = chunked ? req.headers['x-amz-decoded-content-length'] : req.headers['content-length'];
  const bodiless = !chunked && header === undefined && req.headers['transfer-encoding'] === undefined;
  const length = bodiless ? 0 : Number(header);
  if (
    typeof header === 'object' ||
    (!bodiless && header === undefined) ||
    !Number.isSafeInteger(length) ||
    length < 0
  ) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  return length;
}

/** The digests a sender may announce, in a header or in a trailer after the body. */
class Checks {
  readonly #length: number;
  readonly #hashes = new Map<string, { hash: Hash; encoding: 'hex' | 'base64'; code: S3ErrorCode }>();
  readonly #expected = new Map<string, string>();
  readonly #announced: string[] = [];
  #crc: number | undefined;
  #seen = 0;

  constructor(headers: IncomingMessage['headers'], length: number) {
    this.#length = length;
    const md5 = headers['content-md5'];
    if (typeof md5 === 'string') this.#expect('content-md5', md5);
    for (const [name, value] of Object.entries(headers)) {
      if (name.startsWith('x-amz-checksum-') && typeof value === 'string') this.#expect(name, value);
    }
    for (const part of String(headers['x-amz-trailer'] ?? '').split(',')) {
      const name = part.trim().toLowerCase();
      if (name === '') continue;
      this.#announced.push(name);
      this.#watch(name);
    }
  }

  expectSha256(hex: string): void {
    this.#expect('x-amz-content-sha256', hex);
  }

  readTrailer(name: string, value: string): void {
    this.#expected.set(name.toLowerCase(), value);
  }

  update(chunk: Buffer): void {
    this.#seen += chunk.length;
    if (this.#crc !== undefined) this.#crc = crc32(chunk, this.#crc);
    for (const { hash } of this.#hashes.values()) hash.update(chunk);
  }

  failure(): Error | undefined {
    if (this.#seen !== this.#length) {
      return new S3Error(
        'IncompleteBody',
        'You did not provide the number of bytes specified by the Content-Length HTTP header.',
      );
    }
    if (!this.#announced.every((name) => this.#expected.has(name))) {
      return new S3Error('MalformedTrailerError', 'The request lacks a trailer that it announced.');
    }
    for (const [name, { hash, encoding, code }] of this.#hashes) {
      const expected = this.#expected.get(name);
      if (expected !== undefined && !sameText(hash.digest(encoding), expected)) return mismatch(code);
    }
    const expected = this.#expected.get('x-amz-checksum-crc32');
    if (this.#crc !== undefined && expected !== undefined) {
      const actual = Buffer.alloc(4);
      actual.writeUInt32BE(this.#crc);
      if (actual.toString('base64') !== expected) return mismatch('BadDigest');
    }
    return undefined;
  }

  #expect(name: string, value: string): void {
    this.#watch(name);
    this.#expected.set(name, value);
  }

  // CRC-32C and CRC-64 have no fast implementation in Node; the SDK defaults to CRC-32.
  #watch(name: string): void {
    if (name === 'x-amz-checksum-crc32') this.#crc ??= 0;
    if (/^x-amz-checksum-crc(32c|64)/.test(name)) throw notImplemented(name);
    const algorithm = DIGESTS[name];
    if (!algorithm) return;
    const isPayload = name === 'x-amz-content-sha256';
    this.#hashes.set(name, {
      hash: createHash(algorithm),
      encoding: isPayload ? 'hex' : 'base64',
      code: isPayload ? 'XAmzContentSHA256Mismatch' : 'BadDigest',
    });
  }
}

const DIGESTS: Record<string, string> = {
  'content-md5': 'md5',
  'x-amz-checksum-sha1': 'sha1',
  'x-amz-checksum-sha256': 'sha256',
  'x-amz-content-sha256': 'sha256',
};

function mismatch(code: S3ErrorCode): Error {
  return new S3Error(code, 'The content does not match the digest that was sent with it.');
}

class CheckedBody extends Transform {
  readonly #checks: Checks;

  constructor(checks: Checks) {
    super();
    this.#checks = checks;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#checks.update(chunk);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(this.#checks.failure() ?? null);
  }
}

/** Decodes `aws-chunked`: lines of `size;chunk-signature=…`, each with its bytes, then trailers. */
class ChunkDecoder extends Transform {
  readonly #verified: Verified;
  readonly #checks: Checks;
  readonly #isSigned: boolean;
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'done' = 'size';
  #line: Buffer = Buffer.alloc(0);
  #left = 0;
  #chunkHash = createHash('sha256');
  #chunkSignature = '';
  #previousSignature: string;
  #trailers = '';
  #trailerSigned = false;

  constructor(verified: Verified, checks: Checks) {
    super();
    this.#verified = verified;
    this.#checks = checks;
    this.#isSigned = verified.payloadHash.startsWith('STREAMING-AWS4-HMAC-SHA256');
    this.#previousSignature = verified.signature;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      let rest = chunk;
      while (rest.length > 0) rest = this.#state === 'data' ? this.#readData(rest) : this.#readLine(rest);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _flush(done: TransformCallback): void {
    const ended = this.#state === 'done' || this.#state === 'trailer';
    const unsignedTrailer = this.#isSigned && this.#trailers !== '' && !this.#trailerSigned;
    done(ended && !unsignedTrailer ? null : incomplete());
  }

  #readData(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left);
    this.#left -= part.length;
    if (this.#isSigned) this.#chunkHash.update(part);
    this.push(part);
    if (this.#left === 0) this.#state = 'data-end';
    return bytes.subarray(part.length);
  }

  #readLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(0x0a);
    const part = end < 0 ? bytes : bytes.subarray(0, end + 1);
    this.#line = this.#line.length === 0 ? part : Buffer.concat([this.#line, part]);
    if (this.#line.length > MAX_LINE_BYTES) throw incomplete();
    if (end >= 0) {
      const line = this.#line.toString('latin1').replace(/\r?\n$/, '');
      this.#line = Buffer.alloc(0);
      this.#takeLine(line);
    }
    return bytes.subarray(part.length);
  }

  #takeLine(line: string): void {
    switch (this.#state) {
      case 'size':
        this.#startChunk(line);
        return;
      case 'data-end':
        if (line !== '') throw incomplete();
        this.#verifyChunk();
        this.#state = 'size';
        return;
      case 'trailer':
        this.#takeTrailer(line);
        return;
      default:
        if (line !== '') throw incomplete();
    }
  }

  #startChunk(line: string): void {
    const [size = '', ...extensions] = line.split(';');
    if (!/^[0-9a-f]{1,8}$/i.test(size)) throw incomplete();
    this.#left = Number.parseInt(size, 16);
    this.#chunkHash = createHash('sha256');
    this.#chunkSignature = extensions.find((part) => part.startsWith('chunk-signature='))?.slice(16) ?? '';
    if (this.#left > 0) {
      this.#state = 'data';
      return;
    }
    this.#verifyChunk();
    this.#state = 'trailer';
  }

  #verifyChunk(): void {
    if (!this.#isSigned) return;
    this.#verifySignature(
      `AWS4-HMAC-SHA256-PAYLOAD\n${this.#verified.timestamp}\n${this.#verified.scope}\n${this.#previousSignature}\n${EMPTY_HASH}\n${this.#chunkHash.digest('hex')}`,
      this.#chunkSignature,
    );
    this.#previousSignature = this.#chunkSignature;
  }

  #takeTrailer(line: string): void {
    if (line === '') {
      this.#state = 'done';
      return;
    }
    const colon = line.indexOf(':');
    if (colon < 1) throw incomplete();
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'x-amz-trailer-signature') {
      this.#verifySignature(
        `AWS4-HMAC-SHA256-TRAILER\n${this.#verified.timestamp}\n${this.#verified.scope}\n${this.#previousSignature}\n${sha256(this.#trailers)}`,
        value,
      );
      this.#trailerSigned = true;
      return;
    }
    this.#trailers += `${name}:${value}\n`;
    this.#checks.readTrailer(name, value);
  }

  #verifySignature(text: string, signature: string): void {
    const expected = createHmac('sha256', this.#verified.signingKey).update(text).digest('hex');
    if (!sameText(expected, signature)) {
      throw new S3Error('SignatureDoesNotMatch', 'The signature of a part of the body does not match.');
    }
  }
}

function incomplete(): Error {
  return new S3Error('IncompleteBody', 'The request body terminated unexpectedly');
}
