import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { Lathe, LatheError } from '../../../packages/client/src/index.ts';
import { problemOf, Responses } from '../../../packages/client/src/mcp/common-tools.ts';
import { required } from '../../../shared/settings.ts';
import { bearerOf } from '../http/authenticate.ts';
import { endpoint } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import { requireOwnOrigin } from '../http/own-origin.ts';
import { routes } from '../routes.ts';
import { makeServer } from './tools.ts';

/** Time reserved for the response itself, and for the request that ends a wait. */
const reserveMs = 2_000;
const reserveAfterWaitMs = 6_000;
const maxWaitMs = 20_000;
/** A response of Lambda has at most 6 MB, in which the body is a JSON string. */
const maxResponseBytes = 6_000_000;

/**
 * Serves each request by itself, with tools that are a client of this service, with the caller's key: what the key may do,
 * how often, and what is valid is for the endpoints to say.
 */
export const handler = endpoint(routes.mcp, async ({ body, headers, remainingMs, logger }) => {
  requireOwnOrigin(headers);
  // Nothing runs here that another request could cancel. Within one request it would leave a call without its response.
  const messages = [body].flat().filter(({ method }) => method !== 'notifications/cancelled');
  if (messages.length === 0) return { status: 202 };
  const ended = new AbortController();
  const timeout = new LatheError('timeout', 'No result in time. What was begun goes on: job_status shows a job.');
  const timer = setTimeout(() => ended.abort(timeout), remainingMs() - reserveMs);
  const server = makeServer({
    lathe: clientFor(headers),
    ended: ended.signal,
    waitMs: () => Math.min(maxWaitMs, remainingMs() - reserveAfterWaitMs),
    responses: new Responses((error) => {
      if (error instanceof LatheError) return problemOf(error);
      logger.error('tool failed', { error });
      return { errorCode: 'internal_error', msg: 'Something went wrong on our side. Retry later.' };
    }),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const response = await transport.handleRequest(requestOf(headers), {
      parsedBody: Array.isArray(body) ? messages : messages[0],
    });
    const text = await response.text();
    if (!response.ok) throw refused(response.status, JSON.parse(text));
    if (Buffer.byteLength(JSON.stringify(text)) > maxResponseBytes)
      throw invalidMessage('The results exceed 6 MB: send fewer messages at once.');
    return {
      status: response.status,
      text,
      ...(text === '' ? {} : { headers: { 'Content-Type': 'application/json' } }),
    };
  } finally {
    clearTimeout(timer);
    await server.close();
  }
});

function clientFor(headers: Record<string, string | undefined>): Lathe {
  const { origin } = headers;
  return new Lathe({
    url: required('LATHE_URL'),
    key: bearerOf(headers.authorization),
    // An agent retries later than a function can wait.
    retry: { retries: 2, minPauseMs: 200, maxRetryAfterMs: 2_000 },
    // A key may be limited to the pages of origins.
    ...(origin === undefined
      ? {}
      : { fetch: (url, init) => fetch(url, { ...init, headers: { ...Object(init?.headers), origin } }) }),
  });
}

/** Returns a request with what the transport looks at. The chain has read the rest, and responses are JSON whatever is accepted. */
function requestOf(headers: Record<string, string | undefined>): Request {
  const version = headers['mcp-protocol-version'];
  return new Request(`${required('LATHE_URL')}${routes.mcp.path}`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    },
  });
}

/** Returns what the transport refuses in the form of every other error. */
function refused(status: number, { error }: { error: { message: string } }): HttpError {
  return status === 400 ? invalidMessage(error.message) : new HttpError(status, 'bad_request', error.message);
}

function invalidMessage(msg: string): HttpError {
  return new HttpError(400, 'bad_request', msg, { reason: 'invalid_message' });
}
