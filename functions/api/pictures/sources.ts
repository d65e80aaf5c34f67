import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { s3Endpoint } from '../../../shared/net/s3-endpoint.ts';
import type { BucketSource, HostSource } from './image-keys.ts';

/** A picture within the sources of a key: a URL, or an object of a bucket. */
export type FoundSource = { url: URL } | { store: BucketSource; object: string };

/** The request follows at once. */
const presignedSeconds = 60;

/** Finds a picture within the sources of a key; undefined if none of them allows it. */
export function findSource(sources: readonly (HostSource | BucketSource)[], source: string): FoundSource | undefined {
  const [, bucket, object] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(source) ?? [];
  if (bucket !== undefined && object !== undefined) {
    const store = sources.find((each) => 'bucket' in each && each.bucket === bucket && isWithin(object, each.prefix));
    return store && 'bucket' in store ? { store, object } : undefined;
  }
  const url = URL.parse(source);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  const isAllowed = sources.some(
    (each) => 'host' in each && isHost(url.host, each.host) && isWithin(url.pathname, each.prefix),
  );
  return isAllowed ? { url } : undefined;
}

function isHost(host: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}

/** Servers may decode a path more than once before they resolve its dots. */
const maxDecodings = 5;

/** Returns whether a path begins with a prefix, and no server could take it for a path that does not. */
function isWithin(path: string, prefix: string | undefined): boolean {
  if (prefix === undefined) return true;
  if (!path.startsWith(prefix)) return false;
  let decoded = path;
  for (let round = 0; round < maxDecodings; round++)
    decoded = decoded.replace(/%(25|2e|2f|5c)/gi, (_match, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return !decoded.split(/[/\\]/).includes('..');
}

/** Returns a URL that a picture can be fetched from: its own, or one that is signed with the credentials of its bucket. */
export async function fetchableUrl(source: FoundSource): Promise<string> {
  if ('url' in source) return source.url.href;
  const { bucket, region, access_key_id, secret_access_key, endpoint } = source.store;
  const client = new S3Client({
    region,
    endpoint: endpoint ?? s3Endpoint(region).href,
    // Few other stores support virtual hosts.
    forcePathStyle: endpoint !== undefined,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key },
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const command = new GetObjectCommand({ Bucket: bucket, Key: source.object });
  return getSignedUrl(client, command, { expiresIn: presignedSeconds });
}

/** Returns the last part of the path of a picture, which its name is derived from. */
export function nameOf(source: FoundSource): string {
  const path = 'url' in source ? source.url.pathname : source.object;
  const last = path.split('/').at(-1) ?? '';
  try {
    return 'url' in source ? decodeURIComponent(last) : last;
  } catch {
    return last;
  }
}
