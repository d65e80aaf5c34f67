import { assertWritable } from './conditions.ts';
import { notImplemented, S3Error } from './error.ts';
import { metadataOf } from './metadata.ts';
import { bodyOf } from './put-object.ts';
import { type Handler, integerParameter, malformedXml, readXml, respondEmpty, respondXml } from './request.ts';
import { childrenOf, childText, type XmlNode } from './xml.ts';

const MAX_PARTS = 10_000;
const MAX_LISTED_PARTS = 1000;

export const createMultipartUpload: Handler = ({ bucket, key, headers }, res, { store }) => {
  const uploadId = store.startUpload(bucket, key, metadataOf(Object.entries(headers)));
  respondXml(res, 'InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId: uploadId });
};

export const uploadPart: Handler = async (request, res, { store }) => {
  const { bucket, key, query } = request;
  const number = integerParameter(query, 'partNumber', 0);
  if (number < 1 || number > MAX_PARTS)
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  const { md5 } = await store.putPart(bucket, key, uploadIdOf(query), number, bodyOf(request));
  res.setHeader('etag', `"${md5}"`);
  respondEmpty(res);
};

export const completeMultipartUpload: Handler = async (request, res, { store, created }) => {
  const { bucket, key, query, headers, body, location } = request;
  const parts = childrenOf(await readXml(body, 'CompleteMultipartUpload'), 'Part').map(readPart);
  if (parts.length === 0 || parts.length > MAX_PARTS) throw malformedXml();
  assertWritable(headers, store.find(bucket, key));
  const object = store.completeUpload(bucket, key, uploadIdOf(query), parts);
  created('CompleteMultipartUpload', object);
  const ETag = `"${object.etag}"`;
  respondXml(res, 'CompleteMultipartUploadResult', { Location: location, Bucket: bucket, Key: key, ETag });
};

export const abortMultipartUpload: Handler = ({ bucket, key, query }, res, { store }) => {
  store.abortUpload(bucket, key, uploadIdOf(query));
  respondEmpty(res, 204);
};

export const listParts: Handler = ({ bucket, key, query }, res, { store }) => {
  const uploadId = uploadIdOf(query);
  const marker = integerParameter(query, 'part-number-marker', 0);
  const limit = Math.min(MAX_LISTED_PARTS, integerParameter(query, 'max-parts', MAX_LISTED_PARTS));
  const parts = store.listParts(bucket, key, uploadId).filter((part) => part.number > marker);
  const page = parts.slice(0, limit);
  respondXml(res, 'ListPartsResult', {
    Bucket: bucket,
    Key: key,
    UploadId: uploadId,
    PartNumberMarker: marker,
    NextPartNumberMarker: page.at(-1)?.number ?? 0,
    MaxParts: limit,
    IsTruncated: page.length < parts.length,
    Part: page.map((part) => ({ PartNumber: part.number, ETag: `"${part.md5}"`, Size: part.size })),
  });
};

function uploadIdOf(query: URLSearchParams): string {
  return query.get('uploadId') ?? '';
}

function readPart(part: XmlNode): { number: number; etag: string } {
  const [number, etag] = [childText(part, 'PartNumber') ?? '', childText(part, 'ETag')];
  if (!/^\d{1,5}$/.test(number) || etag === undefined) throw malformedXml();
  if (part.children.length > 2) throw notImplemented('checksums of parts');
  // S3 removes the quotes before it compares tags.
  return { number: Number(number), etag: etag.replaceAll('"', '') };
}
