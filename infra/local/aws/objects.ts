import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import S3rver from '@20minutes/s3rver';
import S3Object from '@20minutes/s3rver/lib/models/object.js';
import { assertCopyable, hasCopyConditions } from './copy-object.ts';
import { ForwardedRequest } from './forwarded-request.ts';
import type { Metadata, ObjectStore, StoredObject } from './object-store.ts';
import { S3Error, s3Error } from './s3-error.ts';
import { decodeXml, element, elements, xmlDocument } from './xml.ts';

/** A request to S3 with its body as it is to be stored; `query` holds no signature. */
export interface S3Request {
  method: string;
  bucket: string;
  key: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  original: IncomingMessage;
  body: Readable | Buffer | undefined;
}

export type ObjectCreation = 'Put' | 'Post' | 'Copy' | 'CompleteMultipartUpload';
export type CreationListener = (kind: ObjectCreation, object: StoredObject) => void;

export interface Objects {
  handle(request: S3Request, res: ServerResponse): Promise<void>;
  /** Sets who hears of a new object before the answer to its writer goes out. */
  onCreated(listener: CreationListener): void;
  close(): void;
}

/** Starts the embedded S3 over the store: s3rver for what it does as S3 does, and routes of our own for the rest. */
export function startObjects(store: ObjectStore, directory: string, onError: (error: unknown) => void): Objects {
  let announce: CreationListener = () => undefined;
  const app = new S3rver({ directory, silent: true, vhostBuckets: false, allowMismatchedSignatures: true });
  app.on('error', (error: unknown) => {
    if (!(error instanceof S3Error) || error.status >= 500) onError(error);
  });
  app.store = app.context.store = storeForS3rver(store, (kind, object) => announce(kind, object));
  const s3rver = app.callback();

  return {
    async handle(request, res) {
      if (!store.hasBucket(request.bucket)) {
        throw s3Error('NoSuchBucket', 'The specified bucket does not exist', {
          detail: { BucketName: request.bucket },
        });
      }
      if (answerHere(request, res, store)) return;
      if (isCopy(request)) {
        await copyObject(request, res, store, (kind, object) => announce(kind, object));
        return;
      }
      await s3rver(toS3rver(request, store), res);
    },
    onCreated(listener) {
      announce = listener;
    },
    close() {
      app.logger.close();
      store.close();
    },
  };
}

/** Parses the keys of a DeleteObjects body. */
export function parseDeleteKeys(xml: string): string[] {
  const keys = elements(xml, 'Object').map((object) => element(object, 'Key'));
  if (keys.length === 0 || keys.length > 1000 || keys.some((key) => key === undefined || key === '')) {
    throw s3Error('MalformedXML', 'The XML you provided was not well-formed or did not validate.');
  }
  return keys.map((key) => decodeXml(key ?? ''));
}

/** Reads the bucket and key out of an `x-amz-copy-source` header. */
export function parseCopySource(header: string): { bucket: string; key: string } {
  let source: string;
  try {
    source = decodeURIComponent(header).replace(/^\//, '');
  } catch {
    throw s3Error('InvalidArgument', 'Invalid copy source encoding.');
  }
  const slash = source.indexOf('/');
  if (slash < 1 || slash === source.length - 1) {
    throw s3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey');
  }
  return { bucket: source.slice(0, slash), key: source.slice(slash + 1) };
}

/** Answers what s3rver does not know or gets wrong; says whether it did. */
function answerHere(request: S3Request, res: ServerResponse, store: ObjectStore): boolean {
  const { method, bucket, key, query } = request;
  if (key === '') {
    if (method === 'HEAD') answer(res, 200);
    else if (method === 'GET' && query.has('location')) answerXml(res, xmlDocument('LocationConstraint', []));
    else if (method === 'GET') listObjects(request, res, store);
    else if (method === 'POST' && query.has('delete')) deleteObjects(request, res, store);
    else throw s3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
    return true;
  }
  const uploadId = query.get('uploadId');
  if (uploadId !== null && method === 'DELETE') {
    store.abortUpload(bucket, key, uploadId);
    answer(res, 204);
    return true;
  }
  if (uploadId !== null && method === 'GET') {
    listParts(request, uploadId, res, store);
    return true;
  }
  if (query.has('tagging') && method === 'DELETE') {
    store.setTags(bucket, key, undefined);
    answer(res, 204);
    return true;
  }
  if (method === 'DELETE') {
    store.delete(bucket, key);
    answer(res, 204);
    return true;
  }
  // Without this, whoever may write one key could write another through an upload of it.
  if (uploadId !== null) store.assertUpload(bucket, key, uploadId);
  return (method === 'GET' || method === 'HEAD') && answerUnchanged(request, res, store.find(bucket, key));
}

function isCopy({ method, headers, query }: S3Request): boolean {
  if (method !== 'PUT' || headers['x-amz-copy-source'] === undefined) return false;
  if (!query.has('uploadId')) return !query.has('tagging');
  if (hasCopyConditions(headers)) throw s3Error('NotImplemented', 'Parts are not copied under conditions here.');
  return false;
}

/** Copies an object; s3rver would pass over the conditions. They hold for the very bytes that are copied. */
async function copyObject(
  request: S3Request,
  res: ServerResponse,
  store: ObjectStore,
  created: CreationListener,
): Promise<void> {
  const { bucket, key, headers } = request;
  const from = parseCopySource(String(headers['x-amz-copy-source']));
  if (!store.hasBucket(from.bucket)) throw s3Error('NoSuchBucket', 'The specified bucket does not exist');
  const directive = headers['x-amz-metadata-directive'] ?? 'COPY';
  if (directive !== 'COPY' && directive !== 'REPLACE') throw s3Error('InvalidArgument', 'Unknown metadata directive.');
  if (from.bucket === bucket && from.key === key && directive === 'COPY') {
    throw s3Error(
      'InvalidRequest',
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    );
  }
  const metadata = directive === 'REPLACE' ? ownMetadata(headers) : undefined;
  const copied = await store.copy(from, { bucket, key }, metadata, (source) => assertCopyable(source, headers));
  created('Copy', copied);
  answerXml(
    res,
    xmlDocument('CopyObjectResult', [
      ['LastModified', new Date(copied.modified).toISOString()],
      ['ETag', `"${copied.etag}"`],
    ]),
  );
}

function toS3rver(request: S3Request, store: ObjectStore): IncomingMessage {
  const { method, bucket, key, original } = request;
  const headers = { ...request.headers };
  // s3rver lets only a signed request override response headers. The gate has verified the real signature, so this
  // one, of the account s3rver has built in, says no more than that.
  headers.authorization = 'AWS4-HMAC-SHA256 Credential=S3RVER/1/1/s3/aws4_request, SignedHeaders=host, Signature=1';
  headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
  headers['x-amz-date'] ??= '19700101T000000Z';
  const copySource = headers['x-amz-copy-source'];
  if (typeof copySource === 'string') {
    const source = parseCopySource(copySource);
    if (!store.hasBucket(source.bucket)) throw s3Error('NoSuchBucket', 'The specified bucket does not exist');
    // s3rver decodes with decodeURI, which leaves an encoded `+` or `?` as it is.
    headers['x-amz-copy-source'] = encodeURI(`${source.bucket}/${source.key}`);
  }
  for (const [name, value] of request.query) {
    if (name.startsWith('response-') && /[^\x20-\xff]/.test(value)) {
      throw s3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.');
    }
  }
  if (method === 'GET' || method === 'HEAD') readConditions(headers, store.find(bucket, key));
  if (method === 'PUT' && headers['if-none-match'] === '*' && store.find(bucket, key)) {
    throw s3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
  }
  const path = `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
  const search = request.query.toString();
  const url = search === '' ? path : `${path}?${search}`;
  return new ForwardedRequest({ method, socket: original.socket }, url, headers, request.body);
}

/** Answers 304 to one who has the object; s3rver would leave the file open. */
function answerUnchanged(request: S3Request, res: ServerResponse, object: StoredObject | undefined): boolean {
  const noneMatch = request.headers['if-none-match'];
  const since = request.headers['if-modified-since'];
  if (!object || (noneMatch === undefined && since === undefined)) return false;
  const unchanged =
    noneMatch !== undefined
      ? noneMatch === '*' || noneMatch.replaceAll('"', '') === object.etag
      : Date.parse(since ?? '') >= Math.floor(object.modified / 1000) * 1000;
  delete request.headers['if-none-match'];
  delete request.headers['if-modified-since'];
  if (!unchanged) return false;
  res.setHeader('etag', `"${object.etag}"`);
  res.statusCode = 304;
  res.end();
  return true;
}

/** Puts the Range header into the one form s3rver understands, and answers the conditions it does not. */
function readConditions(headers: IncomingMessage['headers'], object: StoredObject | undefined): void {
  if (!object) return;
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch.replaceAll('"', '') !== object.etag) {
    throw s3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
  }
  const range = headers.range;
  if (range === undefined) return;
  const match = /^bytes=(\d*)-(\d*)$/.exec(range);
  // As S3 does, answer the whole object to what is not one range of bytes.
  if (!match || (match[1] === '' && match[2] === '')) {
    delete headers.range;
    return;
  }
  const [, first = '', last = ''] = match;
  const start = first === '' ? Math.max(0, object.size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? object.size - 1 : Math.min(Number(last), object.size - 1);
  if (last !== '' && first !== '' && Number(last) < start) {
    delete headers.range;
    return;
  }
  if (start >= object.size || (first === '' && Number(last) === 0)) {
    throw s3Error('InvalidRange', 'The requested range is not satisfiable', {
      detail: { RangeRequested: range, ActualObjectSize: object.size },
    });
  }
  headers.range = `bytes=${start}-${end}`;
}

function listObjects(request: S3Request, res: ServerResponse, store: ObjectStore): void {
  const { query, bucket } = request;
  for (const name of query.keys()) {
    if (!LIST_PARAMETERS.has(name)) {
      throw s3Error(
        'NotImplemented',
        `A parameter you provided implies functionality that is not implemented: ${name}`,
      );
    }
  }
  const isV2 = query.get('list-type') === '2';
  const maxKeys = query.get('max-keys') ?? '1000';
  if (!/^\d{1,10}$/.test(maxKeys)) throw s3Error('InvalidArgument', 'Provided max-keys not an integer');
  const limit = Math.min(1000, Number(maxKeys));
  const token = query.get('continuation-token');
  const after = token !== null ? readToken(token) : (query.get(isV2 ? 'start-after' : 'marker') ?? '');
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const listing =
    limit === 0
      ? { objects: [], commonPrefixes: [], next: undefined }
      : store.list(bucket, { prefix, delimiter, limit, after });
  const encode = query.get('encoding-type') === 'url' ? encodeKey : (key: string) => key;
  const truncated = listing.next !== undefined;
  answerXml(
    res,
    xmlDocument('ListBucketResult', [
      ['Name', bucket],
      ['Prefix', encode(prefix)],
      ...(delimiter === '' ? [] : [['Delimiter', encode(delimiter)] as const]),
      ...(query.has('encoding-type') ? [['EncodingType', 'url'] as const] : []),
      ['MaxKeys', limit],
      ['IsTruncated', String(truncated)],
      ...(isV2
        ? ([
            ['KeyCount', listing.objects.length + listing.commonPrefixes.length],
            ...(token === null ? [] : [['ContinuationToken', token] as const]),
            ...(listing.next === undefined ? [] : [['NextContinuationToken', writeToken(listing.next)] as const]),
          ] as const)
        : ([
            ['Marker', encode(after)],
            ...(listing.next === undefined ? [] : [['NextMarker', encode(listing.next)] as const]),
          ] as const)),
      ...listing.objects.map(
        (object) =>
          [
            'Contents',
            [
              ['Key', encode(object.key)],
              ['LastModified', new Date(object.modified).toISOString()],
              ['ETag', `"${object.etag}"`],
              ['Size', object.size],
              ['StorageClass', 'STANDARD'],
            ],
          ] as const,
      ),
      ...listing.commonPrefixes.map((common) => ['CommonPrefixes', [['Prefix', encode(common)]]] as const),
    ]),
  );
}

const LIST_PARAMETERS = new Set([
  'list-type',
  'max-keys',
  'continuation-token',
  'start-after',
  'marker',
  'prefix',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'x-id',
]);

function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/');
}

function writeToken(key: string): string {
  return Buffer.from(key).toString('base64url');
}

function readToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}

function deleteObjects(request: S3Request, res: ServerResponse, store: ObjectStore): void {
  if (!Buffer.isBuffer(request.body)) throw s3Error('MissingRequestBodyError', 'Request body is empty.');
  const xml = request.body.toString();
  const keys = parseDeleteKeys(xml);
  for (const key of keys) store.delete(request.bucket, key);
  const quiet = element(xml, 'Quiet') === 'true';
  answerXml(res, xmlDocument('DeleteResult', quiet ? [] : keys.map((key) => ['Deleted', [['Key', key]]] as const)));
}

function listParts(request: S3Request, uploadId: string, res: ServerResponse, store: ObjectStore): void {
  const parts = store.listParts(request.bucket, request.key, uploadId);
  answerXml(
    res,
    xmlDocument('ListPartsResult', [
      ['Bucket', request.bucket],
      ['Key', request.key],
      ['UploadId', uploadId],
      ['IsTruncated', 'false'],
      ...parts.map(
        (part) =>
          [
            'Part',
            [
              ['PartNumber', part.number],
              ['ETag', `"${part.md5}"`],
              ['Size', part.size],
            ],
          ] as const,
      ),
    ]),
  );
}

function answer(res: ServerResponse, status: number): void {
  res.statusCode = status;
  if (status !== 204) res.setHeader('content-length', 0);
  res.end();
}

function answerXml(res: ServerResponse, body: string): void {
  res.statusCode = 200;
  res.setHeader('content-type', 'application/xml');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}

interface IncomingObject {
  bucket: string;
  key: string;
  content: Readable;
  metadata: Metadata;
}

function ownMetadata(metadata: Record<string, unknown>): Metadata {
  const kept: Metadata = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value === 'string' && (KEPT_HEADERS.has(name) || name.startsWith('x-amz-meta-'))) kept[name] = value;
  }
  return kept;
}

/** Gives the store the methods that the controllers of s3rver call. */
function storeForS3rver(store: ObjectStore, created: CreationListener) {
  const stored = (object: StoredObject) => ({
    ...object.metadata,
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.modified).toUTCString(),
    'content-length': object.size,
  });
  return {
    getBucket: async (name: string) => (store.hasBucket(name) ? { name, creationDate: new Date(0) } : null),
    existsObject: async (bucket: string, key: string) => store.find(bucket, key) !== undefined,

    async getObject(bucket: string, key: string, options?: { start?: number; end?: number }) {
      const object = store.find(bucket, key);
      if (!object) return null;
      const content = store.open(bucket, key, options?.start, options?.end) ?? null;
      const result = new S3Object(bucket, key, content, stored(object));
      if (options?.start !== undefined) {
        result.range = { start: options.start, end: Math.min(options.end ?? object.size - 1, object.size - 1) };
      }
      return result;
    },

    async putObject(object: IncomingObject) {
      const blob = await store.write(object.content);
      const result = store.commit(object.bucket, object.key, ownMetadata(object.metadata), blob);
      created('Put', result);
      return { size: result.size, md5: result.etag };
    },

    async deleteObject(bucket: string, key: string) {
      store.delete(bucket, key);
    },

    async initiateUpload(bucket: string, key: string, uploadId: string, headers: Record<string, unknown>) {
      store.startUpload(uploadId, bucket, key, ownMetadata(headers));
    },

    async putPart(bucket: string, uploadId: string, partNumber: string, content: Readable) {
      const number = Number(partNumber);
      if (!Number.isInteger(number) || number < 1 || number > 10_000) {
        throw s3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
      }
      return store.putPart(bucket, uploadId, number, content);
    },

    async putObjectMultipart(bucket: string, uploadId: string, parts: { number: number; etag: string }[]) {
      const result = store.completeUpload(bucket, uploadId, parts);
      created('CompleteMultipartUpload', result);
      return { size: result.size, md5: result.etag };
    },

    async getSubresource(bucket: string, key: string | undefined, type: string) {
      const xml = type === 'tagging' && key !== undefined ? store.tags(bucket, key) : undefined;
      return xml === undefined ? null : { toXML: () => xml };
    },

    async putSubresource(bucket: string, key: string, resource: { toXML(): string }) {
      store.setTags(bucket, key, resource.toXML());
    },
  };
}

const KEPT_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
]);
