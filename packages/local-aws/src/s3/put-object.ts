import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { elementOfChecksum, headerOfChecksum, type ObjectChecksum } from './checksums.ts';
import { assertWritable, isUnmodified, preconditionFailed } from './conditions.ts';
import { S3Error } from './error.ts';
import { metadataOf } from './metadata.ts';
import { type Handler, respondEmpty, respondXml, type S3Request } from './request.ts';
import type { ObjectStore } from './store.ts';

/** Maximum size of an object, part or copy in one request. */
export const maxPutBytes = 5 * 1024 ** 3;

/** Handles PutObject. */
export const putObject: Handler = async (request, res, { store, created }) => {
  const { bucket, key, headers } = request;
  const metadata = metadataOf(Object.entries(headers));
  const check = () => assertWritable(headers, store.find(bucket, key));
  check();
  const blob = await store.write(bodyOf(request));
  const object = store.commit(bucket, key, blob, { metadata, checksum: request.checksum(), check });
  await created('Put', object);
  setChecksum(res, object.checksum);
  res.setHeader('etag', `"${object.etag}"`);
  respondEmpty(res);
};

/** Handles CopyObject. Conditions apply to the exact bytes that are copied. */
export const copyObject: Handler = async ({ bucket, key, headers }, res, { store, created }) => {
  const from = parseCopySource(String(headers['x-amz-copy-source']));
  assertBucket(store, from.bucket);
  const directive = headers['x-amz-metadata-directive'] ?? 'COPY';
  if (directive !== 'COPY' && directive !== 'REPLACE')
    throw new S3Error('InvalidArgument', 'Unknown metadata directive.');
  if (from.bucket === bucket && from.key === key && directive === 'COPY') {
    throw new S3Error(
      'InvalidRequest',
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    );
  }
  const metadata = directive === 'REPLACE' ? metadataOf(Object.entries(headers)) : undefined;
  const copied = await store.copy(from, { bucket, key }, metadata, (source) => {
    if (isUnmodified(source, headers, 'x-amz-copy-source-')) throw preconditionFailed();
    assertCopySize(source.size);
  });
  await created('Copy', copied);
  respondXml(res, 'CopyObjectResult', {
    LastModified: new Date(copied.modified).toISOString(),
    ETag: `"${copied.etag}"`,
    ...describeChecksum(copied.checksum),
  });
};

/** Throws if content is larger than one request may copy. */
export function assertCopySize(size: number): void {
  if (size > maxPutBytes)
    throw new S3Error(
      'InvalidRequest',
      `The specified copy source is larger than the maximum allowable size for a copy source: ${maxPutBytes}`,
    );
}

/** Sets the checksum headers of an object. */
export function setChecksum(res: ServerResponse, checksum: ObjectChecksum | undefined): void {
  if (!checksum) return;
  res.setHeader(headerOfChecksum(checksum.algorithm), checksum.value);
  res.setHeader('x-amz-checksum-type', checksum.type);
}

/** Returns the checksum elements of an object. */
export function describeChecksum(checksum: ObjectChecksum | undefined): Record<string, string> {
  return checksum ? { [elementOfChecksum(checksum.algorithm)]: checksum.value, ChecksumType: checksum.type } : {};
}

/** Returns the body to store; throws if it exceeds the maximum of one request. */
export function bodyOf({ body, headers }: S3Request): Readable {
  if (Number(headers['content-length']) > maxPutBytes)
    throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size');
  return body ?? Readable.from([]);
}

export function assertBucket(store: ObjectStore, bucket: string): void {
  if (!store.hasBucket(bucket))
    throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
}

/** Reads bucket and key from an `x-amz-copy-source` header. */
export function parseCopySource(header: string): { bucket: string; key: string } {
  let source: string;
  try {
    source = decodeURIComponent(header).replace(/^\//, '');
  } catch {
    throw new S3Error('InvalidArgument', 'Invalid copy source encoding.');
  }
  const slash = source.indexOf('/');
  if (slash < 1 || slash === source.length - 1) {
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey');
  }
  return { bucket: source.slice(0, slash), key: source.slice(slash + 1) };
}
