import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FunctionError } from '../../lambda/function-error.ts';
import type { LambdaRuntime } from '../../lambda/runtime.ts';
import type { LocalHttpApi, LocalStack } from '../../template/model.ts';
import { mayInvoke } from '../../template/policies.ts';
import { readBody } from './body.ts';
import { isPreflight, preflightHeaders, responseHeaders } from './cors.ts';
import { encodeRequest, type ForwardedRequest } from './event.ts';
import { type GatewayResponse, messageResponse, readResponse } from './response.ts';
import { createRouter, type RouteMatch } from './routes.ts';
import { createThrottle } from './throttle.ts';

/** API Gateway's limit for the request line and the headers. */
const headerLimitBytes = 10_240;
const maxIntegrationSeconds = 30;
/** How long a refused upload is read and dropped: some clients read the response only when they cannot write. */
const lingerMilliseconds = 2_000;

export interface HttpApi {
  /** Handles a request from a client or forwarded by another service. */
  handle(request: IncomingMessage, response: ServerResponse, forwarded?: ForwardedRequest): Promise<void>;
}

/** Creates an HTTP request handler that responds as API Gateway does for an HTTP API. */
export function createHttpApi(
  api: LocalHttpApi,
  runtime: LambdaRuntime,
  stack: Pick<LocalStack, 'account'>,
  {
    integrationSeconds = maxIntegrationSeconds,
    onResponse = () => {},
  }: { integrationSeconds?: number; onResponse?: (status: number) => void } = {},
): HttpApi {
  const route = createRouter(api.routes);
  const isWithinRate = api.throttle ? createThrottle(api.throttle) : () => true;

  async function respond(
    request: IncomingMessage,
    requestId: string,
    forwarded: ForwardedRequest | undefined,
  ): Promise<GatewayResponse | 'aborted'> {
    if (headerBytes(request, forwarded?.rawHeaders ?? request.rawHeaders) > headerLimitBytes)
      return messageResponse(431, 'Request Header Fields Too Large');
    if (api.cors && isPreflight(request)) {
      return {
        status: 204,
        headers: preflightHeaders(api.cors, request.headers.origin),
        cookies: [],
        body: Buffer.of(),
      };
    }
    const body = await readBody(request);
    if (body.state === 'aborted') return 'aborted';
    if (body.state === 'too-large') return messageResponse(413, 'Request Entity Too Large');
    const { path, query } = splitUrl(forwarded?.url ?? request.url ?? '/');
    const match = route(request.method ?? 'GET', path);
    if (!match) return messageResponse(404, 'Not Found');
    if (!isWithinRate()) return messageResponse(429, 'Too Many Requests');
    const [{ account: accountId }, { apiId }] = [stack, api];
    const facts = { accountId, apiId, requestId, match, path, query, body: body.bytes, forwarded };
    const { authorization, cookie } = request.headers;
    return await integrate(match, encodeRequest(request, facts), authorization ?? cookie);
  }

  async function integrate(match: RouteMatch, event: Buffer, client: string | undefined): Promise<GatewayResponse> {
    const timeout = Promise.withResolvers<GatewayResponse>();
    const unavailable = messageResponse(503, 'Service Unavailable');
    const timer = setTimeout(() => timeout.resolve(unavailable), integrationSeconds * 1000);
    try {
      return await Promise.race([invoke(match, event, client), timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function invoke(match: RouteMatch, event: Buffer, client: string | undefined): Promise<GatewayResponse> {
    // API Gateway responds the same if the integration's role does not allow the invocation.
    if (match.invoker && !mayInvoke(match.invoker, match.function))
      return messageResponse(500, 'Internal Server Error');
    try {
      const result = await runtime.invoke(match.function, event, { client });
      return readResponse(result) ?? messageResponse(500, 'Internal Server Error');
    } catch (error) {
      return responseOf(error instanceof FunctionError ? error.errorType : '');
    }
  }

  return {
    async handle(request, response, forwarded) {
      // A client may disconnect at any time.
      request.on('error', () => {});
      response.on('error', () => {});
      const requestId = randomBytes(11).toString('base64');
      const result = await respond(request, requestId, forwarded);
      if (result !== 'aborted') onResponse(result.status);
      if (result === 'aborted' || response.destroyed) return;
      const { origin } = request.headers;
      const added = {
        'apigw-requestid': requestId,
        ...(api.cors && !isPreflight(request) && responseHeaders(api.cors, origin)),
      };
      if (api.cors && !isPreflight(request)) dropCorsHeaders(result);
      try {
        send(request, response, result, added);
      } catch {
        // A header of the function's response is invalid.
        send(request, response, messageResponse(500, 'Internal Server Error'), added);
      }
    },
  };
}

/** Returns the response to a request whose function failed or was not invoked. */
function responseOf(errorType: string): GatewayResponse {
  if (errorType === 'RequestTooLargeException') return messageResponse(413, 'Request Entity Too Large');
  if (errorType === 'TooManyRequestsException') return messageResponse(503, 'Service Unavailable');
  return messageResponse(500, 'Internal Server Error');
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  result: GatewayResponse,
  added: Record<string, string>,
): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  for (const [name, value] of Object.entries({ ...result.headers, ...added })) response.setHeader(name, value);
  if (result.headers.vary && added.vary) response.setHeader('vary', `${result.headers.vary}, ${added.vary}`);
  if (result.cookies.length > 0) response.setHeader('set-cookie', result.cookies);
  const bodiless = result.status === 204 || result.status === 304;
  if (!bodiless) response.setHeader('content-length', result.body.length);
  response.statusCode = result.status;
  if (result.status === 413 && !request.complete) {
    response.setHeader('connection', 'close');
    response.write(result.body);
    linger(request, response);
  } else {
    response.end(bodiless ? undefined : result.body);
  }
}

/** Lets the client read the response before the connection closes, even if it is still sending. */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const finish = () => {
    clearTimeout(timer);
    response.end();
    request.destroy();
  };
  const timer = setTimeout(finish, lingerMilliseconds);
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}

function dropCorsHeaders(result: GatewayResponse): void {
  // With CORS configured, API Gateway ignores the integration's CORS headers.
  for (const name of Object.keys(result.headers)) {
    if (name.startsWith('access-control-')) delete result.headers[name];
  }
}

function headerBytes({ method = '', url = '' }: IncomingMessage, rawHeaders: string[]): number {
  const line = method.length + url.length + 'HTTP/1.1'.length + 4;
  return rawHeaders.reduce((sum, part) => sum + Buffer.byteLength(part, 'latin1') + 2, line);
}

function splitUrl(url: string): { path: string; query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '') || '/';
  const mark = target.indexOf('?');
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
