import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { notImplemented, S3Error } from './error.ts';
import { type Deletion, type Handler, malformedXml, readXml, respondEmpty, respondXml } from './request.ts';
import { childrenOf, childText } from './xml.ts';

/** Reads the body of a DeleteObjects request, which S3 accepts only with a digest. */
export async function readDeletion(body: Readable, headers: IncomingHttpHeaders): Promise<Deletion> {
  if (!Object.keys(headers).some((name) => /^(content-md5|x-amz-trailer|x-amz-checksum-(crc|sha).*)$/.test(name)))
    throw new S3Error('InvalidRequest', 'Missing required header for this request: Content-MD5');
  const document = await readXml(body, 'Delete');
  const objects = childrenOf(document, 'Object');
  if (objects.length === 0 || objects.length > 1000) throw malformedXml();
  const keys = objects.map((object) => {
    const key = childText(object, 'Key');
    if (key === undefined || key === '') throw malformedXml();
    if (object.children.length > 1) throw notImplemented('versions and conditions of objects to delete');
    return key;
  });
  return { keys, quiet: childText(document, 'Quiet') === 'true' };
}

export const deleteObjects: Handler = ({ bucket, deletion }, res, { store }) => {
  const { keys, quiet } = deletion ?? { keys: [], quiet: false };
  for (const key of keys) store.delete(bucket, key);
  respondXml(res, 'DeleteResult', { Deleted: quiet ? [] : keys.map((key) => ({ Key: key })) });
};

export const deleteObject: Handler = ({ bucket, key }, res, { store }) => {
  store.delete(bucket, key);
  respondEmpty(res, 204);
};
