import { enableCompileCache, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import { FunctionError } from './function-error.ts';
import { encodeResult } from './payload.ts';
import type { FunctionDescription, Invocation, Report } from './protocol.ts';

export interface Port {
  /** Calls back once the report has left this environment. */
  send(report: Report, sent?: () => void): void;
  receive(take: (invocation: Invocation) => void): void;
}

type Handler = (event: unknown, context: Partial<Context>) => unknown;

/** Loads a function's handler and runs the invocations that arrive through the port. */
export async function serve(description: FunctionDescription, port: Port): Promise<void> {
  process.on('uncaughtException', (error) => die(port, errorTypeOf(error), error));
  process.on('unhandledRejection', (reason) => die(port, 'Runtime.UnhandledPromiseRejection', reason));
  let handler: Handler;
  try {
    handler = await load(description);
  } catch (error) {
    die(port, error instanceof FunctionError ? error.errorType : 'Runtime.ImportModuleError', error);
    return;
  }
  port.receive((invocation) => void run(handler, description, invocation, port));
  port.send({ type: 'ready' });
}

async function load({ entry, handler: name, compileCache }: FunctionDescription): Promise<Handler> {
  enableCompileCache(compileCache);
  const module: Record<string, unknown> = await import(pathToFileURL(entry).href);
  // Node writes the cache at an orderly exit, which an environment never has.
  setImmediate(flushCompileCache);
  const handler = module[name];
  if (typeof handler !== 'function') {
    throw new FunctionError('Runtime.HandlerNotFound', `${name} is undefined or not exported by ${entry}`);
  }
  return (event, context) => handler(event, context);
}

async function run(handler: Handler, description: FunctionDescription, invocation: Invocation, port: Port) {
  const { requestId } = invocation;
  try {
    const result = await handler(JSON.parse(invocation.event), contextOf(description, invocation));
    port.send({ type: 'result', requestId, payload: encodeResult(result) });
  } catch (error) {
    process.stderr.write(`${requestId} ERROR Invoke Error ${describe(error)}\n`);
    port.send({ type: 'error', requestId, errorType: errorTypeOf(error), message: messageOf(error) });
  }
}

function contextOf(description: FunctionDescription, { requestId, deadline }: Invocation): Partial<Context> {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: description.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: description.arn,
    memoryLimitInMB: String(description.memoryMegabytes),
    awsRequestId: requestId,
    logGroupName: description.logGroupName,
    logStreamName: description.logStreamName,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function die(port: Port, errorType: string, error: unknown): void {
  process.stderr.write(`ERROR ${errorType} ${describe(error)}\n`);
  port.send({ type: 'fatal', errorType, message: messageOf(error) }, () => process.exit(1));
}

function errorTypeOf(error: unknown): string {
  if (error instanceof FunctionError) return error.errorType;
  return error instanceof Error ? error.name : typeof error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
