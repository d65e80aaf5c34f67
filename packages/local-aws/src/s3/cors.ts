import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BucketCorsRule } from '../template/model.ts';
import { S3Error } from './error.ts';

/** Responds to a preflight by the rules of the bucket, without a signature. */
export function respondPreflight(rules: BucketCorsRule[], req: IncomingMessage, res: ServerResponse): void {
  const origin = req.headers.origin;
  const method = req.headers['access-control-request-method'];
  if (!origin) throw new S3Error('BadRequest', 'Insufficient information. Origin request header needed.');
  if (!method) throw new S3Error('BadRequest', 'Invalid Access-Control-Request-Method: null');
  const wanted = (req.headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const rule = findRule(rules, origin, method, wanted);
  if (!rule) {
    throw new S3Error('AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
  }
  allow(rule, origin, res);
  if (wanted.length > 0) res.setHeader('access-control-allow-headers', wanted.join(', '));
  if (rule.maxAgeSeconds !== undefined) res.setHeader('access-control-max-age', rule.maxAgeSeconds);
  res.statusCode = 200;
  res.setHeader('content-length', 0);
  res.end();
}

/** Sets the headers that let pages of another origin read the response, if a rule of the bucket allows it. */
export function setCorsHeaders(rules: BucketCorsRule[], req: IncomingMessage, res: ServerResponse): void {
  const origin = req.headers.origin;
  if (!origin) return;
  const rule = findRule(rules, origin, req.method ?? '', []);
  if (!rule) return;
  allow(rule, origin, res);
  if (rule.exposedHeaders.length > 0) {
    res.setHeader('access-control-expose-headers', rule.exposedHeaders.join(', '));
  }
}

function findRule(
  rules: BucketCorsRule[],
  origin: string,
  method: string,
  headers: string[],
): BucketCorsRule | undefined {
  return rules.find(
    (rule) =>
      rule.allowedMethods.includes(method.toUpperCase()) &&
      rule.allowedOrigins.some((pattern) => matches(pattern, origin)) &&
      headers.every((header) => rule.allowedHeaders.some((pattern) => matches(pattern.toLowerCase(), header))),
  );
}

function allow(rule: BucketCorsRule, origin: string, res: ServerResponse): void {
  const anyOrigin = rule.allowedOrigins.includes('*');
  res.setHeader('access-control-allow-origin', anyOrigin ? '*' : origin);
  if (!anyOrigin) res.setHeader('access-control-allow-credentials', 'true');
  res.setHeader('access-control-allow-methods', rule.allowedMethods.join(', '));
  res.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
}

/** Matches a pattern of a rule with at most one `*`. */
function matches(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text;
  const head = pattern.slice(0, star);
  const tail = pattern.slice(star + 1);
  return text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail);
}
