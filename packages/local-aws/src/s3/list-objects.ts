import { S3Error } from './error.ts';
import { type Handler, integerParameter, respondXml } from './request.ts';

const maxKeys = 1000;

/** Handles ListObjects and ListObjectsV2. */
export const listObjects: Handler = ({ operation, query, bucket }, res, { store }) => {
  const isV2 = operation === 'ListObjectsV2';
  if (isV2 && query.get('list-type') !== '2') throw new S3Error('InvalidArgument', 'Invalid List Type specified');
  const encoding = query.get('encoding-type');
  if (encoding !== null && encoding !== 'url')
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  const encode = encoding === 'url' ? encodeKey : (key: string) => key;
  const limit = Math.min(maxKeys, integerParameter(query, 'max-keys', maxKeys));
  const token = query.get('continuation-token');
  if (token === '') throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  const after = token !== null ? readToken(token) : (query.get(isV2 ? 'start-after' : 'marker') ?? '');
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const { objects, commonPrefixes, next } =
    limit === 0
      ? { objects: [], commonPrefixes: [], next: undefined }
      : store.list(bucket, { prefix, delimiter, limit, after });
  const encoded = (text: string | undefined) => (text ? encode(text) : undefined);
  respondXml(res, 'ListBucketResult', {
    Name: bucket,
    Prefix: encode(prefix),
    Delimiter: encoded(delimiter),
    EncodingType: encoding ?? undefined,
    MaxKeys: limit,
    IsTruncated: next !== undefined,
    ...(isV2
      ? {
          KeyCount: objects.length + commonPrefixes.length,
          StartAfter: encoded(query.get('start-after') ?? undefined),
          ContinuationToken: token ?? undefined,
          NextContinuationToken: next === undefined ? undefined : writeToken(next),
        }
      : // Without a delimiter, clients continue after the last key.
        { Marker: encode(after), NextMarker: delimiter === '' ? undefined : encoded(next) }),
    Contents: objects.map((object) => ({
      Key: encode(object.key),
      LastModified: new Date(object.modified).toISOString(),
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: commonPrefixes.map((common) => ({ Prefix: encode(common) })),
  });
};

function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/');
}

function writeToken(key: string): string {
  return Buffer.from(key).toString('base64url');
}

function readToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}
