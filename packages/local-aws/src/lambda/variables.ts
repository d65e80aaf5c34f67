import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FunctionCode, LocalFunction } from '../template/model.ts';

const inherited = ['PATH', 'HOME', 'LANG', 'TZ'];

export interface Placement {
  code: FunctionCode;
  /** The function's own variables, credentials and endpoints. */
  given: Record<string, string>;
  /** Host, port and path of the Runtime API. */
  runtimeApi: string;
  /** The environment's temporary folder. */
  folder: string;
}

/** Builds all variables of an environment: the function's own, and those that Lambda adds. */
export function variablesFor(fn: LocalFunction, { code, given, runtimeApi, folder }: Placement) {
  const region = fn.arn.split(':')[3] ?? '';
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
  return {
    ...Object.fromEntries(
      inherited.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
    ),
    ...given,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: fn.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMegabytes),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${fn.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: `${day}/[$LATEST]${randomUUID().replaceAll('-', '')}`,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    LAMBDA_TASK_ROOT: code.root,
    _HANDLER: code.handler,
    TMPDIR: folder,
    // Explicit, because Node's default is the temporary folder. The cache halves the time to load a function.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
  };
}
