import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import type { LocalFunction } from '../template/model.ts';
import type { FunctionDescription } from './protocol.ts';

const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'FONTCONFIG_FILE'];

/** Describes a function to the bootstrap that loads it, with a log stream of this environment's own. */
export function describeFunction(fn: LocalFunction): FunctionDescription {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  return {
    name: fn.name,
    arn: fn.arn,
    entry: fn.entry,
    handler: fn.handler,
    memoryMegabytes: fn.memoryMegabytes,
    logGroupName: `/aws/lambda/${fn.name}`,
    logStreamName: `${day}/[$LATEST]${randomUUID().replaceAll('-', '')}`,
    // Named here because a process has a temporary folder of its own, which is Node's default.
    compileCache: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
  };
}

/** Builds the whole environment of a function: what it was given, and what Lambda adds to it. */
export function environmentFor(
  fn: LocalFunction,
  description: FunctionDescription,
  given: Record<string, string>,
): Record<string, string> {
  const region = fn.arn.split(':')[3] ?? '';
  return {
    ...Object.fromEntries(
      INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
    ),
    ...given,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: fn.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMegabytes),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: description.logGroupName,
    AWS_LAMBDA_LOG_STREAM_NAME: description.logStreamName,
    LAMBDA_TASK_ROOT: dirname(fn.entry),
    _HANDLER: `${basename(fn.entry, extname(fn.entry))}.${fn.handler}`,
  };
}
