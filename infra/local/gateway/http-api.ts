import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FunctionError } from '../lambda/function-error.ts';
import type { LambdaRuntime } from '../lambda/runtime.ts';
import type { LocalHttpApi, LocalStack } from '../template/model.ts';
import { type Answer, messageAnswer, readAnswer } from './answer.ts';
import { readBody } from './body.ts';
import { answerHeaders, isPreflight, preflightHeaders } from './cors.ts';
import { buildEvent } from './event.ts';
import { createRouter, type RouteMatch } from './routes.ts';

/** API Gateway's limit for the request line and the headers. */
const HEADER_LIMIT_BYTES = 10_240;
const INTEGRATION_SECONDS = 30;
/** How long a refused upload is read and dropped, for a client that reads the answer only when it cannot write. */
const LINGER_MILLISECONDS = 2_000;

export interface HttpApi {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Creates a handler of HTTP requests that answers as API Gateway does for an HTTP API. */
export function createHttpApi(
  api: LocalHttpApi,
  runtime: LambdaRuntime,
  stack: Pick<LocalStack, 'account'>,
  { integrationSeconds = INTEGRATION_SECONDS } = {},
): HttpApi {
  const route = createRouter(api.routes);

  async function answer(request: IncomingMessage, requestId: string): Promise<Answer | 'aborted'> {
    if (headerBytes(request) > HEADER_LIMIT_BYTES) return messageAnswer(431, 'Request Header Fields Too Large');
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
    if (body.state === 'too-large') return messageAnswer(413, 'Request Entity Too Large');
    const { path, query } = splitUrl(request.url ?? '/');
    const match = route(request.method ?? 'GET', path);
    if (!match) return messageAnswer(404, 'Not Found');
    const facts = { accountId: stack.account, apiId: api.apiId, requestId, match, path, query, body: body.bytes };
    return await integrate(match, buildEvent(request, facts));
  }

  async function integrate(match: RouteMatch, event: unknown): Promise<Answer> {
    const timeout = Promise.withResolvers<Answer>();
    const unavailable = messageAnswer(503, 'Service Unavailable');
    const timer = setTimeout(() => timeout.resolve(unavailable), integrationSeconds * 1000);
    try {
      return await Promise.race([invoke(match, event), timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function invoke(match: RouteMatch, event: unknown): Promise<Answer> {
    try {
      const result = await runtime.invoke(match.function, event);
      return readAnswer(result) ?? messageAnswer(500, 'Internal Server Error');
    } catch (error) {
      const tooLarge = error instanceof FunctionError && error.errorType === 'RequestTooLargeException';
      return tooLarge ? messageAnswer(413, 'Request Entity Too Large') : messageAnswer(500, 'Internal Server Error');
    }
  }

  return {
    async handle(request, response) {
      // A client that goes away is no fault of this service.
      request.on('error', () => {});
      response.on('error', () => {});
      const requestId = randomBytes(11).toString('base64');
      const given = await answer(request, requestId);
      if (given === 'aborted' || response.destroyed) return;
      const { origin } = request.headers;
      const added = {
        'apigw-requestid': requestId,
        ...(api.cors && !isPreflight(request) && answerHeaders(api.cors, origin)),
      };
      if (api.cors && !isPreflight(request)) dropCorsHeaders(given);
      try {
        send(request, response, given, added);
      } catch {
        // A header of the function's answer cannot be sent.
        send(request, response, messageAnswer(500, 'Internal Server Error'), added);
      }
    },
  };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer, added: Record<string, string>): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  for (const [name, value] of Object.entries({ ...answer.headers, ...added })) response.setHeader(name, value);
  if (answer.headers.vary && added.vary) response.setHeader('vary', `${answer.headers.vary}, ${added.vary}`);
  if (answer.cookies.length > 0) response.setHeader('set-cookie', answer.cookies);
  const bodiless = answer.status === 204 || answer.status === 304;
  if (!bodiless) response.setHeader('content-length', answer.body.length);
  response.statusCode = answer.status;
  if (answer.status === 413 && !request.complete) {
    response.setHeader('connection', 'close');
    response.write(answer.body);
    linger(request, response);
  } else {
    response.end(bodiless ? undefined : answer.body);
  }
}

/** Lets the client read the answer before the connection is cut under what it still sends. */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const finish = () => {
    clearTimeout(timer);
    response.end();
    request.destroy();
  };
  const timer = setTimeout(finish, LINGER_MILLISECONDS);
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}

function dropCorsHeaders(answer: Answer): void {
  // With CORS configured, API Gateway ignores what the integration says about it.
  for (const name of Object.keys(answer.headers)) {
    if (name.startsWith('access-control-')) delete answer.headers[name];
  }
}

function headerBytes(request: IncomingMessage): number {
  const line = (request.method ?? '').length + (request.url ?? '').length + 'HTTP/1.1'.length + 4;
  return request.rawHeaders.reduce((sum, part) => sum + Buffer.byteLength(part, 'latin1') + 2, line);
}

function splitUrl(url: string): { path: string; query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '') || '/';
  const mark = target.indexOf('?');
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
