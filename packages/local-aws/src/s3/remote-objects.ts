import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { canonicalQuery, sign } from '../iam/sign.ts';
import type { LocalBucket } from '../template/model.ts';
import { relay, send } from '../wire/connection.ts';
import { encodeKey } from '../wire/encode.ts';
import { headerOfChecksum } from './checksums.ts';
import { noSuchKey, S3Error } from './error.ts';
import { methodOf, type S3Operation } from './operations.ts';
import type { CreationListener, FormStore, ObjectCreation, S3Request, S3Service } from './request.ts';
import type { StoredObject } from './store.ts';
import { childText, parseXml, xmlDocument } from './xml.ts';

const unsignedPayload = 'UNSIGNED-PAYLOAD';
/** S3 refuses chunks below 8 KiB, and recommends 64 KiB. */
const chunkBytes = 64 * 1024;
const unsignedWithTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
/** Headers for S3, as opposed to the connection or the gate. */
const forwardedHeaders =
  /^(content-(type|encoding|disposition|language|md5|length)|cache-control|expires|range|if-.+|x-amz-(meta-.+|checksum-.+|sdk-checksum-algorithm|copy-source.*|metadata-directive))$/;
const creations: Partial<Record<S3Operation, ObjectCreation>> = {
  PutObject: 'Put',
  CopyObject: 'Copy',
  CompleteMultipartUpload: 'CompleteMultipartUpload',
};

interface Call {
  method: string;
  bucket: string;
  key?: string;
  query?: URLSearchParams;
  headers?: Record<string, string>;
  body?: Buffer | Readable | undefined;
}

/**
 * Uses another S3 instead of the embedded one, and creates the template's buckets there. The address holds its
 * credentials, which are unrelated to those of the roles: the gate has verified these.
 */
export async function reachObjects(
  buckets: LocalBucket[],
  region: string,
  options: { address: string; folder: string },
): Promise<S3Service> {
  const url = new URL(options.address);
  const [accessKeyId, secretAccessKey] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  let notify: CreationListener = () => undefined;

  function request({ method, bucket, key = '', query = new URLSearchParams(), headers = {}, body }: Call) {
    const path = key === '' ? `/${bucket}` : `/${bucket}/${encodeKey(key)}`;
    const unsigned = { host: url.host, 'x-amz-content-sha256': unsignedPayload, ...headers };
    const signed = sign({ accessKeyId, secretAccessKey, region }, { method, path, query, headers: unsigned });
    const text = canonicalQuery(query);
    return send(url.origin, { method, path: text === '' ? path : `${path}?${text}`, headers: signed, body });
  }

  async function describe(bucket: string, key: string): Promise<StoredObject> {
    const response = await request({ method: 'HEAD', bucket, key });
    response.resume();
    const { etag = '', 'content-length': size, 'last-modified': modified } = response.headers;
    if (response.statusCode !== 200) throw new Error(`The object that was just stored is not there: ${key}`);
    return {
      ...{ bucket, key, metadata: {}, checksum: undefined },
      ...{ size: Number(size), etag: etag.replaceAll('"', ''), modified: Date.parse(String(modified)) },
    };
  }

  for (const { name } of buckets) {
    const response = await request({ method: 'PUT', bucket: name });
    const text = (await buffer(response)).toString();
    // A conflict: the bucket already exists.
    if (response.statusCode !== 200 && response.statusCode !== 409) throw new Error(`The bucket ${name}: ${text}`);
  }

  return {
    async handle(incoming, res) {
      const { operation, bucket, key, query } = incoming;
      const response = await request({ method: methodOf(operation), bucket, key, query, ...contentOf(incoming) });
      if (isFailure(response)) return relayError(response, res, incoming);
      const kind = creations[operation];
      // S3 notifies after the write. Here the response waits for it, so that the caller finds the notification.
      if (kind && response.statusCode === 200) await notify(kind, await describe(bucket, key));
      await relay(response, res);
    },
    onCreated(listener) {
      notify = listener;
    },
    forms: spool(join(options.folder, 'forms'), async (bucket, key, content) => {
      const headers = { ...content.metadata, 'content-length': String(content.size) };
      const response = await request({ method: 'PUT', bucket, key, headers, body: content.body });
      if (response.statusCode !== 200) throw new Error(`A form was not stored: ${(await buffer(response)).toString()}`);
      response.resume();
      return describe(bucket, key);
    }),
    close() {},
  };
}

/** Returns the headers and body to forward: decoded, or with the original trailing checksum. */
function contentOf(request: S3Request): Pick<Call, 'headers' | 'body'> {
  const headers = forwarded(request.headers);
  if (request.deletion) return deletionOf(request.deletion);
  const trailer = request.headers['x-amz-trailer'];
  if (typeof trailer !== 'string' || !request.body) return { headers, body: request.body };
  const { 'content-length': length = '0', 'content-encoding': encoding, ...others } = headers;
  return {
    headers: {
      ...others,
      'content-encoding': encoding === undefined ? 'aws-chunked' : `aws-chunked,${encoding}`,
      'x-amz-content-sha256': unsignedWithTrailer,
      'x-amz-decoded-content-length': length,
      'x-amz-trailer': trailer,
    },
    body: Readable.from(inChunks(request.body, request.checksum), { objectMode: false }),
  };
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      forwardedHeaders.test(name) && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

async function* inChunks(body: Readable, checksum: S3Request['checksum']): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  const take = () => {
    const chunk = [Buffer.from(`${size.toString(16)}\r\n`), ...waiting, Buffer.from('\r\n')];
    waiting = [];
    size = 0;
    return Buffer.concat(chunk);
  };
  for await (const piece of body) {
    waiting.push(piece);
    size += piece.length;
    if (size >= chunkBytes) yield take();
  }
  if (size > 0) yield take();
  const sum = checksum();
  const trailer = sum ? `${headerOfChecksum(sum.algorithm)}:${sum.value}\r\n` : '';
  yield Buffer.from(`0\r\n${trailer}\r\n`);
}

function deletionOf({ keys, quiet }: NonNullable<S3Request['deletion']>): Pick<Call, 'headers' | 'body'> {
  const body = Buffer.from(xmlDocument('Delete', { Object: keys.map((key) => ({ Key: key })), Quiet: quiet }));
  return {
    headers: {
      'content-length': String(body.length),
      'content-md5': createHash('md5').update(body).digest('base64'),
    },
    body,
  };
}

function isFailure({ statusCode = 502 }: IncomingMessage): boolean {
  return statusCode >= 400;
}

/** Forwards an error; the gate decides who learns that an object does not exist. */
async function relayError(response: IncomingMessage, res: ServerResponse, { operation, key }: S3Request) {
  const body = await buffer(response);
  const code = childText(parseXml(body.toString()) ?? { name: '', text: '', children: [] }, 'Code');
  if (code === 'NoSuchKey' || (operation === 'HeadObject' && response.statusCode === 404)) throw noSuchKey(key);
  if (operation === 'HeadObject' && response.statusCode === 416)
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable');
  res.writeHead(response.statusCode ?? 502, { 'content-type': 'application/xml', 'content-length': body.length });
  res.end(body);
}

type Store = (
  bucket: string,
  key: string,
  content: { metadata: Record<string, string>; size: number; body: Readable },
) => Promise<StoredObject>;

/** Spools files of forms to disk until they are complete, since S3 requires their length. */
function spool(folder: string, store: Store): FormStore {
  mkdirSync(folder, { recursive: true });
  const path = (file: string) => join(folder, file);
  const discard: FormStore['discard'] = ({ file }) => rmSync(path(file), { force: true });
  return {
    async write(content) {
      const file = randomUUID();
      const target = createWriteStream(path(file), { flags: 'wx' });
      await pipeline(content, target).catch((error) => {
        discard({ file, size: 0, md5: '' });
        throw error;
      });
      return { file, size: target.bytesWritten, md5: '' };
    },
    async commit(bucket, key, blob, { metadata }) {
      const object = await store(bucket, key, { metadata, size: blob.size, body: createReadStream(path(blob.file)) });
      discard(blob);
      return object;
    },
    discard,
  };
}
