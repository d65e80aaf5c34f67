import type { EngineResources } from '../../shared/catalogue/catalogue.ts';
import { formatAs } from '../../shared/catalogue/detect.ts';
import { defined } from '../../shared/defined.ts';
import { safeName, withExtension } from '../../shared/files/names.ts';
import { isProcessing, outputFormatOf } from '../../shared/operations/operations.ts';
import type { PictureRequest } from '../../shared/pictures/picture.ts';
import { diskBytes, maxProcessorSeconds } from '../../shared/tasks/limits.ts';
import { checkFile } from '../../shared/tasks/route.ts';
import type { GivenFile, JsonObject, JsonValue, StoredFile, Task } from '../../shared/tasks/task.ts';
import { catalogue, engineCatalogues } from '../catalogue/catalogues.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import type { EngineRequest } from '../engines/runtime/protocol.ts';
import { TaskError } from './errors.ts';

type Part =
  | 'operation'
  | 'outputFormat'
  | 'options'
  | 'page'
  | 'part'
  | 'picture'
  | 'maxOutputBytes'
  | 'maxProcessorSeconds';

/** What an engine is asked to do, and with which files. */
export interface RunPlan<File extends GivenFile = GivenFile> extends Pick<EngineRequest, Part> {
  files: File[];
}

/** Plans the run of a task by its engine. `parameters` are those of the task with their secrets. */
export function planRun<File extends GivenFile>(
  engine: string,
  task: Task,
  parameters: JsonObject,
  given: File[],
): RunPlan<File> {
  const files = given.map((file) => (file.role === undefined ? asRequested(file, task) : file));
  const { room, seconds } = limitsOf(engine, files);
  if (task.operation === 'import/webpage')
    return {
      operation: 'convert',
      page: String(task.payload.url),
      outputFormat: 'html',
      options: {},
      // A web page is an import, so the file size limit applies to the output.
      maxOutputBytes: Math.min(room, task.limits?.maxFileBytes ?? room),
      ...defined({ maxProcessorSeconds: seconds }),
      files: [],
    };
  if (!isProcessing(task.operation)) throw new Error(`${task.operation} was sent to the queue of an engine.`);
  const worked = files.filter(({ role }) => role === undefined);
  const [first] = worked;
  if (!first) throw new EngineError('The input tasks have no file to process.');
  const [options = {}] = worked.map((file) => checkedOptions({ ...task, payload: parameters }, file));
  return {
    operation: task.operation,
    outputFormat: catalogue.canonical(outputFormatOf(task.operation, task.payload.output_format, first.format)),
    options,
    maxOutputBytes: room,
    ...defined({ maxProcessorSeconds: seconds }),
    files,
  };
}

/** Plans a derivative of the first of these pictures. The engine chooses its format. */
export function planPicture<File extends GivenFile>(
  engine: string,
  picture: PictureRequest,
  files: File[],
): RunPlan<File> {
  const { room, seconds } = limitsOf(engine, files);
  return {
    operation: 'convert',
    picture,
    outputFormat: picture.spec.format ?? '',
    options: {},
    maxOutputBytes: room,
    ...defined({ maxProcessorSeconds: seconds }),
    files,
  };
}

/** Returns the disk space that the inputs leave, and the limit of processor time, if any. */
function limitsOf(engine: string, files: StoredFile[]): { room: number; seconds: number | undefined } {
  const resources = resourcesOf(engine);
  const room = files.reduce((left, file) => left - file.size, diskBytes(resources));
  return { room, seconds: maxProcessorSeconds(resources, files) };
}

/** Returns the formats of a plan for the usage of its account. */
export function formatsOf({ files: [first], outputFormat }: RunPlan): string {
  return `${first ? catalogue.canonical(first.format) : 'page'}>${outputFormat}`;
}

/** Returns the name of an output. Its extension matches its format, so that a picture cannot pose as a program. */
export function outputName(name: string, format: string, filename: JsonValue | undefined): string {
  const extension = catalogue.storedAs(format);
  if (typeof filename === 'string') return withExtension(safeName(filename), extension);
  const safe = safeName(name);
  return safe.toLowerCase().endsWith(`.${extension}`) ? safe : withExtension(safe, extension);
}

/** Returns a file with the requested input format. `checkFile` checks whether the content has it. */
function asRequested<File extends StoredFile>(file: File, { payload: { input_format: requested } }: Task): File {
  const format = formatAs(catalogue, file, typeof requested === 'string' ? requested : undefined);
  return format === undefined ? file : { ...file, format };
}

function checkedOptions(task: Task, file: StoredFile) {
  const checked = checkFile(catalogue, task, file);
  if ('failure' in checked) throw new TaskError(checked.failure);
  return checked.options;
}

function resourcesOf(engine: string): EngineResources {
  const resources = engineCatalogues.find((candidate) => candidate.engine === engine)?.resources;
  if (!resources) throw new Error(`There is no catalogue for the engine ${engine}.`);
  return resources;
}

/** Returns the parameters of a task with the secrets that are kept apart from it. */
export function withSecrets(payload: JsonObject, secrets: JsonObject): JsonObject {
  const { options: secretOptions, ...rest } = secrets;
  if (!isJsonObject(secretOptions) || !isJsonObject(payload.options)) return { ...payload, ...rest };
  return { ...payload, ...rest, options: { ...payload.options, ...secretOptions } };
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
