import type { IncomingHttpHeaders } from 'node:http';
import { notImplemented } from './error.ts';
import { systemMetadata } from './metadata.ts';

interface Operation {
  /** The method, the target and the query parameters that select it. */
  request: string;
  /** The permission it needs on its object or bucket. */
  action: string;
  /** Its query parameters, other than selecting ones. */
  parameters?: readonly string[];
  /** The conditional headers it supports. */
  conditions?: readonly string[];
}

const overrides = systemMetadata.map((name) => `response-${name}`);
const listing = ['prefix', 'delimiter', 'max-keys', 'encoding-type'];
const conditionHeaders = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'];

const operations = {
  HeadBucket: { request: 'HEAD bucket', action: 's3:ListBucket' },
  GetBucketLocation: { request: 'GET bucket location', action: 's3:GetBucketLocation' },
  ListObjects: { request: 'GET bucket', action: 's3:ListBucket', parameters: [...listing, 'marker'] },
  ListObjectsV2: {
    request: 'GET bucket list-type',
    action: 's3:ListBucket',
    parameters: [...listing, 'continuation-token', 'start-after'],
  },
  DeleteObjects: { request: 'POST bucket delete', action: 's3:DeleteObject' },
  GetObject: { request: 'GET object', action: 's3:GetObject', parameters: overrides, conditions: conditionHeaders },
  HeadObject: {
    request: 'HEAD object',
    action: 's3:GetObject',
    parameters: overrides,
    conditions: conditionHeaders,
  },
  PutObject: { request: 'PUT object', action: 's3:PutObject', conditions: ['if-none-match'] },
  CopyObject: { request: 'PUT object copy', action: 's3:PutObject' },
  DeleteObject: { request: 'DELETE object', action: 's3:DeleteObject' },
  CreateMultipartUpload: { request: 'POST object uploads', action: 's3:PutObject' },
  UploadPart: { request: 'PUT object partNumber uploadId', action: 's3:PutObject' },
  UploadPartCopy: { request: 'PUT object partNumber uploadId copy', action: 's3:PutObject' },
  CompleteMultipartUpload: { request: 'POST object uploadId', action: 's3:PutObject', conditions: ['if-none-match'] },
  AbortMultipartUpload: { request: 'DELETE object uploadId', action: 's3:AbortMultipartUpload' },
  ListParts: {
    request: 'GET object uploadId',
    action: 's3:ListMultipartUploadParts',
    parameters: ['max-parts', 'part-number-marker'],
  },
  ListMultipartUploads: {
    request: 'GET bucket uploads',
    action: 's3:ListBucketMultipartUploads',
    parameters: ['prefix', 'key-marker', 'upload-id-marker', 'max-uploads'],
  },
  GetObjectTagging: { request: 'GET object tagging', action: 's3:GetObjectTagging' },
  PutObjectTagging: { request: 'PUT object tagging', action: 's3:PutObjectTagging' },
} satisfies Record<string, Operation>;

export type S3Operation = keyof typeof operations;

/** Query parameters that select an operation other than the method's default. */
const selectorNames = ['delete', 'list-type', 'location', 'partNumber', 'tagging', 'uploadId', 'uploads'];

/** Allowed headers, in addition to conditions. Others of S3 are refused rather than ignored. */
const knownHeaders =
  /^x-amz-(date|content-sha256|security-token|user-agent|trailer|decoded-content-length|sdk-checksum-algorithm|checksum-.+|meta-.+|copy-source|copy-source-range|copy-source-if-.+|metadata-directive)$/;

/** Returns the operation of a request; throws NotImplemented unless it is fully supported. */
export function operationOf(
  method: string,
  key: string,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): S3Operation {
  const selectors = selectorNames.filter((name) => query.has(name));
  const copy = headers['x-amz-copy-source'] === undefined ? [] : ['copy'];
  const selection = [method, key === '' ? 'bucket' : 'object', ...selectors, ...copy].join(' ');
  const name = Object.keys(operations)
    .filter(isOperation)
    .find((each) => operations[each].request === selection);
  if (!name) throw notImplemented(selection);
  const { parameters = [], conditions = [] }: Operation = operations[name];
  const parameter = [...query.keys()].find((each) => !selectorNames.includes(each) && !parameters.includes(each));
  if (parameter !== undefined) throw notImplemented(parameter);
  const header = Object.keys(headers).find((each) =>
    each.startsWith('x-amz-')
      ? !knownHeaders.test(each)
      : conditionHeaders.includes(each) && !conditions.includes(each),
  );
  if (header !== undefined) throw notImplemented(header);
  return name;
}

function isOperation(name: string): name is S3Operation {
  return name in operations;
}

/** Returns the HTTP method of an operation. */
export function methodOf(operation: S3Operation): string {
  return operations[operation].request.split(' ', 1)[0] ?? '';
}

/** Returns the permission that an operation needs on its object or bucket. */
export function actionOf(operation: S3Operation): string {
  return operations[operation].action;
}
