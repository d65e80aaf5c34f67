import { randomUUID } from 'node:crypto';
import {
  InvokeWithResponseStreamCommand,
  type InvokeWithResponseStreamCommandOutput,
  type InvokeWithResponseStreamResponseEvent,
  LambdaClient,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { functionVariable } from '../../shared/aws/queues.ts';
import { backoff, retry } from '../../shared/retry.ts';
import { required } from '../../shared/settings.ts';
import type { EngineRequest, EngineResponse } from '../engines/runtime/protocol.ts';
import { BrokenRun, NoEngineFree, TaskError } from './errors.ts';
import { base64Length, invalidResponse, maxLineCharacters, parseResponse, responseLimits } from './parse-response.ts';

/** Lambda's limit for the event of an invocation. */
const maxRequestBytes = 6 * 1024 * 1024;
/** Maximum size of the rest after the result. A correct engine sends nothing but the end of its response. */
const maxRestBytes = 64 * 1024;
/**
 * How long a refused invocation is retried before the task returns to its queue. A worker that kept waiting would occupy the
 * concurrency that its engine needs.
 */
const maxRefusedMs = 3_000;
const firstBackoffMs = 200;
const maxBackoffMs = 1_000;

/** Each part of a split run occupies a connection as long as its engine runs. The default is 50. */
const maxSockets = 500;

/** One attempt: a second invocation would work on the same files while the first may still be running. */
const client = new LambdaClient({
  maxAttempts: 1,
  requestHandler: { httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
});

/**
 * Invokes the engine and yields its response line by line. The signal only aborts the retries of a refused invocation;
 * `connection` aborts the response.
 */
export async function* invokeEngine(
  engine: string,
  request: EngineRequest<Uint8Array>,
  signal: AbortSignal,
  connection = new AbortController(),
): AsyncGenerator<EngineResponse> {
  const payload = encode(request);
  if (payload.length > maxRequestBytes)
    throw new TaskError({
      errorCode: 'processing_failed',
      msg: `The input has ${request.inputs.length.toLocaleString('en')} files, which are too many for one task. Split them across several tasks.`,
    });
  const began = performance.now();
  const { EventStream } = await invoke(engine, payload, request.tenant, signal, connection.signal);
  if (!EventStream) throw new Error('Lambda responded without a stream.');
  const events = EventStream[Symbol.asyncIterator]();
  try {
    for await (const line of linesOf(events, maxLineCharacters(request)))
      yield parseResponse(line, { ...request, elapsedMs: performance.now() - began });
  } catch (error) {
    connection.abort();
    throw error;
  } finally {
    void readToEnd(events, connection);
  }
}

type Events = AsyncIterator<InvokeWithResponseStreamResponseEvent>;

/**
 * Bytes of a file that are encoded at once. Divisible by three, as base64 requires. V8 puts longer strings where they stay until it
 * collects all garbage, and a string of a megabyte takes several times as long.
 */
const sliceBytes = 48 * 1024;

/** Encodes a request. Base64 needs no escaping, so contents of megabytes are not searched for characters that do. */
function encode(request: EngineRequest<Uint8Array>): Buffer {
  const place = randomUUID();
  const contents = request.inputs.flatMap((input) => ('content' in input ? [bufferOf(input.content)] : []));
  const inputs = request.inputs.map((input) => ('content' in input ? { ...input, content: place } : input));
  const texts = JSON.stringify({ ...request, inputs })
    .split(place)
    .map((text) => Buffer.from(text));
  const textBytes = texts.reduce((sum, { length }) => sum + length, 0);
  const encoded = Buffer.allocUnsafe(contents.reduce((sum, { length }) => sum + base64Length(length), textBytes));
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += text.copy(encoded, end);
    const content = contents[index];
    for (let from = 0; content && from < content.length; from += sliceBytes)
      end += encoded.write(content.toString('base64', from, from + sliceBytes), end, 'latin1');
  }
  return encoded;
}

/** Returns bytes as a buffer, without a copy of them. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Yields the lines of a response, and throws if there are more or longer lines than a correct engine sends. */
async function* linesOf(events: Events, maxCharacters: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [bytes, lines, rest] = [0, 0, ''];
  for (let next = await events.next(); !next.done; next = await events.next()) {
    const { PayloadChunk, InvokeComplete } = next.value;
    if (InvokeComplete?.ErrorCode)
      throw new BrokenRun(
        `The engine failed: ${InvokeComplete.ErrorCode} ${InvokeComplete.ErrorDetails ?? ''}`.slice(
          0,
          responseLimits.logCharacters,
        ),
      );
    bytes += PayloadChunk?.Payload?.length ?? 0;
    if (bytes > responseLimits.bytes) throw invalidResponse(`Received more than ${responseLimits.bytes} bytes.`);
    for (const [index, part] of decoder.decode(PayloadChunk?.Payload, { stream: true }).split('\n').entries()) {
      if (index > 0) {
        lines += 1;
        if (lines > responseLimits.lines) throw invalidResponse(`Received more than ${responseLimits.lines} lines.`);
        yield rest;
        rest = '';
      }
      rest += part;
      if (rest.length > maxCharacters)
        throw invalidResponse(`Received a line of more than ${maxCharacters} characters.`);
    }
  }
  if (rest !== '') throw new BrokenRun('The engine ended in the middle of a line.');
}

/**
 * Reads the rest of a response, because an unread response occupies one of the client's connections. Closes the connection if
 * the rest is too long.
 */
async function readToEnd(events: Events, connection: AbortController): Promise<void> {
  try {
    let bytes = 0;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      bytes += next.value.PayloadChunk?.Payload?.length ?? 0;
      if (bytes > maxRestBytes) connection.abort();
    }
  } catch {
    // A broken connection is free as well.
  }
}

/** Invokes the engine, with retries if Lambda refuses because the account's concurrency is used up. */
async function invoke(
  engine: string,
  payload: Buffer,
  tenant: string,
  signal: AbortSignal,
  connection: AbortSignal,
): Promise<InvokeWithResponseStreamCommandOutput> {
  const command = new InvokeWithResponseStreamCommand({
    FunctionName: required(functionVariable(engine)),
    Payload: payload,
    // Lambda refuses a tenant for functions without tenant isolation.
    ...(process.env.LATHE_SINGLE_TENANT === 'true' ? {} : { TenantId: tenant }),
  });
  const end = Date.now() + maxRefusedMs;
  return retry(
    () => client.send(command, { abortSignal: connection }),
    (error, attempt) => {
      if (!(error instanceof TooManyRequestsException)) throw error;
      if (Date.now() >= end) throw new NoEngineFree(error.message, { cause: error });
      return backoff(attempt, firstBackoffMs, maxBackoffMs);
    },
    signal,
  );
}
