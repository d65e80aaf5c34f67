import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { encodeRfc3986 } from '../wire/encode.ts';
import type { Credentials } from './credentials.ts';
import { Refusal, type Service } from './refusal.ts';
import { canonicalQuery, deriveSigningKey } from './sign.ts';

const expectedAlgorithm = 'AWS4-HMAC-SHA256';
const clockSkewMs = 15 * 60 * 1000;
const maxPresignedSeconds = 7 * 24 * 60 * 60;
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

interface Scope {
  accessKeyId: string;
  date: string;
  region: string;
  service: string;
}

/** A verified signature: its credentials, and the seed for signatures of body chunks. */
export interface Verified {
  credentials: Credentials;
  payloadHash: string;
  presigned: boolean;
  signature: string;
  signingKey: KeyObject;
  scope: string;
  timestamp: string;
}

export interface Query {
  pairs: [string, string][];
  get(name: string): string | undefined;
}

export interface SignatureVerifier {
  verify(service: Service, req: IncomingMessage, path: string, query: Query, bodyHash: string | undefined): Verified;
  /** Verifies a signature over a text, such as the policy of a presigned POST. */
  verifyText(credential: string, text: string, signature: string, token: string | undefined): Credentials;
}

/** Parses a raw query string, without the differences between URL libraries that would break a signature. */
export function parseQuery(raw: string): Query {
  const pairs: [string, string][] = [];
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    pairs.push(at < 0 ? [decode(part, true), ''] : [decode(part.slice(0, at), true), decode(part.slice(at + 1), true)]);
  }
  return { pairs, get: (name) => pairs.find(([key]) => key === name)?.[1] };
}

/** Finds the credentials of a session token. */
export type FindSession = (token: string) => Credentials | undefined;

/** Creates a verifier of requests signed with one of the credentials, or with those of a session. */
export function createVerifier(
  all: Credentials[],
  now: () => number = Date.now,
  findSession: FindSession = () => undefined,
): SignatureVerifier {
  const byKeyId = new Map(all.map((credentials) => [credentials.accessKeyId, credentials]));
  const signingKeys = new Map<string, KeyObject>();

  function find(accessKeyId: string, token: string | undefined): Credentials {
    const credentials = byKeyId.get(accessKeyId) ?? (token === undefined ? undefined : findSession(token));
    if (credentials?.accessKeyId !== accessKeyId) {
      throw new Refusal('unknown-key', 'The AWS Access Key Id you provided does not exist in our records.');
    }
    if (credentials.expiresAt !== undefined && now() > credentials.expiresAt) {
      throw new Refusal('expired-token', 'The provided token has expired.');
    }
    return credentials;
  }

  function signingKey(credentials: Credentials, scope: Scope): KeyObject {
    const id = `${scope.accessKeyId}/${scope.date}/${scope.region}/${scope.service}`;
    let key = signingKeys.get(id);
    if (!key) {
      // Callers choose the scope, so the cache is bounded.
      if (signingKeys.size > 500) signingKeys.clear();
      // A key object: crypto would create one from a buffer for each use, which takes longer than the use.
      key = createSecretKey(
        deriveSigningKey(credentials.secretAccessKey, [scope.date, scope.region, scope.service, 'aws4_request']),
      );
      signingKeys.set(id, key);
    }
    return key;
  }

  return {
    verify(service, req, path, query, bodyHash) {
      const claim = readClaim(req, query);
      if (claim.scope.service !== service) {
        throw new Refusal('malformed-authentication', `Credential should be scoped to correct service: '${service}'.`);
      }
      if (!claim.timestamp.startsWith(claim.scope.date)) {
        throw new Refusal(
          'malformed-authentication',
          'Date in Credential scope does not match the date of the request.',
        );
      }
      const credentials = find(claim.scope.accessKeyId, claim.token);
      assertInTime(claim, now());
      const payloadHash = bodyHash ?? payloadHashOf(req, query, claim.presigned);
      const scope = `${claim.scope.date}/${claim.scope.region}/${claim.scope.service}/aws4_request`;
      const canonicalRequest = [
        req.method,
        canonicalPath(service, path),
        canonicalQuery(query.pairs.filter(([key]) => key !== 'X-Amz-Signature')),
        canonicalHeaders(req, claim.signedHeaders, service),
        claim.signedHeaders.join(';'),
        payloadHash,
      ].join('\n');
      const key = signingKey(credentials, claim.scope);
      const text = `${expectedAlgorithm}\n${claim.timestamp}\n${scope}\n${sha256(canonicalRequest)}`;
      if (!sameText(hmac(key, text).toString('hex'), claim.signature)) throw mismatch();
      assertToken(credentials, claim.token);
      const { signature, timestamp, presigned } = claim;
      return { credentials, payloadHash, presigned, signature, signingKey: key, scope, timestamp };
    },

    verifyText(credential, text, signature, token) {
      const scope = parseScope(credential);
      if (scope.service !== 's3') {
        throw new Refusal('malformed-authentication', "Credential should be scoped to correct service: 's3'.");
      }
      const credentials = find(scope.accessKeyId, token);
      if (!sameText(hmac(signingKey(credentials, scope), text).toString('hex'), signature)) throw mismatch();
      assertToken(credentials, token);
      return credentials;
    },
  };
}

/** Returns the SHA-256 in lower-case hex, as used by SigV4. */
export function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'hex');
}

/** Compares two texts in constant time. */
export function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Parses the compact ISO time of SigV4, `20250131T235959Z`, to milliseconds; NaN if invalid. */
function parseTimestamp(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!match) return Number.NaN;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
}

interface Claim {
  scope: Scope;
  signedHeaders: string[];
  signature: string;
  timestamp: string;
  token: string | undefined;
  presigned: boolean;
  expiresSeconds: number;
}

function readClaim(req: IncomingMessage, query: Query): Claim {
  const authorization = req.headers.authorization;
  const algorithm = query.get('X-Amz-Algorithm');
  if (authorization !== undefined && algorithm !== undefined) {
    throw new Refusal('malformed-authentication', 'Only one auth mechanism allowed.');
  }
  if (authorization !== undefined) return readHeaderClaim(authorization, req);
  if (algorithm !== undefined) return readQueryClaim(algorithm, query);
  throw new Refusal('missing-authentication', 'Request is missing Authentication Token');
}

function readHeaderClaim(authorization: string, req: IncomingMessage): Claim {
  const [algorithm, rest] = splitOnce(authorization.trim(), ' ');
  if (algorithm !== expectedAlgorithm) throw new Refusal('malformed-authentication', `Unsupported AWS 'algorithm'.`);
  const parts = new Map(rest.split(',').map((part) => splitOnce(part.trim(), '=')));
  const credential = parts.get('Credential');
  const signedHeaders = parts.get('SignedHeaders');
  const signature = parts.get('Signature');
  const timestamp = header(req, 'x-amz-date');
  if (!credential || !signedHeaders || !signature || !timestamp) {
    throw new Refusal(
      'malformed-authentication',
      'The authorization header requires Credential, SignedHeaders and Signature, and the request X-Amz-Date.',
    );
  }
  return {
    scope: parseScope(credential),
    signedHeaders: signedHeaders.toLowerCase().split(';'),
    signature,
    timestamp,
    token: header(req, 'x-amz-security-token'),
    presigned: false,
    expiresSeconds: 0,
  };
}

function readQueryClaim(algorithm: string, query: Query): Claim {
  const credential = query.get('X-Amz-Credential');
  const signedHeaders = query.get('X-Amz-SignedHeaders');
  const signature = query.get('X-Amz-Signature');
  const timestamp = query.get('X-Amz-Date');
  const expires = query.get('X-Amz-Expires');
  if (algorithm !== expectedAlgorithm || !credential || !signedHeaders || !signature || !timestamp || !expires) {
    throw new Refusal('malformed-authentication', 'Query-string authentication lacks a parameter of version 4.');
  }
  const expiresSeconds = Number(expires);
  if (!/^\d+$/.test(expires) || expiresSeconds > maxPresignedSeconds) {
    throw new Refusal('malformed-authentication', 'X-Amz-Expires must be a number of seconds of at most a week.');
  }
  return {
    scope: parseScope(credential),
    signedHeaders: signedHeaders.toLowerCase().split(';'),
    signature,
    timestamp,
    token: query.get('X-Amz-Security-Token'),
    presigned: true,
    expiresSeconds,
  };
}

function parseScope(credential: string): Scope {
  const [accessKeyId, date, region, service, terminator, ...rest] = credential.split('/');
  if (!accessKeyId || !date || !region || !service || terminator !== 'aws4_request' || rest.length > 0) {
    throw new Refusal('malformed-authentication', 'Credential must be keyid/date/region/service/aws4_request.');
  }
  return { accessKeyId, date, region, service };
}

function assertInTime(claim: Claim, now: number): void {
  const signedAt = parseTimestamp(claim.timestamp);
  if (Number.isNaN(signedAt)) {
    throw new Refusal(
      'malformed-authentication',
      "X-Amz-Date must be in the ISO8601 basic format yyyyMMdd'T'HHmmss'Z'.",
    );
  }
  if (claim.presigned) {
    if (now > signedAt + claim.expiresSeconds * 1000) throw new Refusal('access-denied', 'Request has expired');
    if (signedAt > now + clockSkewMs) throw new Refusal('access-denied', 'Request is not yet valid');
  } else if (Math.abs(now - signedAt) > clockSkewMs) {
    throw new Refusal('time-skewed', 'The difference between the request time and the current time is too large.');
  }
}

function assertToken(credentials: Credentials, token: string | undefined): void {
  if (!sameText(token ?? '', credentials.sessionToken)) {
    throw new Refusal('invalid-token', 'The security token included in the request is invalid.');
  }
}

function payloadHashOf(req: IncomingMessage, query: Query, presigned: boolean): string {
  const hash = header(req, 'x-amz-content-sha256') ?? query.get('X-Amz-Content-Sha256');
  if (hash !== undefined) return hash;
  if (presigned) return unsignedPayload;
  throw new Refusal('malformed-authentication', 'Missing required header for this request: x-amz-content-sha256');
}

function canonicalPath(service: Service, path: string): string {
  // S3 encodes a path once; other services encode the encoded path again.
  if (service === 's3') {
    return path
      .split('/')
      .map((segment) => encodeRfc3986(decode(segment, false)))
      .join('/');
  }
  return path.split('/').map(encodeRfc3986).join('/');
}

function canonicalHeaders(req: IncomingMessage, signedHeaders: string[], service: Service): string {
  if (!signedHeaders.includes('host')) throw new Refusal('signature-mismatch', "'Host' must be a 'SignedHeader'.");
  for (const name of Object.keys(req.headers)) {
    // Headers that the signer did not see must not change the meaning of a presigned URL.
    if (service === 's3' && name.startsWith('x-amz-') && !signedHeaders.includes(name)) {
      throw new Refusal('access-denied', 'There were headers present in the request which were not signed');
    }
  }
  let text = '';
  for (const name of signedHeaders) {
    const value = header(req, name);
    if (value === undefined) throw mismatch();
    text += `${name}:${value.trim().replace(/ +/g, ' ')}\n`;
  }
  return text;
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function decode(text: string, plusIsSpace: boolean): string {
  try {
    return decodeURIComponent(plusIsSpace ? text.replaceAll('+', ' ') : text);
  } catch {
    throw new Refusal('invalid-request', "Couldn't parse the specified URI.");
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function mismatch(): Refusal {
  return new Refusal(
    'signature-mismatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  );
}
