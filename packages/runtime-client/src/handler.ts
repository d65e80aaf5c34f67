import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import { RuntimeError } from './errors.ts';

type BufferedHandler = (event: unknown, context: Partial<Context>) => unknown;
type StreamingHandler = (event: unknown, responseStream: Writable, context: Partial<Context>) => unknown;

/** A function's handler, by response mode. */
export type Handler = { mode: 'buffered'; call: BufferedHandler } | { mode: 'streaming'; call: StreamingHandler };

/** The mark by which Lambda's managed runtime recognizes streaming handlers. */
const streamingMark = Symbol.for('aws.lambda.runtime.handler.streaming');
const extensions = ['.mjs', '.js', '.ts'];

/** Defines the global with which handlers mark themselves, as the managed runtime does. */
export function defineStreamifyResponse(): void {
  const streamifyResponse = <Marked extends StreamingHandler>(handler: Marked): Marked =>
    Object.assign(handler, { [streamingMark]: 'response' });
  Object.assign(globalThis, { awslambda: { streamifyResponse } });
}

/** Loads a handler by a name such as `functions/engines/image/handler.handler`, relative to the task root. */
export async function loadHandler(root: string, name: string): Promise<Handler> {
  const dot = name.lastIndexOf('.');
  const [module, property] = [name.slice(0, dot), name.slice(dot + 1)];
  if (dot < 1 || property === '') {
    throw new RuntimeError('Runtime.MalformedHandlerName', `Expected module.export for _HANDLER but received ${name}`);
  }
  const path = extensions.map((extension) => resolve(root, `${module}${extension}`)).find((each) => existsSync(each));
  if (path === undefined) {
    throw new RuntimeError('Runtime.ImportModuleError', `Cannot find module '${module}' in ${root}`);
  }
  const exports: Record<string, unknown> = await import(pathToFileURL(path).href);
  const call = exports[property];
  if (typeof call !== 'function') {
    throw new RuntimeError('Runtime.HandlerNotFound', `${name} is undefined or not exported`);
  }
  return streamingMark in call
    ? { mode: 'streaming', call: (event, stream, context) => call(event, stream, context) }
    : { mode: 'buffered', call: (event, context) => call(event, context) };
}
