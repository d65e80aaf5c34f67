import { setTimeout as wait } from 'node:timers/promises';
import {
  InvokeWithResponseStreamCommand,
  type InvokeWithResponseStreamCommandOutput,
  LambdaClient,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { required } from '../../../../shared/settings.ts';
import type { EngineRequest, EngineResponse } from '../protocol.ts';
import { parseResponse } from './parse-response.ts';
import { TaskError } from './worker.ts';

/** Lambda's limit for the event of an invocation. */
const maxRequestBytes = 6 * 1024 * 1024;
/** Far more than the longest result that fits a record. */
const maxLineBytes = 4 * 1024 * 1024;
const firstBackoffMs = 200;
const maxBackoffMs = 5_000;

/** One attempt: a second invocation would work on the same files while the first may still be running. */
const client = new LambdaClient({ maxAttempts: 1 });

/** Invokes the engine and yields its response, line by line, while it works; the signal ends the wait for a free one only. */
export async function* invokeEngine(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineResponse> {
  const payload = Buffer.from(JSON.stringify(request));
  if (payload.length > maxRequestBytes)
    throw new TaskError({
      errorCode: 'processing_failed',
      msg: `The input has ${request.inputs.length.toLocaleString('en')} files, which are too many for one task. Split them across several tasks.`,
    });
  const { EventStream } = await invoke(payload, signal);
  if (!EventStream) throw new Error('Lambda responded without a stream.');
  const events = EventStream[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const { PayloadChunk, InvokeComplete } = next.value;
      if (InvokeComplete?.ErrorCode)
        throw new Error(`The engine failed: ${InvokeComplete.ErrorCode} ${InvokeComplete.ErrorDetails ?? ''}`);
      const lines = (rest + decoder.decode(PayloadChunk?.Payload, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineBytes) throw new Error('The engine sent a line without an end.');
      for (const line of lines) yield parseResponse(line);
    }
    if (rest !== '') throw new Error('The engine ended in the middle of a line.');
  } finally {
    void readToEnd(events);
  }
}

/** Reads what the caller has no more use for: a response that is not read keeps its connection, of which a client has 50. */
async function readToEnd(events: AsyncIterator<unknown>): Promise<void> {
  try {
    while (!(await events.next()).done);
  } catch {
    // A connection that broke is free, too.
  }
}

/** Invokes the engine as soon as one of its environments is free: Lambda refuses more than the account may have. */
async function invoke(payload: Buffer, signal: AbortSignal): Promise<InvokeWithResponseStreamCommandOutput> {
  const command = new InvokeWithResponseStreamCommand({
    FunctionName: required('LATHE_ENGINE_FUNCTION'),
    Payload: payload,
  });
  for (let backoffMs = firstBackoffMs; ; backoffMs = Math.min(maxBackoffMs, backoffMs * 2)) {
    try {
      return await client.send(command);
    } catch (error) {
      if (!(error instanceof TooManyRequestsException)) throw error;
      await wait(Math.random() * backoffMs, undefined, { signal });
    }
  }
}
