import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { filesAtOnce } from '../../../shared/tasks/limits.ts';
import { EngineError, type InputFile, type Work, type WorkContext, type WorkResult } from './engine.ts';
import { Outputs } from './outputs.ts';
import type { EngineRequest, EngineResponse } from './protocol.ts';
import { fetchFile, postFile } from './remote-files.ts';
import { watchRun } from './run-watch.ts';
import { Sandbox } from './sandbox/sandbox.ts';

/** Memory that the function itself needs in addition to the engine's. */
const ownMemoryBytes = 200 * 1024 * 1024;

/**
 * Returns the Lambda handler of an engine: it fetches files by their URLs, runs the engine in its sandbox and posts the
 * outputs. `network` is for engines whose programs load something themselves.
 */
export function engineHandler(module: URL, { network = false }: { network?: boolean } = {}) {
  const memoryBytes = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? 2048) * 1024 * 1024 - ownMemoryBytes;
  const sandbox = new Sandbox({ module, memoryBytes, network });
  sandbox.warm();
  return awslambda.streamifyResponse(async (request: EngineRequest, stream) => {
    const send = (response: EngineResponse) => stream.write(`${JSON.stringify(response)}\n`);
    await inOwnFolder(sandbox, request.tenant, async (folder) => send(await respond(request, sandbox, folder, send)));
    // The worker goes on meanwhile. An engine that is frozen before would settle when the next work waits for it.
    await sandbox.settled();
    await new Promise<void>((resolve) => stream.end(resolve));
  });
}

/** Runs work with an empty folder, which is deleted at its end. */
async function inOwnFolder<T>(sandbox: Sandbox, tenant: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = sandbox.prepare(tenant);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function respond(
  request: EngineRequest,
  sandbox: Sandbox,
  folder: string,
  send: (response: EngineResponse) => void,
): Promise<EngineResponse> {
  const { taskId, jobId, attempt } = request;
  const logger = new Logger({ serviceName: 'lathe', persistentKeys: { taskId, jobId, attempt } });
  const watch = watchRun(request, logger);
  // A sandbox that does not start says so by the run.
  const reported = sandbox.barriers().then(
    (barriers) => send({ type: 'isolation', barriers }),
    () => {},
  );
  let engineMs = 0;
  try {
    const work = await workOf(request, folder, watch.signal);
    const context: WorkContext = {
      signal: watch.signal,
      progress: (percent) => send({ type: 'progress', percent }),
      log: (message, details) => logger.info(message, details ?? {}),
    };
    const began = performance.now();
    const result = await sandbox.run(work, context, request.tenant).finally(() => {
      engineMs = Math.ceil(performance.now() - began);
    });
    const stored = await store(request, work, result, watch.signal);
    logger.info('stored the outputs', { outputs: result.outputs.length, engineMs });
    return { ...stored, engineMs };
  } catch (error) {
    if (error instanceof EngineError) {
      logger.info('refused the work', { reason: error.message });
      return { type: 'refused', msg: error.message, detail: error.detail, engineMs };
    }
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    logger.warn('the run broke off', { error: message });
    return { type: 'broken', message };
  } finally {
    watch.stop();
    await reported;
  }
}

async function workOf(request: EngineRequest, folder: string, signal: AbortSignal): Promise<Work> {
  const { operation, page, outputFormat, options, maxOutputBytes, deadline } = request;
  await mkdir(join(folder, 'in'));
  const inputs = await mapAtOnce(request.inputs, filesAtOnce, async (input, index): Promise<InputFile> => {
    const path = join(folder, 'in', String(index));
    await fetchFile(input.url, path, signal);
    const { name, format } = input;
    return { path, name, format, size: (await stat(path)).size };
  });
  return {
    operation,
    inputs,
    outputFormat,
    options,
    maxOutputBytes,
    deadline,
    folder,
    ...(page === undefined ? {} : { page }),
  };
}

async function store(
  { output }: EngineRequest,
  work: Work,
  result: WorkResult,
  signal: AbortSignal,
): Promise<Omit<Extract<EngineResponse, { type: 'done' }>, 'engineMs'>> {
  const { outputs: made, details, warnings = [] } = result;
  const outputs = new Outputs(work);
  await outputs.add(...made);
  if (made.length === 0) throw new EngineError('The conversion produced no file.');
  for (const { path } of made)
    if ((await stat(path)).size === 0) throw new EngineError('The conversion produced an empty file.');
  await mapAtOnce(made, filesAtOnce, ({ path }, index) => postFile(path, `${output.prefix}${index}`, output, signal));
  return {
    type: 'done',
    outputs: made.map(({ name, format }) => ({ name, format })),
    ...(details || warnings.length > 0
      ? { details: { ...details, ...(warnings.length > 0 ? { warnings } : {}) } }
      : {}),
  };
}
