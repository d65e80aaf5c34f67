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

/** Time reserved for the response, and for the last request of a wait. */
const reserveMs = 2_000;
const reserveAfterWaitMs = 6_000;
const maxWaitMs = 20_000;
/** Lambda limits responses to 6 MB, including the escaping of the body as a JSON string. */
const maxResponseBytes = 6_000_000;

/**
 * Serves each request without a session. The tools call the API with the key of the caller, so the endpoints enforce its
 * scopes, limits and rates.
 */
export const handler = endpoint(routes.mcp, async ({ body, headers, remainingMs, logger }) => {
  requireOwnOrigin(headers);
  // There is nothing to cancel in another request, and canceling a call of the same one would omit its response.
  const messages = [body].flat().filter(({ method }) => method !== 'notifications/cancelled');
  if (messages.length === 0) return { status: 202 };
  const ended = new AbortController();
  const timeout = new LatheError(
    'timeout',
    'No result in time. Work that was started continues; call job_status to check a job.',
  );
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
    // The function times out before longer pauses end.
    retry: { retries: 2, minPauseMs: 200, maxRetryAfterMs: 2_000 },
    // Keys can be limited to origins.
    ...(origin === undefined
      ? {}
      : { fetch: (url, init) => fetch(url, { ...init, headers: { ...Object(init?.headers), origin } }) }),
  });
}

/** Returns a request with the headers that the transport checks. Responses are always JSON. */
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

/** Converts an error of the transport. */
function refused(status: number, { error }: { error: { message: string } }): HttpError {
  return status === 400 ? invalidMessage(error.message) : new HttpError(status, 'bad_request', error.message);
}

function invalidMessage(msg: string): HttpError {
  return new HttpError(400, 'bad_request', msg, { reason: 'invalid_message' });
}
