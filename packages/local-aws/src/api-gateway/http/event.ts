import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isText } from './body.ts';
import type { RouteMatch } from './routes.ts';

/** A request forwarded by another AWS service, with its address and headers. */
export interface ForwardedRequest {
  address: string;
  /** Defaults to that of the request. */
  url?: string;
  /** Names and values alternate. */
  rawHeaders: string[];
}

export interface RequestFacts {
  accountId: string;
  apiId: string;
  requestId: string;
  match: RouteMatch;
  path: string;
  query: string;
  body: Buffer;
  forwarded?: ForwardedRequest | undefined;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Encodes the event of payload format 2.0 for a request as JSON. */
export function encodeRequest(request: IncomingMessage, facts: RequestFacts): Buffer {
  const event = buildEvent(request, facts);
  if (!event.isBase64Encoded) return Buffer.from(JSON.stringify(event));
  // Base64 needs no escaping, so a body of megabytes is not searched for characters that do.
  const start = Buffer.from(`${JSON.stringify(event).slice(0, -1)},"body":"`);
  const { body } = facts;
  const encoded = Buffer.allocUnsafe(start.length + 4 * Math.ceil(body.length / 3) + end.length);
  let at = start.copy(encoded);
  for (let from = 0; from < body.length; from += sliceBytes)
    at += encoded.write(body.toString('base64', from, from + sliceBytes), at, 'latin1');
  end.copy(encoded, at);
  return encoded;
}

/** Encoded at once: V8 keeps longer strings until it collects all garbage. Divisible by three, as base64 requires. */
const sliceBytes = 48 * 1024;

const end = Buffer.from('"}');

/** Builds an event without its body, if that is binary. */
function buildEvent(request: IncomingMessage, facts: RequestFacts): APIGatewayProxyEventV2 {
  const { forwarded } = facts;
  const { headers, cookies } = readHeaders(forwarded?.rawHeaders ?? request.rawHeaders);
  const sourceIp = forwarded?.address ?? (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const host = headers.host ?? 'localhost';
  headers['x-forwarded-for'] = headers['x-forwarded-for'] ? `${headers['x-forwarded-for']}, ${sourceIp}` : sourceIp;
  headers['x-forwarded-proto'] ??= 'http';
  headers['x-forwarded-port'] ??= String(request.socket.localPort ?? '');
  const now = new Date();
  const { match, body } = facts;
  const decodedPath = decoded(facts.path);
  const domainName = host.replace(/:\d+$/, '');
  const text = isText(headers['content-type'], headers['content-encoding']);
  const queryStringParameters = joinValues(new URLSearchParams(facts.query));
  return {
    version: '2.0',
    routeKey: match.routeKey,
    rawPath: decodedPath,
    rawQueryString: facts.query,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(facts.query !== '' && { queryStringParameters }),
    requestContext: {
      accountId: facts.accountId,
      apiId: facts.apiId,
      domainName,
      domainPrefix: domainName.split('.')[0] ?? domainName,
      http: {
        method: request.method ?? 'GET',
        path: decodedPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: facts.requestId,
      routeKey: match.routeKey,
      stage: '$default',
      time: formatTime(now),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(match.pathParameters).length > 0 && { pathParameters: match.pathParameters }),
    ...(body.length > 0 && text && { body: body.toString() }),
    isBase64Encoded: body.length > 0 && !text,
  };
}

/** Decodes a path as HTTP APIs do, although the property is named raw: they even cut it at a question mark. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path).split('?', 1)[0] ?? '';
  } catch {
    return path;
  }
}

function readHeaders(rawHeaders: string[]): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    // Format 2.0 moves cookies out of the headers.
    if (name === 'cookie') cookies.push(...value.split(/;\s*/).filter(Boolean));
    else headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return { headers, cookies };
}

function joinValues(parameters: URLSearchParams): Record<string, string> {
  const names = new Set(parameters.keys());
  return Object.fromEntries([...names].map((name) => [name, parameters.getAll(name).join(',')]));
}

function formatTime(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T');
  const [year, , day] = date.split('-');
  return `${day}/${months[time.getUTCMonth()]}/${year}:${clock.slice(0, 8)} +0000`;
}
