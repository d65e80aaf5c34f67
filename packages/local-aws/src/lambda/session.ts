import type { IncomingMessage, ServerResponse } from 'node:http';
import { FunctionError } from './function-error.ts';
import type { Invocation } from './invocation.ts';
import { payloadLimitBytes, responseTooLarge, streamLimitBytes } from './payload.ts';
import type { RuntimeCall } from './runtime-api.ts';

export interface SessionEvents {
  ready(): void;
  /** The process could not start. */
  failed(error: FunctionError): void;
  /** An invocation has ended; the process is about to request the next. */
  responded(): void;
}

type State = 'starting' | 'waiting' | 'running' | 'responding' | 'responded';

const allowed: Record<RuntimeCall['type'], State[]> = {
  next: ['starting', 'responded'],
  'init/error': ['starting'],
  response: ['running'],
  error: ['running'],
};

/** The conversation with one process over the Runtime API, in the order that Lambda requires. */
export class RuntimeSession {
  readonly #functionArn: string;
  readonly #events: SessionEvents;
  #state: State = 'starting';
  #next: ServerResponse | undefined;
  #invocation: Invocation | undefined;

  constructor(functionArn: string, events: SessionEvents) {
    this.#functionArn = functionArn;
    this.#events = events;
  }

  get starting(): boolean {
    return this.#state === 'starting';
  }

  /** Whether an invocation is in progress. */
  get busy(): boolean {
    return this.#invocation !== undefined;
  }

  /** Passes an invocation to the waiting process. */
  start(invocation: Invocation, deadline: number): void {
    const next = this.#next;
    if (!next) throw new Error(`Expected a process that waits but received one that is ${this.#state}`);
    this.#next = undefined;
    this.#invocation = invocation;
    this.#state = 'running';
    next
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': invocation.requestId,
        'lambda-runtime-deadline-ms': String(deadline),
        'lambda-runtime-invoked-function-arn': this.#functionArn,
        ...(invocation.trace === undefined ? {} : { 'lambda-runtime-trace-id': invocation.trace }),
        ...(invocation.tenantId === undefined ? {} : { 'lambda-runtime-aws-tenant-id': invocation.tenantId }),
      })
      .end(invocation.event);
  }

  /** Fails the current invocation, because the process is lost. */
  lose(error: FunctionError): void {
    this.#invocation?.fail(error);
    this.#invocation = undefined;
  }

  handle(call: RuntimeCall, req: IncomingMessage, res: ServerResponse): void {
    // The exit of a process during a call is reported elsewhere.
    this.#dispatch(call, req, res).catch(() => res.destroy());
  }

  async #dispatch(call: RuntimeCall, req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!allowed[call.type].includes(this.#state)) {
      const message = `The call ${call.type} is not allowed while the runtime is ${this.#state}`;
      refuse(res, 403, 'InvalidStateTransition', message);
    } else if (call.type === 'next') {
      this.#state = 'waiting';
      this.#next = res;
      this.#events.ready();
    } else if (call.type === 'init/error') {
      this.#events.failed(await takeError(req));
      accept(res);
    } else if (call.requestId === this.#invocation?.requestId) {
      await this.#takeEnd(this.#invocation, call.type, req, res);
    } else {
      refuse(res, 400, 'InvalidRequestID', 'Invalid request ID');
    }
  }

  async #takeEnd(invocation: Invocation, type: 'response' | 'error', req: IncomingMessage, res: ServerResponse) {
    this.#state = 'responding';
    const limit = isStreaming(req) ? streamLimitBytes : payloadLimitBytes;
    let accepted = true;
    if (type === 'error') invocation.fail(await takeError(req));
    else if (isStreaming(req)) accepted = await takeStream(invocation, req, limit);
    else accepted = await takeResponse(invocation, req, limit);
    this.#invocation = undefined;
    this.#state = 'responded';
    this.#events.responded();
    if (accepted) accept(res);
    else refuse(res, 413, 'RequestEntityTooLarge', `Exceeded maximum allowed payload size (${limit} bytes).`);
  }
}

async function takeError(req: IncomingMessage): Promise<FunctionError> {
  const body = await readBody(req, payloadLimitBytes);
  const { errorType, errorMessage } = parseError(body?.toString() ?? '');
  const named = req.headers['lambda-runtime-function-error-type'];
  return new FunctionError(typeof named === 'string' ? named : (errorType ?? 'Runtime.Unknown'), errorMessage);
}

async function takeResponse(invocation: Invocation, req: IncomingMessage, limit: number): Promise<boolean> {
  const body = await readBody(req, limit);
  if (!body) {
    invocation.fail(responseTooLarge(limit));
    return false;
  }
  const chunks = invocation.begin();
  void chunks.write(body);
  chunks.end();
  return true;
}

async function takeStream(invocation: Invocation, req: IncomingMessage, limit: number): Promise<boolean> {
  const chunks = invocation.begin();
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size <= limit) await chunks.write(chunk);
    else chunks.end(responseTooLarge(limit));
  }
  const { 'lambda-runtime-function-error-type': type, 'lambda-runtime-function-error-body': body = '' } = req.trailers;
  chunks.end(type ? new FunctionError(type, parseError(decode(body)).errorMessage) : undefined);
  return size <= limit;
}

/** Reads a whole body, or nothing if it exceeds the limit. */
async function readBody(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  return size <= limit ? Buffer.concat(chunks) : undefined;
}

function parseError(text: string): { errorType: string | undefined; errorMessage: string } {
  try {
    const { errorType, errorMessage } = Object(JSON.parse(text));
    return {
      errorType: typeof errorType === 'string' ? errorType : undefined,
      errorMessage: typeof errorMessage === 'string' ? errorMessage : text,
    };
  } catch {
    return { errorType: undefined, errorMessage: text };
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

function isStreaming(req: IncomingMessage): boolean {
  return req.headers['lambda-runtime-function-response-mode'] === 'streaming';
}

function accept(res: ServerResponse): void {
  res.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}\n');
}

function refuse(res: ServerResponse, status: number, errorType: string, errorMessage: string): void {
  res.req.resume();
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ errorMessage, errorType }));
}
