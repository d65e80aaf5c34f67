import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventStreamCodec } from '@smithy/core/event-streams';
import type { RequiredAction } from '../iam/refusal.ts';
import { Refusal } from '../iam/refusal.ts';
import type { Query } from '../iam/signature.ts';
import type { LocalStack } from '../template/model.ts';
import { FunctionError } from './function-error.ts';
import { isJson } from './is-json.ts';
import type { LocalRuntime } from './runtime.ts';

/** The part of the runtime that callers can use. */
export type InvokableFunctions = Pick<LocalRuntime, 'invoke' | 'invokeStream'>;

interface Call {
  /** Path relative to the service's root. */
  path: string;
  query: Query;
  body: Buffer;
}

/** Headers whose effects are not supported here. */
const unsupportedHeaders = ['x-amz-client-context', 'x-amz-durable-execution-name'];

/** Handles `Invoke` and `InvokeWithResponseStream`. */
export async function invokeFunction(
  stack: LocalStack,
  functions: InvokableFunctions | undefined,
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
  authorise: (need: RequiredAction) => void,
): Promise<void> {
  const { name, streaming } = readTarget(req, call);
  const arn = `arn:aws:lambda:${stack.region}:${stack.account}:function:${name}`;
  authorise({ action: 'lambda:InvokeFunction', resource: arn });
  const fn = stack.functions.find((candidate) => candidate.arn === arn);
  if (!fn) {
    respondError(res, 404, 'ResourceNotFoundException', `Function not found: ${arn}`);
    return;
  }
  if (!functions) throw new Error('The functions are not up yet.');
  const event = call.body.length === 0 ? {} : call.body;
  // Only checked: encoding an event of megabytes again would take longer than the rest of the call.
  if (call.body.length > 0 && !isJson(call.body)) {
    respondError(res, 400, 'InvalidRequestContentException', 'Could not parse request body into json.');
    return;
  }
  res.setHeader('x-amz-executed-version', '$LATEST');
  const caller = {
    tenantId: req.headers['x-amz-tenant-id']?.toString(),
    traces: [req.headers['x-amzn-trace-id']?.toString()],
  };
  if (streaming) await respondStream(() => functions.invokeStream(fn, event, caller), res);
  else await respondWhole(() => functions.invoke(fn, event, caller), res);
}

function readTarget(req: IncomingMessage, { path, query }: Call): { name: string; streaming: boolean } {
  const [, version, marker, encodedName = '', operation, ...rest] = path.split('/');
  const target = `${req.method} ${version} ${operation}`;
  const streaming = target === 'POST 2021-11-15 response-streaming-invocations';
  const known = streaming || target === 'POST 2015-03-31 invocations';
  if (!known || marker !== 'functions' || rest.length > 0) {
    throw new Refusal('unsupported', 'The request does not name an operation of Lambda that is supported here.');
  }
  const header = unsupportedHeaders.find((each) => req.headers[each] !== undefined);
  const type = req.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  const log = req.headers['x-amz-log-type'] ?? 'None';
  if (query.pairs.length > 0 || header || type !== 'RequestResponse' || log !== 'None') {
    throw new Refusal('unsupported', 'Only synchronous invocations of the latest version are supported here.');
  }
  // A function is identified by name, ARN or partial ARN. An ARN with a version has one segment more.
  const parts = decodeURIComponent(encodedName).split(':');
  if (![1, 3, 7].includes(parts.length)) {
    throw new Refusal('unsupported', 'Only invocations of the latest version are supported here.');
  }
  return { name: parts.at(-1) ?? '', streaming };
}

async function respondWhole(invoke: () => ReturnType<InvokableFunctions['invoke']>, res: ServerResponse) {
  let payload: string;
  try {
    payload = JSON.stringify(await invoke());
  } catch (error) {
    const { errorType, message } = asFunctionError(error);
    if (isRefused(errorType)) return respondRefusal(res, errorType, message);
    res.setHeader('x-amz-function-error', 'Unhandled');
    payload = JSON.stringify({ errorType, errorMessage: message });
  }
  res.setHeader('content-type', 'application/json').end(payload);
}

/** Streams the response, and lets the function continue if the caller leaves. */
async function respondStream(invoke: () => ReturnType<InvokableFunctions['invokeStream']>, res: ServerResponse) {
  let end: Record<string, string> = {};
  try {
    const { chunks } = await invoke();
    begin(res);
    for await (const chunk of chunks) {
      if (res.destroyed) return;
      if (!res.write(encode('PayloadChunk', 'application/octet-stream', chunk))) await writable(res);
    }
  } catch (error) {
    const { errorType, message } = asFunctionError(error);
    if (isRefused(errorType)) return respondRefusal(res, errorType, message);
    begin(res);
    end = { ErrorCode: errorType, ErrorDetails: JSON.stringify({ errorType, errorMessage: message }) };
  }
  res.end(encode('InvokeComplete', 'application/json', Buffer.from(JSON.stringify(end))));
}

function begin(res: ServerResponse): void {
  if (res.headersSent) return;
  res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
  res.flushHeaders();
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
);

function encode(type: string, contentType: string, body: Uint8Array): Uint8Array {
  return codec.encode({
    headers: {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: contentType },
    },
    body,
  });
}

/** Waits until the caller can receive more, or has left. */
function writable(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}

function asFunctionError(error: unknown): FunctionError {
  if (error instanceof FunctionError) return error;
  throw error;
}

/** Statuses of invocations that reach no function. */
const refusals: Record<string, number> = {
  InvalidParameterValueException: 400,
  RecursiveInvocationException: 400,
  RequestTooLargeException: 413,
  TooManyRequestsException: 429,
  ValidationException: 400,
};

function isRefused(errorType: string): boolean {
  return errorType in refusals;
}

function respondRefusal(res: ServerResponse, errorType: string, message: string): void {
  respondError(res, refusals[errorType] ?? 500, errorType, message);
}

function respondError(res: ServerResponse, status: number, errorType: string, message: string): void {
  res.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': errorType });
  res.end(JSON.stringify({ Type: 'User', Message: message }));
}
