import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newToken } from '../../../shared/aws/objects.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { safeName, uniqueNames, withExtension } from '../../../shared/files/names.ts';
import { isProcessing } from '../../../shared/operations/operations.ts';
import { diskBytes, filesAtOnce } from '../../../shared/tasks/limits.ts';
import { checkFile } from '../../../shared/tasks/route.ts';
import type { JsonObject, StoredFile, Task } from '../../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from './catalogues.ts';
import { fetchToDisk, storeFromDisk } from './disk.ts';
import { EngineError, type InputFile, type OutputFile, type Work, type WorkResult } from './engine.ts';
import { Outputs } from './outputs.ts';
import { Sandbox } from './sandbox/sandbox.ts';
import { type Run, type RunResult, TaskError, workerHandler } from './worker.ts';

/** Memory that the function itself needs in addition to the engine's. */
const ownMemoryBytes = 200 * 1024 * 1024;

/** Returns the Lambda handler of an engine: it fetches files to disk, runs the engine in its sandbox and stores the outputs. */
export function engineHandler(engine: string, module: URL) {
  const memoryBytes = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? 2048) * 1024 * 1024 - ownMemoryBytes;
  const sandbox = new Sandbox({ module, memoryBytes, network: engine === 'webpage' });
  sandbox.warm();
  return workerHandler({
    engine,
    perform: (run) => inOwnFolder(sandbox, run.task.user, (folder) => perform(engine, run, sandbox, folder)),
  });
}

async function inOwnFolder<T>(sandbox: Sandbox, tenant: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = sandbox.prepare(tenant);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function perform(engine: string, run: Run, sandbox: Sandbox, folder: string): Promise<RunResult> {
  const work = { ...(await workOf(run, folder)), maxOutputBytes: roomFor(engine, run) };
  const context = {
    signal: run.signal,
    progress: run.progress,
    log: (message: string, details?: JsonObject) => run.logger.info(message, details ?? {}),
  };
  const result = await sandbox.run(work, context, run.task.user);
  const outputs = new Outputs(work);
  await outputs.add(...result.outputs);
  const details = detailsOf(result);
  return { files: await storeOutputs(run, outputs.files), ...(details ? { details } : {}) };
}

/** Returns the disk space that the inputs leave, of the size that the catalogue declares. */
function roomFor(engine: string, run: Run): number {
  const resources = engineCatalogues.find((candidate) => candidate.engine === engine)?.resources;
  if (!resources) throw new Error(`There is no catalogue for the engine ${engine}.`);
  return run.inputs.flatMap((input) => input.files).reduce((room, file) => room - file.size, diskBytes(resources));
}

/** Returns the details of the task's result besides its files, if any. */
function detailsOf({ details, warnings = [] }: WorkResult): JsonObject | undefined {
  return warnings.length > 0 ? { ...details, warnings } : details;
}

async function workOf(run: Run, folder: string): Promise<Work> {
  const { task } = run;
  if (task.operation === 'import/webpage')
    return {
      operation: 'convert',
      inputs: [],
      page: String(task.payload.url),
      outputFormat: 'html',
      options: {},
      folder,
    };
  if (!isProcessing(task.operation)) throw new Error(`${task.operation} was sent to the queue of an engine.`);
  const inputs = await fetchInputs(run, folder);
  const [first] = inputs;
  if (!first) throw new EngineError('The input tasks have no file to process.');
  const [checked] = inputs.map((input) => check({ ...task, payload: run.parameters }, input));
  const outputFormat = catalogue.canonical(String(task.payload.output_format ?? first.format));
  return { operation: task.operation, inputs, outputFormat, options: checked ?? {}, folder };
}

function check(task: Task, input: InputFile): OptionValues {
  const checked = checkFile(catalogue, task, input);
  if ('failure' in checked) throw new TaskError(checked.failure);
  return checked.options;
}

async function fetchInputs(run: Run, folder: string): Promise<InputFile[]> {
  const files = run.inputs.flatMap((input) => input.files);
  await mkdir(join(folder, 'in'));
  return mapAtOnce(files, filesAtOnce, async (file, index): Promise<InputFile> => {
    const path = join(folder, 'in', String(index));
    await fetchToDisk(file.key, path, run.signal);
    const format = await detectFormat(catalogue, await readHead(path), file.name);
    return { path, name: file.name, format, size: (await stat(path)).size };
  });
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(detectionBytes), 0, detectionBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function storeOutputs(run: Run, outputs: OutputFile[]): Promise<StoredFile[]> {
  if (outputs.length === 0) throw new EngineError('The conversion produced no file.');
  const { filename } = run.task.payload;
  const names = uniqueNames(
    outputs.map((output) =>
      typeof filename === 'string' ? withExtension(safeName(filename), output.format) : output.name,
    ),
  );
  return mapAtOnce(outputs, filesAtOnce, async (output, index): Promise<StoredFile> => {
    if ((await stat(output.path)).size === 0) throw new EngineError('The conversion produced an empty file.');
    const key = outputKey(run.task.id, run.attempt, index);
    const mediaType = catalogue.mediaType(output.format);
    const size = await storeFromDisk(output.path, key, mediaType, run.signal);
    return { key, name: names[index] ?? output.name, size, format: output.format, mediaType, token: newToken() };
  });
}
