import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

export interface OutgoingRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: OutgoingHttpHeaders;
  body?: Buffer | Readable | undefined;
}

/** Hop-by-hop headers. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** Sends a request to a local server, and returns its response when it begins. */
export async function send(origin: string, { method, path, headers, body }: OutgoingRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // A connection for each: one that the server is closing would lose the request.
  const outgoing = request(origin, { method, path, headers: { ...headers, connection: 'close' } });
  outgoing.once('response', resolve).once('error', reject);
  if (body instanceof Readable) pipeline(body, outgoing).catch(reject);
  else outgoing.end(body);
  return promise;
}

/** Forwards a response to the client, and stops reading it if they disconnect. */
export async function relay(response: IncomingMessage, res: ServerResponse): Promise<void> {
  res.statusCode = response.statusCode ?? 502;
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined && !ofConnection.has(name)) res.setHeader(name, value);
  }
  await pipeline(response, res).catch((error) => {
    if (!res.destroyed) throw error;
  });
}

/** Calls a service that speaks JSON; throws if it refuses. */
export async function callJson(origin: string, call: JsonCall): Promise<Record<string, unknown>> {
  const response = await send(origin, {
    method: 'POST',
    path: '/',
    headers: {
      'content-type': `application/x-amz-json-${call.version}`,
      'x-amz-target': `${call.target}.${call.operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${call.region}/any/aws4_request, SignedHeaders=host, Signature=local`,
    },
    body: Buffer.from(JSON.stringify(call.input)),
  });
  const output = Object(JSON.parse((await buffer(response)).toString() || '{}'));
  if (response.statusCode !== 200)
    throw new CallError(call.operation, String(output.__type), String(output.message ?? output.Message));
  return output;
}

export interface JsonCall {
  version: '1.0' | '1.1';
  /** Such as `DynamoDB_20120810`. */
  target: string;
  operation: string;
  input: object;
  region: string;
}

/** A call that a service refused. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly type: string;

  constructor(operation: string, type: string, message: string) {
    super(`${operation}: ${type}: ${message}`);
    this.type = type;
  }
}
