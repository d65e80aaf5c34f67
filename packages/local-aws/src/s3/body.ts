import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { sameText, sha256, unsignedPayload, type Verified } from '../iam/signature.ts';
import { pipeRequest } from '../wire/pipe-request.ts';
import {
  algorithmOf,
  algorithmOfHeader,
  assertChecksum,
  type Checksum,
  type ChecksumAlgorithm,
  createDigest,
  type Digest,
  headerOfChecksum,
  invalidRequest,
  isBase64,
} from './checksums.ts';
import { S3Error } from './error.ts';

const maxLineBytes = 16 * 1024;
/** S3 accepts smaller chunks only as the last one. */
const minChunkBytes = 8 * 1024;
const emptyHash = sha256('');
const streamingPayloads = new Set([
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
]);

export interface OpenBody {
  body: Readable;
  length: number;
  /** Returns the checksum of the body, once that was read. */
  checksum(): Checksum | undefined;
}

/**
 * Opens the body of a request as a decoded stream that fails at its end unless length, digests and signatures match.
 * The headers are those of the request and, if it is presigned, those in its query.
 */
export function openBody(req: IncomingMessage, verified: Verified, headers = req.headers): OpenBody {
  const chunked = streamingPayloads.has(verified.payloadHash);
  const length = readLength(req, chunked);
  const checks = new Checks(headers, length);
  const checked = new CheckedBody(checks);
  if (chunked) {
    const decoder = new ChunkDecoder(verified, checks);
    pipeRequest(req, decoder);
    // The last stage passes the error to its reader.
    pipeline(decoder, checked, () => undefined);
  } else {
    if (verified.payloadHash !== unsignedPayload) checks.expectSha256(verified.payloadHash);
    pipeRequest(req, checked);
  }
  return { body: checked, length, checksum: () => checks.checksum };
}

/** Removes headers that describe the encoding on the wire. */
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

/** The digests that a sender may announce, in a header or trailer. */
class Checks {
  readonly #length: number;
  readonly #md5: string | undefined;
  readonly #md5Hash = createHash('md5');
  readonly #algorithm: ChecksumAlgorithm | undefined;
  readonly #digest: Digest | undefined;
  readonly #isTrailer: boolean;
  readonly #payloadHash = createHash('sha256');
  #payloadSha256: string | undefined;
  #checksum: string | undefined;
  #seen = 0;

  constructor(headers: IncomingMessage['headers'], length: number) {
    this.#length = length;
    const md5 = headers['content-md5'];
    if (typeof md5 === 'string') {
      if (!isBase64(md5, 16)) throw new S3Error('InvalidDigest', 'The Content-MD5 you specified was invalid.');
      this.#md5 = md5;
    }
    const carried = Object.keys(headers).filter((name) => algorithmOfHeader(name) !== undefined);
    const announced = String(headers['x-amz-trailer'] ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== '');
    const [name, ...others] = [...carried, ...announced];
    if (others.length > 0)
      throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.');
    this.#isTrailer = announced.length > 0;
    this.#algorithm = name === undefined ? undefined : algorithmOfHeader(name);
    if (this.#isTrailer && !this.#algorithm)
      throw invalidRequest('The value specified in the x-amz-trailer header is not supported');
    this.#assertAnnounced(headers['x-amz-sdk-checksum-algorithm']);
    if (!this.#algorithm || name === undefined) return;
    this.#digest = createDigest(this.#algorithm);
    if (!this.#isTrailer) this.#expectChecksum(String(headers[name]), `${name} header`);
  }

  /** The checksum that was sent, which is verified once the content was read. */
  get checksum(): Checksum | undefined {
    return this.#algorithm && this.#checksum !== undefined
      ? { algorithm: this.#algorithm, value: this.#checksum }
      : undefined;
  }

  expectSha256(hex: string): void {
    this.#payloadSha256 = hex;
  }

  readTrailer(name: string, value: string): void {
    if (!this.#isTrailer || !this.#algorithm || name !== headerOfChecksum(this.#algorithm))
      throw new S3Error('MalformedTrailerError', 'The request contained trailing data that was not well-formed.');
    this.#expectChecksum(value, `${name} trailing header`);
  }

  update(chunk: Buffer): void {
    this.#seen += chunk.length;
    this.#digest?.update(chunk);
    if (this.#md5 !== undefined) this.#md5Hash.update(chunk);
    if (this.#payloadSha256 !== undefined) this.#payloadHash.update(chunk);
  }

  failure(): Error | undefined {
    if (this.#seen !== this.#length) {
      return new S3Error(
        'IncompleteBody',
        'You did not provide the number of bytes specified by the Content-Length HTTP header.',
      );
    }
    if (this.#payloadSha256 !== undefined && !sameText(this.#payloadHash.digest('hex'), this.#payloadSha256))
      return new S3Error(
        'XAmzContentSHA256Mismatch',
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    if (this.#md5 !== undefined && this.#md5Hash.digest('base64') !== this.#md5)
      return new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
    if (!this.#digest) return undefined;
    if (this.#checksum === undefined)
      return new S3Error('MalformedTrailerError', 'The request lacks a trailer that it announced.');
    return this.#digest.end() === this.#checksum
      ? undefined
      : new S3Error('BadDigest', `The ${this.#algorithm} you specified did not match the calculated checksum.`);
  }

  #expectChecksum(value: string, source: string): void {
    if (this.#algorithm) assertChecksum({ algorithm: this.#algorithm, value }, source);
    this.#checksum = value;
  }

  /** A client that names an algorithm must send its checksum. */
  #assertAnnounced(name: string | string[] | undefined): void {
    if (typeof name !== 'string') return;
    if (algorithmOf(name, 'x-amz-sdk-checksum-algorithm') !== this.#algorithm)
      throw invalidRequest(
        'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
      );
  }
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

/** Decodes `aws-chunked`: lines of `size;chunk-signature=…`, each followed by its bytes, then trailers. */
class ChunkDecoder extends Transform {
  readonly #verified: Verified;
  readonly #checks: Checks;
  readonly #isSigned: boolean;
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'done' = 'size';
  #line: Buffer = Buffer.alloc(0);
  #left = 0;
  #chunks = 0;
  #chunkBytes = 0;
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
    if (this.#line.length > maxLineBytes) throw incomplete();
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
      if (this.#chunks > 0 && this.#chunkBytes < minChunkBytes) throw tooSmallChunk(this.#chunks, this.#chunkBytes);
      this.#chunks += 1;
      this.#chunkBytes = this.#left;
      this.#state = 'data';
      return;
    }
    this.#verifyChunk();
    this.#state = 'trailer';
  }

  #verifyChunk(): void {
    if (!this.#isSigned) return;
    this.#verifySignature(
      `AWS4-HMAC-SHA256-PAYLOAD\n${this.#verified.timestamp}\n${this.#verified.scope}\n${this.#previousSignature}\n${emptyHash}\n${this.#chunkHash.digest('hex')}`,
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

function tooSmallChunk(number: number, bytes: number): Error {
  return new S3Error(
    'InvalidChunkSizeError',
    `Only the last chunk is allowed to have a size less than ${minChunkBytes} bytes`,
    { Chunk: number, BadChunkSize: bytes },
  );
}

function incomplete(): Error {
  return new S3Error('IncompleteBody', 'The request body terminated unexpectedly');
}
