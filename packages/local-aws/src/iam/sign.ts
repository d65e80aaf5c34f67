import { createHash, createHmac } from 'node:crypto';
import { encodeRfc3986 } from '../wire/encode.ts';

export interface SigningKey {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

interface UnsignedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Names in lower case, with `host` and `x-amz-content-sha256` among them. */
  headers: Record<string, string>;
}

/** Signs a request to S3 with all its S3 headers; returns its headers with the signature. */
export function sign(key: SigningKey, { method, path, query, headers }: UnsignedRequest): Record<string, string> {
  const timestamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const all: Record<string, string> = { ...headers, 'x-amz-date': timestamp };
  const names = Object.keys(all)
    .filter((name) => name === 'host' || name.startsWith('x-amz-'))
    .sort();
  const date = timestamp.slice(0, 8);
  const scope = [date, key.region, 's3', 'aws4_request'];
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    names.map((name) => `${name}:${all[name]?.trim()}\n`).join(''),
    names.join(';'),
    all['x-amz-content-sha256'],
  ].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const signature = createHmac('sha256', deriveSigningKey(key.secretAccessKey, scope))
    .update(['AWS4-HMAC-SHA256', timestamp, scope.join('/'), hash].join('\n'))
    .digest('hex');
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

/** Derives the signing key of a secret for a day, region and service. */
export function deriveSigningKey(secretAccessKey: string, scope: string[]): Buffer {
  return scope.reduce<Buffer>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
}

/** Formats a query in its canonical form. */
export function canonicalQuery(pairs: Iterable<[string, string]>): string {
  return Array.from(pairs, ([name, value]): [string, string] => [encodeRfc3986(name), encodeRfc3986(value)])
    .sort(([aName, aValue], [bName, bValue]) => compare(aName, bName) || compare(aValue, bValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
