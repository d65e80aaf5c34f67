import type { IncomingMessage } from 'node:http';
import type { RequiredAction } from '../iam/refusal.ts';
import { S3Error } from './error.ts';
import { actionOf, type S3Operation } from './operations.ts';
import { parseCopySource } from './put-object.ts';

const maxKeyBytes = 1024;

export interface S3Target {
  bucket: string;
  /** Empty for a request to the bucket itself. */
  key: string;
}

/** Splits the path after the prefix into bucket and key. */
export function parseTarget(path: string): S3Target {
  const [, bucket = '', ...rest] = path.split('/');
  let key: string;
  try {
    key = decodeURIComponent(rest.join('/'));
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.', { BucketName: bucket });
  }
  if (key !== '') assertKey(key);
  return { bucket, key };
}

/** Throws for a key that S3, or clients that fetch it by path, do not accept. */
export function assertKey(key: string): void {
  if (Buffer.byteLength(key) > maxKeyBytes) throw new S3Error('KeyTooLongError', 'Your key is too long');
  // Clients resolve such segments before they send the path, so the object could never be requested.
  if (key.includes('\0') || key.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** Returns the permissions of an S3 operation; `deleteKeys` are the keys in a DeleteObjects body. */
export function s3Actions(
  operation: S3Operation,
  { bucket, key }: S3Target,
  query: URLSearchParams,
  headers: IncomingMessage['headers'],
  deleteKeys: string[],
): RequiredAction[] {
  const action = actionOf(operation);
  const resource = `arn:aws:s3:::${bucket}`;
  if (operation === 'DeleteObjects') return deleteKeys.map((each) => ({ action, resource: `${resource}/${each}` }));
  // AWS has no condition on the prefix of incomplete uploads: who may list them sees those of the whole bucket.
  if (operation === 'ListMultipartUploads') return [{ action, resource }];
  if (key === '') return [{ action, resource, conditions: { 's3:prefix': () => [query.get('prefix') ?? ''] } }];
  const needs = [{ action, resource: `${resource}/${key}` }];
  if (operation !== 'CopyObject' && operation !== 'UploadPartCopy') return needs;
  const source = parseCopySource(String(headers['x-amz-copy-source']));
  return [{ action: 's3:GetObject', resource: `arn:aws:s3:::${source.bucket}/${source.key}` }, ...needs];
}
