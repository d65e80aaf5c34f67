import { formatProblem } from '../accounts/limits.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { checkProcessing } from '../catalogue/check.ts';
import { formatAs } from '../catalogue/detect.ts';
import type { OptionValues } from '../catalogue/options.ts';
import { extensionOf } from '../files/names.ts';
import { isProcessing, outputFormatOf } from '../operations/operations.ts';
import { inputProblem } from './limits.ts';
import { filesOf, processingFailed, type StoredFile, type Task, type TaskFailure } from './task.ts';

/** Finds the engine for a task whose inputs have completed, from the detected formats of their files. */
export function routeTask(
  catalogue: Catalogue,
  task: Task,
  inputs: Task[],
): { engine: string } | { failure: TaskFailure } {
  const given = filesOf(task, inputs);
  for (const file of given) {
    const failure = formatFailure(catalogue, task, file.format);
    if (failure) return { failure };
  }
  if (!isProcessing(task.operation)) return routeByOperation(catalogue, task.operation);
  const files = given.filter(({ role }) => role === undefined);
  const [file] = files;
  if (!file) return { failure: processingFailed('The input tasks have no file to work on.') };
  const checked = checkFile(catalogue, task, file);
  if ('failure' in checked) return checked;
  const engine = task.operation === 'merge' ? mergingEngine(catalogue, task, files) : checked.engine;
  if (engine === undefined) {
    const formats = [...new Set(files.map(({ format }) => format))].join(', ');
    const msg = `Files of the formats ${formats} cannot be merged with each other. Convert them to PDF first.`;
    return { failure: processingFailed(msg) };
  }
  const problem = inputProblem(catalogue, engine, task.operation, given);
  return problem === undefined ? { engine } : { failure: processingFailed(problem) };
}

/** Returns the engine that can merge all of the files, which may have different formats. */
function mergingEngine(catalogue: Catalogue, { payload }: Task, files: StoredFile[]): string | undefined {
  const [first = '', ...others] = files.map(({ format }) => catalogue.canonical(format));
  return catalogue.find('merge', first, catalogue.canonical(String(payload.output_format)), others)?.engine;
}

function routeByOperation(catalogue: Catalogue, operation: string): { engine: string } | { failure: TaskFailure } {
  const engine = catalogue.performerOf(operation);
  if (engine !== undefined && catalogue.isUsable(engine)) return { engine };
  const msg = `${operation} is not available on this instance; GET /health lists what is missing.`;
  return { failure: processingFailed(msg) };
}

/** Returns the failure of a task whose key does not allow a format; undefined if it does. */
export function formatFailure(
  catalogue: Catalogue,
  { limits = {} }: Pick<Task, 'limits'>,
  format: string,
): TaskFailure | undefined {
  const msg = formatProblem(limits, catalogue.canonical(format));
  return msg === undefined ? undefined : { errorCode: 'insufficient_permission', msg };
}

function looksLike(
  catalogue: Catalogue,
  { name, content, format }: Pick<StoredFile, 'format' | 'content' | 'name'>,
): string {
  return `The content of the file ${JSON.stringify(name)} looks like ${catalogue.canonical(content || format)}`;
}

/** Checks a task's format and options against the content of its file, not against its name. */
export function checkFile(
  catalogue: Catalogue,
  task: Task,
  file: Pick<StoredFile, 'format' | 'content' | 'name'>,
): { engine: string; options: OptionValues } | { failure: TaskFailure } {
  const noEngine = { failure: processingFailed(`No engine does ${task.operation}.`) };
  if (!isProcessing(task.operation)) return noEngine;
  const { input_format, output_format, options } = task.payload;
  const requested = typeof input_format === 'string' ? input_format : undefined;
  const believed = formatAs(catalogue, file, requested);
  const format = believed ?? catalogue.canonical(file.format);
  const target = outputFormatOf(task.operation, output_format, format);
  const failure = formatFailure(catalogue, task, format) ?? formatFailure(catalogue, task, target);
  if (failure) return { failure };
  if (believed === undefined)
    return {
      failure: processingFailed(
        `${looksLike(catalogue, file)}, not ${requested ?? file.format}. ${requested === undefined ? 'Check the source of the file, or set' : 'Set'} input_format to what the file is${requested === undefined ? '' : ', or leave it out'}.`,
      ),
    };
  if (format === '')
    return {
      failure: processingFailed(
        `The format of the file ${JSON.stringify(file.name)} shows neither in its content nor in its name. Set input_format.`,
      ),
    };
  const checked = checkProcessing(catalogue, {
    operation: task.operation,
    inputFormat: format,
    outputFormat: typeof output_format === 'string' ? output_format : undefined,
    options: options !== null && typeof options === 'object' && !Array.isArray(options) ? options : {},
  });
  if ('errors' in checked) {
    const named = catalogue.canonical(extensionOf(file.name));
    const isOther = checked.reason === 'unsupported_format' && requested === undefined && named !== format;
    const about = isOther && catalogue.format(named) ? `${looksLike(catalogue, file)}, not ${named}. ` : '';
    return { failure: processingFailed(`${about}${Object.values(checked.errors).flat().join(' ')}`) };
  }
  if (!checked.match) return noEngine;
  return { engine: checked.match.engine, options: checked.options };
}
