import { copyVersion, newToken, putObject, readVersion } from '../../shared/aws/objects.ts';
import { writeEngineState } from '../../shared/aws/stores/engine-state.ts';
import type { EngineResources } from '../../shared/catalogue/catalogue.ts';
import { formatAs } from '../../shared/catalogue/detect.ts';
import type { OptionValues } from '../../shared/catalogue/options.ts';
import { mapAtOnce, withDeadline } from '../../shared/concurrency.ts';
import { defined } from '../../shared/defined.ts';
import { outputKey, postedKey, revokedKey } from '../../shared/files/keys.ts';
import { safeName, uniqueNames, withExtension } from '../../shared/files/names.ts';
import { isProcessing } from '../../shared/operations/operations.ts';
import { diskBytes, maxProcessorSeconds } from '../../shared/tasks/limits.ts';
import { checkFile } from '../../shared/tasks/route.ts';
import type { JsonValue, StoredFile, Task } from '../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from '../catalogue/catalogues.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import type { EngineRequest, EngineResponse, RemoteOutput } from '../engines/runtime/protocol.ts';
import { invokeEngine } from './invoke-engine.ts';
import { invalidResponse } from './parse-response.ts';
import { presignInput, presignOutput, presignRevoked } from './presign.ts';
import { type Run, type RunResult, TaskError } from './worker.ts';

/** How long an engine may take to notice that its run is revoked, and end it. */
const endingMs = 3_000;
/** S3 copies within the bucket, so no data passes through this process. */
const copiesAtOnce = 16;

type LastResponse = Exclude<EngineResponse, { type: 'isolation' | 'progress' }>;
type Plan = Pick<EngineRequest, 'operation' | 'outputFormat' | 'options' | 'page'>;

/** Performs a run by its engine: presigns the URLs of its files, invokes the engine, and checks the outputs. */
export async function runEngine(engine: string, run: Run): Promise<RunResult> {
  const { task, attempt } = run;
  const files = run.inputs.flatMap((input) => input.files).map((file) => asRequested(file, task));
  const plan = planOf(run, files);
  const resources = resourcesOf(engine);
  // The disk space that the inputs leave.
  const room = files.reduce((left, file) => left - file.size, diskBytes(resources));
  // A web page is an import, so the file size limit applies to the output.
  const maxOutputBytes = plan.page === undefined ? room : Math.min(room, task.limits?.maxFileBytes ?? room);
  const seconds = maxProcessorSeconds(resources, files);
  const request = await requestOf(run, files, {
    ...plan,
    maxOutputBytes,
    ...defined({ maxProcessorSeconds: seconds }),
  });
  // The engine of a worker that died may still be running.
  if (attempt > 1) await revoke(task.id, attempt - 1);
  const response = await responseOf(engine, request, run);
  const formats = `${request.inputs[0]?.format ?? 'page'}>${request.outputFormat}`;
  if ('engineMs' in response) run.engine = { ms: response.engineMs, formats };
  switch (response.type) {
    case 'done':
      return {
        files: await keepOutputs(run, response.outputs, maxOutputBytes),
        ...defined({ details: response.details }),
        leftovers: response.outputs.map((_, index) => postedKey(task.id, attempt, index)),
      };
    case 'refused':
      throw new EngineError(response.msg, { detail: response.detail });
    case 'broken':
      throw new Error(`The engine broke off: ${response.message}`);
  }
}

/** Returns the last response of the engine. An aborted run is revoked, and its engine has stopped storing files on return. */
async function responseOf(engine: string, request: EngineRequest, run: Run): Promise<LastResponse> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(run.signal.reason);
  run.signal.addEventListener('abort', abort, { once: true });
  if (run.signal.aborted) abort();
  const last = lastResponse(engine, request, run);
  try {
    return await Promise.race([last, aborted.promise]);
  } catch (error) {
    await revoke(run.task.id, run.attempt);
    await withDeadline(
      last.catch(() => {}),
      endingMs,
    );
    throw error;
  } finally {
    run.signal.removeEventListener('abort', abort);
  }
}

async function lastResponse(engine: string, request: EngineRequest, run: Run): Promise<LastResponse> {
  let hasReported = false;
  for await (const response of invokeEngine(engine, request, run.signal)) {
    if (response.type === 'progress') run.progress(response.percent);
    else if (response.type === 'isolation') {
      // Each report that differs is a write to the table.
      if (hasReported) throw invalidResponse('Received a second report of barriers.');
      hasReported = true;
      await writeEngineState(engine, response.barriers);
    } else return response;
  }
  throw new Error('The engine ended its response without a result.');
}

/** Revokes a run, so that its engine ends it if it is still running. */
function revoke(taskId: string, attempt: number): Promise<void> {
  return putObject(revokedKey(taskId, attempt), new Uint8Array(), 'application/octet-stream');
}

function planOf({ task, parameters }: Run, files: StoredFile[]): Plan {
  if (task.operation === 'import/webpage')
    return { operation: 'convert', page: String(task.payload.url), outputFormat: 'html', options: {} };
  if (!isProcessing(task.operation)) throw new Error(`${task.operation} was sent to the queue of an engine.`);
  const [first] = files;
  if (!first) throw new EngineError('The input tasks have no file to process.');
  const [options = {}] = files.map((file) => checkedOptions({ ...task, payload: parameters }, file));
  const outputFormat = catalogue.canonical(String(task.payload.output_format ?? first.format));
  return { operation: task.operation, outputFormat, options };
}

/** Returns a file with the requested input format. `checkFile` checks whether the content has it. */
function asRequested(file: StoredFile, { payload: { input_format: requested } }: Task): StoredFile {
  const format = formatAs(catalogue, file, typeof requested === 'string' ? requested : undefined);
  return format === undefined ? file : { ...file, format };
}

function checkedOptions(task: Task, file: StoredFile): OptionValues {
  const checked = checkFile(catalogue, task, file);
  if ('failure' in checked) throw new TaskError(checked.failure);
  return checked.options;
}

function resourcesOf(engine: string): EngineResources {
  const resources = engineCatalogues.find((candidate) => candidate.engine === engine)?.resources;
  if (!resources) throw new Error(`There is no catalogue for the engine ${engine}.`);
  return resources;
}

async function requestOf(
  { task, attempt, deadline }: Run,
  files: StoredFile[],
  plan: Plan & Pick<EngineRequest, 'maxOutputBytes' | 'maxProcessorSeconds'>,
): Promise<EngineRequest> {
  const inputs = plan.page === undefined ? files : [];
  return {
    taskId: task.id,
    ...defined({ jobId: task.job }),
    attempt,
    tenant: task.user,
    ...plan,
    inputs: await Promise.all(
      inputs.map(async ({ key, name, format, size }) => ({
        url: await presignInput(key, deadline),
        name,
        format: catalogue.canonical(format),
        size,
      })),
    ),
    output: await presignOutput(task.id, attempt, plan.maxOutputBytes, deadline),
    revoked: await presignRevoked(task.id, attempt, deadline),
    deadline,
  };
}

/**
 * Copies the outputs of the engine to keys that no form covers, because the engine's form stays valid after the run. A
 * compromised engine may report anything and store too much, so the size of each object is checked as well.
 */
async function keepOutputs(
  { task, attempt, signal }: Run,
  outputs: RemoteOutput[],
  maxOutputBytes: number,
): Promise<StoredFile[]> {
  const names = uniqueNames(outputs.map((output) => nameOf(output, task.payload.filename)));
  let bytes = 0;
  return await mapAtOnce(outputs, copiesAtOnce, async ({ format, etag }, index): Promise<StoredFile> => {
    const posted = postedKey(task.id, attempt, index);
    const key = outputKey(task.id, attempt, index);
    const mediaType = catalogue.mediaType(format);
    const [isCopied, version] = await Promise.all([
      copyVersion({ key: posted, etag }, key, mediaType, signal),
      readVersion(posted, signal),
    ]);
    if (!isCopied || version?.etag !== etag) throw invalidResponse(`Output ${index} was not stored, or replaced.`);
    bytes += version.size;
    if (bytes > maxOutputBytes)
      throw invalidResponse(`Outputs of ${bytes} bytes were stored; the maximum is ${maxOutputBytes}.`);
    return { key, name: names[index] ?? '', size: version.size, format, mediaType, token: newToken() };
  });
}

/** Returns the name of an output. Its extension matches its format, so that a picture cannot pose as a program. */
function nameOf({ name, format }: RemoteOutput, filename: JsonValue | undefined): string {
  if (typeof filename === 'string') return withExtension(safeName(filename), format);
  const safe = safeName(name);
  return safe.toLowerCase().endsWith(`.${format}`) ? safe : withExtension(safe, format);
}
