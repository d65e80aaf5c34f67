import type { IncomingMessage } from 'node:http';
import { parseCopySource } from '../aws/objects.ts';
import { s3Error } from '../aws/s3-error.ts';
import type { RequiredAction } from './actions.ts';
import { Refusal } from './errors.ts';

const LONGEST_KEY_BYTES = 1024;

export interface S3Target {
  bucket: string;
  /** Empty for a request to the bucket itself. */
  key: string;
}

/** Splits the path behind the prefix into bucket and key. */
export function parseTarget(path: string): S3Target {
  const [, bucket = '', ...rest] = path.split('/');
  let key: string;
  try {
    key = decodeURIComponent(rest.join('/'));
  } catch {
    throw s3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw s3Error('InvalidBucketName', 'The specified bucket is not valid.', { detail: { BucketName: bucket } });
  }
  if (key !== '') assertKey(key);
  return { bucket, key };
}

/** Throws when a key is one that S3, or the clients that would fetch it by path, do not take. */
export function assertKey(key: string): void {
  if (Buffer.byteLength(key) > LONGEST_KEY_BYTES) throw s3Error('KeyTooLongError', 'Your key is too long');
  // Clients resolve such segments before they send the path, so the object could never be asked for again.
  if (key.includes('\0') || key.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw s3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** The query parameters that select another operation than the plain one of the method. */
const SUBRESOURCES = new Set(['uploads', 'uploadId', 'partNumber', 'tagging', 'delete', 'location', 'list-type']);
const PLAIN_PARAMETERS =
  /^(x-id|x-amz-.*|response-.*|prefix|delimiter|max-keys|continuation-token|start-after|marker|encoding-type|fetch-owner)$/i;

/** What would need permissions, or do things, that are not here; to ignore it would be to pretend. */
const UNSUPPORTED_HEADERS = ['x-amz-tagging', 'x-amz-acl', 'x-amz-grant-read', 'x-amz-object-lock-mode'];

/** Names the permissions of an S3 request; `deleteKeys` are those a DeleteObjects body lists. */
export function s3Actions(
  method: string,
  target: S3Target,
  query: URLSearchParams,
  headers: IncomingMessage['headers'],
  deleteKeys: string[],
): RequiredAction[] {
  for (const name of query.keys()) {
    if (!SUBRESOURCES.has(name) && !PLAIN_PARAMETERS.test(name)) throw unsupported(name);
  }
  for (const name of UNSUPPORTED_HEADERS) if (headers[name] !== undefined) throw unsupported(name);
  const bucketArn = `arn:aws:s3:::${target.bucket}`;
  const objectArn = `${bucketArn}/${target.key}`;
  const object = (action: string): RequiredAction[] => [{ action, resource: objectArn }];
  if (target.key === '') {
    if (method === 'POST' && query.has('delete')) {
      return deleteKeys.map((key) => ({ action: 's3:DeleteObject', resource: `${bucketArn}/${key}` }));
    }
    if (method === 'GET' && query.has('location')) return [{ action: 's3:GetBucketLocation', resource: bucketArn }];
    if (method === 'HEAD' || (method === 'GET' && !query.has('uploads'))) {
      const conditions = { 's3:prefix': () => [query.get('prefix') ?? ''] };
      return [{ action: 's3:ListBucket', resource: bucketArn, conditions }];
    }
    throw unsupported(`${method} of a bucket`);
  }
  const source = headers['x-amz-copy-source'];
  const reads: RequiredAction[] = [];
  if (method === 'PUT' && typeof source === 'string') {
    const { bucket, key } = parseCopySource(source);
    reads.push({ action: 's3:GetObject', resource: `arn:aws:s3:::${bucket}/${key}` });
  }
  const operation = [method, ...['uploads', 'uploadId', 'tagging'].filter((name) => query.has(name))].join(' ');
  switch (operation) {
    case 'GET':
    case 'HEAD':
      return object('s3:GetObject');
    case 'PUT':
    case 'PUT uploadId':
      return [...reads, ...object('s3:PutObject')];
    case 'POST uploads':
    case 'POST uploadId':
      return object('s3:PutObject');
    case 'DELETE':
      return object('s3:DeleteObject');
    case 'DELETE uploadId':
      return object('s3:AbortMultipartUpload');
    case 'GET uploadId':
      return object('s3:ListMultipartUploadParts');
    case 'GET tagging':
      return object('s3:GetObjectTagging');
    case 'PUT tagging':
      return object('s3:PutObjectTagging');
    case 'DELETE tagging':
      return object('s3:DeleteObjectTagging');
    default:
      throw unsupported(operation);
  }
}

function unsupported(what: string): Refusal {
  return new Refusal(
    'unsupported',
    `A parameter you provided implies functionality that is not implemented: ${what.slice(0, 100)}`,
  );
}
