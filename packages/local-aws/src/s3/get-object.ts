import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { isRangeWanted, isUnmodified } from './conditions.ts';
import { noSuchKey, S3Error } from './error.ts';
import { systemMetadata } from './metadata.ts';
import { setChecksum } from './put-object.ts';
import type { Handler } from './request.ts';
import type { StoredObject } from './store.ts';

/** Handles GetObject and HeadObject. */
export const getObject: Handler = async ({ operation, bucket, key, query, headers }, res, { store }) => {
  const overrides = readOverrides(query);
  const object = store.find(bucket, key);
  if (!object) throw noSuchKey(key);
  if (isUnmodified(object, headers)) {
    res.statusCode = 304;
    res.setHeader('etag', `"${object.etag}"`);
    res.end();
    return;
  }
  const range = isRangeWanted(object, headers) ? parseRange(headers.range, object.size) : undefined;
  setHeaders(res, object);
  for (const [name, value] of overrides) res.setHeader(name, value);
  if (range) {
    res.statusCode = 206;
    res.setHeader('content-range', `bytes ${range.start}-${range.end}/${object.size}`);
    res.setHeader('content-length', range.end + 1 - range.start);
  } else if (headers['x-amz-checksum-mode'] === 'ENABLED') setChecksum(res, object.checksum);
  const content = operation === 'HeadObject' ? undefined : store.open(bucket, key, range?.start, range?.end);
  if (content) await send(content, res);
  else res.end();
};

/** Sends the content until it ends or the client disconnects. Only failures to read are errors. */
function send(content: Readable, res: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    content.once('error', reject);
    finished(res, () => {
      content.destroy();
      resolve();
    });
    content.pipe(res);
  });
}

function setHeaders(res: ServerResponse, object: StoredObject): void {
  res.setHeader('accept-ranges', 'bytes');
  res.setHeader('content-type', 'binary/octet-stream');
  for (const [name, value] of Object.entries(object.metadata)) res.setHeader(name, value);
  res.setHeader('etag', `"${object.etag}"`);
  res.setHeader('last-modified', new Date(object.modified).toUTCString());
  res.setHeader('content-length', object.size);
}

/** Reads the response headers that a signed request overrides. */
function readOverrides(query: URLSearchParams): [string, string][] {
  return systemMetadata.flatMap((name): [string, string][] => {
    const value = query.get(`response-${name}`);
    if (value === null) return [];
    if (/[^\x20-\x7e\x80-\xff]/.test(value))
      throw new S3Error('InvalidArgument', 'Header value cannot be represented using ISO-8859-1.');
    return [[name, value]];
  });
}

/** Returns the requested range, or undefined for the whole object, which S3 also sends for invalid ranges. */
function parseRange(range: string | undefined, size: number): { start: number; end: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if ((first === '' && last === '') || (first !== '' && last !== '' && Number(last) < Number(first))) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start >= size)
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable', {
      RangeRequested: range ?? '',
      ActualObjectSize: size,
    });
  return { start, end };
}
