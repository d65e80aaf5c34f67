import type { IncomingHttpHeaders } from 'node:http';
import { notImplemented } from './error.ts';

/** An operation of S3, with the permission it needs on its object or bucket. */
interface Operation {
  action: string;
  /** The query parameters it takes besides those that select it. */
  parameters?: readonly string[];
  /** The headers of conditional requests it honours. */
  conditions?: readonly string[];
}

export const RESPONSE_OVERRIDES = [
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
];
const LISTING = ['prefix', 'delimiter', 'max-keys', 'encoding-type'];
const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'];

const OPERATIONS = {
  HeadBucket: { action: 's3:ListBucket' },
  GetBucketLocation: { action: 's3:GetBucketLocation' },
  ListObjects: { action: 's3:ListBucket', parameters: [...LISTING, 'marker'] },
  ListObjectsV2: { action: 's3:ListBucket', parameters: [...LISTING, 'continuation-token', 'start-after'] },
  DeleteObjects: { action: 's3:DeleteObject' },
  GetObject: { action: 's3:GetObject', parameters: RESPONSE_OVERRIDES, conditions: CONDITIONS },
  HeadObject: { action: 's3:GetObject', parameters: RESPONSE_OVERRIDES, conditions: CONDITIONS },
  PutObject: { action: 's3:PutObject', conditions: ['if-none-match'] },
  CopyObject: { action: 's3:PutObject' },
  DeleteObject: { action: 's3:DeleteObject' },
  CreateMultipartUpload: { action: 's3:PutObject' },
  UploadPart: { action: 's3:PutObject' },
  CompleteMultipartUpload: { action: 's3:PutObject', conditions: ['if-none-match'] },
  AbortMultipartUpload: { action: 's3:AbortMultipartUpload' },
  ListParts: { action: 's3:ListMultipartUploadParts', parameters: ['max-parts', 'part-number-marker'] },
  GetObjectTagging: { action: 's3:GetObjectTagging' },
  PutObjectTagging: { action: 's3:PutObjectTagging' },
  DeleteObjectTagging: { action: 's3:DeleteObjectTagging' },
} satisfies Record<string, Operation>;

export type S3Operation = keyof typeof OPERATIONS;

/** The query parameters that select an operation other than the plain one of the method. */
const SELECTORS = ['delete', 'list-type', 'location', 'partNumber', 'tagging', 'uploadId', 'uploads'];

const SELECTED: Record<string, S3Operation> = {
  'HEAD bucket': 'HeadBucket',
  'GET bucket location': 'GetBucketLocation',
  'GET bucket': 'ListObjects',
  'GET bucket list-type': 'ListObjectsV2',
  'POST bucket delete': 'DeleteObjects',
  'GET object': 'GetObject',
  'HEAD object': 'HeadObject',
  'PUT object': 'PutObject',
  'PUT object copy': 'CopyObject',
  'DELETE object': 'DeleteObject',
  'POST object uploads': 'CreateMultipartUpload',
  'PUT object partNumber uploadId': 'UploadPart',
  'POST object uploadId': 'CompleteMultipartUpload',
  'DELETE object uploadId': 'AbortMultipartUpload',
  'GET object uploadId': 'ListParts',
  'GET object tagging': 'GetObjectTagging',
  'PUT object tagging': 'PutObjectTagging',
  'DELETE object tagging': 'DeleteObjectTagging',
};

/** What requests may carry beside conditions; to ignore any other header of S3 would be to pretend. */
const KNOWN_HEADERS =
  /^x-amz-(date|content-sha256|security-token|user-agent|trailer|decoded-content-length|sdk-checksum-algorithm|checksum-.+|meta-.+|copy-source|copy-source-if-.+|metadata-directive)$/;

/** Returns the operation that a request asks for; throws NotImplemented for any that is not here in all its parts. */
export function operationOf(
  method: string,
  key: string,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): S3Operation {
  const selectors = SELECTORS.filter((name) => query.has(name));
  const copy = headers['x-amz-copy-source'] === undefined ? [] : ['copy'];
  const selection = [method, key === '' ? 'bucket' : 'object', ...selectors, ...copy].join(' ');
  const name = SELECTED[selection];
  if (!name) throw notImplemented(selection);
  const { parameters = [], conditions = [] }: Operation = OPERATIONS[name];
  const parameter = [...query.keys()].find((each) => !SELECTORS.includes(each) && !parameters.includes(each));
  if (parameter !== undefined) throw notImplemented(parameter);
  const header = Object.keys(headers).find((each) =>
    each.startsWith('x-amz-') ? !KNOWN_HEADERS.test(each) : CONDITIONS.includes(each) && !conditions.includes(each),
  );
  if (header !== undefined) throw notImplemented(header);
  return name;
}

/** Returns the permission that an operation needs on its object or bucket. */
export function actionOf(operation: S3Operation): string {
  return OPERATIONS[operation].action;
}
