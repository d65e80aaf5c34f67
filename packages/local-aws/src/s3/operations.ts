import type { IncomingHttpHeaders } from 'node:http';
import { notImplemented } from './error.ts';
import { SYSTEM_METADATA } from './metadata.ts';

interface Operation {
  /** The method, the target and the query parameters that select it. */
  request: string;
  /** The permission it needs on its object or bucket. */
  action: string;
  /** The query parameters it takes besides those that select it. */
  parameters?: readonly string[];
  /** The headers of conditional requests it honours. */
  conditions?: readonly string[];
}

const OVERRIDES = SYSTEM_METADATA.map((name) => `response-${name}`);
const LISTING = ['prefix', 'delimiter', 'max-keys', 'encoding-type'];
const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'];

const OPERATIONS = {
  HeadBucket: { request: 'HEAD bucket', action: 's3:ListBucket' },
  GetBucketLocation: { request: 'GET bucket location', action: 's3:GetBucketLocation' },
  ListObjects: { request: 'GET bucket', action: 's3:ListBucket', parameters: [...LISTING, 'marker'] },
  ListObjectsV2: {
    request: 'GET bucket list-type',
    action: 's3:ListBucket',
    parameters: [...LISTING, 'continuation-token', 'start-after'],
  },
  DeleteObjects: { request: 'POST bucket delete', action: 's3:DeleteObject' },
  GetObject: { request: 'GET object', action: 's3:GetObject', parameters: OVERRIDES, conditions: CONDITIONS },
  HeadObject: {
    request: 'HEAD object',
    action: 's3:GetObject',
    parameters: OVERRIDES,
    conditions: CONDITIONS,
  },
  PutObject: { request: 'PUT object', action: 's3:PutObject', conditions: ['if-none-match'] },
  CopyObject: { request: 'PUT object copy', action: 's3:PutObject' },
  DeleteObject: { request: 'DELETE object', action: 's3:DeleteObject' },
  CreateMultipartUpload: { request: 'POST object uploads', action: 's3:PutObject' },
  UploadPart: { request: 'PUT object partNumber uploadId', action: 's3:PutObject' },
  CompleteMultipartUpload: { request: 'POST object uploadId', action: 's3:PutObject', conditions: ['if-none-match'] },
  AbortMultipartUpload: { request: 'DELETE object uploadId', action: 's3:AbortMultipartUpload' },
  ListParts: {
    request: 'GET object uploadId',
    action: 's3:ListMultipartUploadParts',
    parameters: ['max-parts', 'part-number-marker'],
  },
  GetObjectTagging: { request: 'GET object tagging', action: 's3:GetObjectTagging' },
  PutObjectTagging: { request: 'PUT object tagging', action: 's3:PutObjectTagging' },
} satisfies Record<string, Operation>;

export type S3Operation = keyof typeof OPERATIONS;

/** The query parameters that select an operation other than the plain one of the method. */
const SELECTORS = ['delete', 'list-type', 'location', 'partNumber', 'tagging', 'uploadId', 'uploads'];

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
  const name = Object.keys(OPERATIONS)
    .filter(isOperation)
    .find((each) => OPERATIONS[each].request === selection);
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

function isOperation(name: string): name is S3Operation {
  return name in OPERATIONS;
}

/** Returns the method of an operation's requests. */
export function methodOf(operation: S3Operation): string {
  return OPERATIONS[operation].request.split(' ', 1)[0] ?? '';
}

/** Returns the permission that an operation needs on its object or bucket. */
export function actionOf(operation: S3Operation): string {
  return OPERATIONS[operation].action;
}
