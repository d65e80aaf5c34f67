import { flushCompileCache } from 'node:module';
import type { Context } from 'aws-lambda';
import { closeInherited } from './close-inherited.ts';
import { describeError, type ErrorReport, RuntimeError, reportOf } from './errors.ts';
import { defineStreamifyResponse, type Handler, loadHandler } from './handler.ts';
import { parseJson } from './parse-json.ts';
import { type Invocation, type ResponseStream, RuntimeApi } from './runtime-api.ts';

/** The entry point of a function's process, in Lambda and locally: runs the handler for one invocation at a time. */
closeInherited();
const api = new RuntimeApi(variable('AWS_LAMBDA_RUNTIME_API'));
/** Reports a failure to the caller that currently waits, if any. */
let reportFailure: ((report: ErrorReport) => Promise<void>) | undefined = (report) => api.failStart(report);

process.on('uncaughtException', (error) => void die(error));
process.on('unhandledRejection', (reason) => void die(reason, 'Runtime.UnhandledPromiseRejection'));
defineStreamifyResponse();
await serve();

async function serve(): Promise<void> {
  let handler: Handler;
  try {
    handler = await loadHandler(variable('LAMBDA_TASK_ROOT'), variable('_HANDLER'));
  } catch (error) {
    await die(error, loadingErrorType(error));
    return;
  }
  for (let first = true; ; first = false) {
    reportFailure = undefined;
    const invocation = await api.next();
    // The SDK reads it from there.
    process.env._X_AMZN_TRACE_ID = invocation.trace ?? '';
    if (handler.mode === 'streaming') await runStreaming(handler.call, invocation);
    else await run(handler.call, invocation);
    // Node would write the cache on a normal exit, which this process never has. By now it also holds what the first
    // invocation compiled, and no caller waits.
    if (first) flushCompileCache();
  }
}

async function run(call: Call<'buffered'>, invocation: Invocation): Promise<void> {
  const { requestId } = invocation;
  reportFailure = (report) => api.fail(requestId, report);
  let payload: string;
  try {
    payload = JSON.stringify(await call(parseJson(invocation.event), contextOf(invocation))) ?? 'null';
  } catch (error) {
    logFailure(requestId, error);
    await api.fail(requestId, reportOf(error));
    return;
  }
  await api.respond(requestId, payload);
}

async function runStreaming(call: Call<'streaming'>, invocation: Invocation): Promise<void> {
  const { requestId } = invocation;
  const stream = api.stream(requestId);
  reportFailure = (report) => failStream(stream, requestId, report);
  // `accepted` reports a failure of the stream. Without a listener, the failure would end the process.
  stream.on('error', () => {});
  try {
    await call(parseJson(invocation.event), stream, contextOf(invocation));
    if (!stream.writableEnded) {
      throw new RuntimeError('Runtime.StreamNotEnded', 'The handler returned without ending its response stream');
    }
  } catch (error) {
    logFailure(requestId, error);
    await failStream(stream, requestId, reportOf(error));
    return;
  }
  await stream.accepted();
}

/** Reports a failure while the response can still carry it: before its first byte, or after its last. */
async function failStream(stream: ResponseStream, requestId: string, report: ErrorReport): Promise<void> {
  if (stream.writableEnded) await stream.accepted();
  else if (stream.begun) await stream.fail(report);
  else await api.fail(requestId, report);
}

type Call<Mode extends Handler['mode']> = Extract<Handler, { mode: Mode }>['call'];

function contextOf({ requestId, functionArn, deadline, tenantId }: Invocation): Partial<Context> {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: variable('AWS_LAMBDA_FUNCTION_NAME'),
    functionVersion: variable('AWS_LAMBDA_FUNCTION_VERSION'),
    invokedFunctionArn: functionArn,
    memoryLimitInMB: variable('AWS_LAMBDA_FUNCTION_MEMORY_SIZE'),
    awsRequestId: requestId,
    tenantId,
    logGroupName: variable('AWS_LAMBDA_LOG_GROUP_NAME'),
    logStreamName: variable('AWS_LAMBDA_LOG_STREAM_NAME'),
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

/** Reports a fatal error, and exits. */
async function die(error: unknown, errorType?: string): Promise<void> {
  const report = reportOf(error, errorType);
  process.stderr.write(`ERROR ${report.errorType} ${describeError(error)}\n`);
  try {
    await reportFailure?.(report);
  } finally {
    process.exit(1);
  }
}

function loadingErrorType(error: unknown): string | undefined {
  if (error instanceof RuntimeError) return undefined;
  return error instanceof SyntaxError ? 'Runtime.UserCodeSyntaxError' : 'Runtime.ImportModuleError';
}

function logFailure(requestId: string, error: unknown): void {
  process.stderr.write(`${requestId} ERROR Invoke Error ${describeError(error)}\n`);
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Expected a value for ${name} but received none`);
  return value;
}
