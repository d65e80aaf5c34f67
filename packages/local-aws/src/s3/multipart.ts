import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import {
  algorithmOf,
  algorithmOfHeader,
  assertChecksum,
  type Checksum,
  elementOfChecksum,
  headerOfChecksum,
  invalidRequest,
  type ObjectChecksum,
  readUploadChecksum,
  type UploadChecksum,
} from './checksums.ts';
import { assertWritable, isUnmodified, preconditionFailed } from './conditions.ts';
import { noSuchKey, S3Error } from './error.ts';
import { metadataOf } from './metadata.ts';
import { assertBucket, assertCopySize, bodyOf, describeChecksum, parseCopySource } from './put-object.ts';
import { type Handler, integerParameter, malformedXml, readXml, respondEmpty, respondXml } from './request.ts';
import type { NamedPart } from './store.ts';
import { childrenOf, childText, type XmlNode } from './xml.ts';

const maxParts = 10_000;
const maxListed = 1000;
const minRangeSource = 5 * 1024 ** 2;

export const createMultipartUpload: Handler = ({ bucket, key, headers }, res, { store }) => {
  const checksum = readUploadChecksum(headers);
  const uploadId = store.startUpload(bucket, key, { metadata: metadataOf(Object.entries(headers)), checksum });
  if (checksum) {
    res.setHeader('x-amz-checksum-algorithm', checksum.algorithm);
    res.setHeader('x-amz-checksum-type', checksum.type);
  }
  respondXml(res, 'InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId: uploadId });
};

export const uploadPart: Handler = async (request, res, { store }) => {
  const { bucket, key, query } = request;
  const { md5 } = await store.putPart(bucket, key, uploadIdOf(query), {
    number: partNumberOf(query),
    content: bodyOf(request),
    checksum: request.checksum,
  });
  const checksum = request.checksum();
  if (checksum) res.setHeader(headerOfChecksum(checksum.algorithm), checksum.value);
  res.setHeader('etag', `"${md5}"`);
  respondEmpty(res);
};

/** Handles UploadPartCopy. Conditions apply to the exact bytes that are copied. */
export const uploadPartCopy: Handler = async ({ bucket, key, query, headers }, res, { store }) => {
  const from = parseCopySource(String(headers['x-amz-copy-source']));
  assertBucket(store, from.bucket);
  const source = store.find(from.bucket, from.key);
  if (!source) throw noSuchKey(from.key);
  if (isUnmodified(source, headers, 'x-amz-copy-source-')) throw preconditionFailed();
  const { start, end } = copyRange(headers['x-amz-copy-source-range'], source.size);
  assertCopySize(end + 1 - start);
  const number = partNumberOf(query);
  // In the same turn as the check of the conditions.
  const content = store.open(from.bucket, from.key, start, end) ?? Readable.from([]);
  try {
    const part = { number, content, checksum: () => undefined };
    const { md5 } = await store.putPart(bucket, key, uploadIdOf(query), part);
    respondXml(res, 'CopyPartResult', { LastModified: new Date().toISOString(), ETag: `"${md5}"` });
  } finally {
    content.destroy();
  }
};

export const completeMultipartUpload: Handler = async (request, res, { store, created }) => {
  const { bucket, key, query, headers, body, location } = request;
  const parts = childrenOf(await readXml(body, 'CompleteMultipartUpload'), 'Part').map(readPart);
  if (parts.length === 0 || parts.length > maxParts) throw malformedXml();
  assertWritable(headers, store.find(bucket, key));
  const object = store.completeUpload(bucket, key, uploadIdOf(query), parts, (upload, checksum) =>
    assertObjectChecksum(headers, upload, checksum),
  );
  await created('CompleteMultipartUpload', object);
  const ETag = `"${object.etag}"`;
  respondXml(res, 'CompleteMultipartUploadResult', {
    Location: location,
    Bucket: bucket,
    Key: key,
    ETag,
    ...describeChecksum(object.checksum),
  });
};

export const abortMultipartUpload: Handler = ({ bucket, key, query }, res, { store }) => {
  store.abortUpload(bucket, key, uploadIdOf(query));
  respondEmpty(res, 204);
};

export const listParts: Handler = ({ bucket, key, query }, res, { store }) => {
  const uploadId = uploadIdOf(query);
  const marker = integerParameter(query, 'part-number-marker', 0);
  const limit = Math.min(maxListed, integerParameter(query, 'max-parts', maxListed));
  const { parts: all, checksum } = store.listParts(bucket, key, uploadId);
  const parts = all.filter((part) => part.number > marker);
  const page = parts.slice(0, limit);
  respondXml(res, 'ListPartsResult', {
    Bucket: bucket,
    Key: key,
    UploadId: uploadId,
    PartNumberMarker: marker,
    NextPartNumberMarker: page.at(-1)?.number ?? 0,
    MaxParts: limit,
    IsTruncated: page.length < parts.length,
    ChecksumAlgorithm: checksum?.algorithm,
    ChecksumType: checksum?.type,
    Part: page.map((part) => ({
      PartNumber: part.number,
      ETag: `"${part.md5}"`,
      Size: part.size,
      ...(checksum && { [elementOfChecksum(checksum.algorithm)]: part.checksum }),
    })),
  });
};

export const listMultipartUploads: Handler = ({ bucket, query }, res, { store }) => {
  const [prefix, after] = [query.get('prefix') ?? '', query.get('key-marker') ?? ''];
  // Without a key, S3 ignores this marker.
  const afterId = after === '' ? '' : (query.get('upload-id-marker') ?? '');
  const limit = Math.min(maxListed, integerParameter(query, 'max-uploads', maxListed));
  if (limit === 0) throw new S3Error('InvalidArgument', 'Argument max-uploads must be an integer between 1 and 1000');
  const uploads = store.listUploads(bucket, { prefix, after, afterId, limit: limit + 1 });
  const page = uploads.slice(0, limit);
  const isTruncated = page.length < uploads.length;
  const last = isTruncated ? page.at(-1) : undefined;
  respondXml(res, 'ListMultipartUploadsResult', {
    Bucket: bucket,
    KeyMarker: after,
    UploadIdMarker: afterId,
    Prefix: prefix,
    NextKeyMarker: last?.key,
    NextUploadIdMarker: last?.id,
    MaxUploads: limit,
    IsTruncated: isTruncated,
    Upload: page.map(({ key, id, started }) => ({
      Key: key,
      UploadId: id,
      StorageClass: 'STANDARD',
      Initiated: new Date(started).toISOString(),
    })),
  });
};

/** Returns the range to copy. S3 copies parts of objects of more than 5 MiB only. */
function copyRange(header: string | string[] | undefined, size: number): { start: number; end: number } {
  if (header === undefined) return { start: 0, end: size - 1 };
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(String(header)) ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === undefined || last === undefined || end < start)
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    );
  if (end >= size)
    throw new S3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`);
  if (size <= minRangeSource) throw invalidRequest('The specified copy range is invalid for the source object size.');
  return { start, end };
}

function partNumberOf(query: URLSearchParams): number {
  const number = integerParameter(query, 'partNumber', 0);
  if (number < 1 || number > maxParts)
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  return number;
}

function uploadIdOf(query: URLSearchParams): string {
  return query.get('uploadId') ?? '';
}

function readPart(part: XmlNode): NamedPart {
  const [number, etag] = [childText(part, 'PartNumber') ?? '', childText(part, 'ETag')];
  if (!/^\d{1,5}$/.test(number) || etag === undefined) throw malformedXml();
  // S3 removes the quotes before comparing tags.
  return { number: Number(number), etag: etag.replaceAll('"', ''), checksum: readPartChecksum(part) };
}

function readPartChecksum(part: XmlNode): Checksum | undefined {
  const [element, ...others] = part.children.filter(({ name }) => name !== 'PartNumber' && name !== 'ETag');
  if (!element) return undefined;
  if (others.length > 0 || !element.name.startsWith('Checksum')) throw malformedXml();
  const checksum = { algorithm: algorithmOf(element.name.slice('Checksum'.length), element.name), value: element.text };
  assertChecksum(checksum, element.name);
  return checksum;
}

/** Throws unless the object checksum in the request to complete an upload matches. */
function assertObjectChecksum(
  headers: IncomingHttpHeaders,
  upload: UploadChecksum | undefined,
  object: ObjectChecksum | undefined,
): void {
  const type = headers['x-amz-checksum-type'];
  if (type !== undefined && type !== upload?.type)
    throw invalidRequest(
      `The upload was created using the ${upload?.type ?? 'null'} checksum mode. The complete request must use the same checksum mode.`,
    );
  for (const [name, value] of Object.entries(headers)) {
    const algorithm = algorithmOfHeader(name);
    if (!algorithm) continue;
    if (algorithm !== object?.algorithm || value !== object.value)
      throw new S3Error('BadDigest', `The ${algorithm} you specified did not match the calculated checksum.`);
  }
}
