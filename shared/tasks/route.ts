import type { Catalogue } from '../catalogue/catalogue.ts';
import { checkProcessing } from '../catalogue/check.ts';
import type { OptionValues } from '../catalogue/options.ts';
import { inputProblem } from './limits.ts';
import { isProcessing } from './plan.ts';
import type { StoredFile, Task, TaskFailure } from './task.ts';

/** Finds the engine for a task whose inputs have completed, from the formats their files turned out to have. */
export function routeTask(
  catalogue: Catalogue,
  task: Task,
  inputs: Task[],
): { engine: string } | { failure: TaskFailure } {
  if (task.operation === 'import/webpage') return routeToBrowser(catalogue);
  if (!isProcessing(task.operation)) return { engine: 'transfer' };
  const files = inputs.flatMap((input) => input.files);
  const [file] = files;
  if (!file) return { failure: { errorCode: 'processing_failed', msg: 'The input tasks have no file to work on.' } };
  const checked = checkFile(catalogue, task, file);
  if ('failure' in checked) return checked;
  const problem = inputProblem(catalogue, checked.engine, task.operation, files);
  return problem === undefined
    ? { engine: checked.engine }
    : { failure: { errorCode: 'processing_failed', msg: problem } };
}

function routeToBrowser(catalogue: Catalogue): { engine: string } | { failure: TaskFailure } {
  if (catalogue.isUsable('webpage')) return { engine: 'webpage' };
  const msg = 'Web pages cannot be imported on this instance, because its browser is off.';
  return { failure: { errorCode: 'processing_failed', msg } };
}

/** Checks a task's format and options against what its file is, not what it is called. */
export function checkFile(
  catalogue: Catalogue,
  task: Task,
  file: Pick<StoredFile, 'format' | 'name'>,
): { engine: string; options: OptionValues } | { failure: TaskFailure } {
  if (!isProcessing(task.operation))
    return { failure: { errorCode: 'processing_failed', msg: `No engine does ${task.operation}.` } };
  const { input_format, output_format, options } = task.payload;
  const format = catalogue.canonical(file.format);
  if (typeof input_format === 'string' && catalogue.canonical(input_format) !== format) {
    return {
      failure: {
        errorCode: 'processing_failed',
        msg: `The file ${JSON.stringify(file.name)} is ${format || 'of an unknown format'}, not ${input_format}. Set input_format to what the file is, or leave it out.`,
      },
    };
  }
  const checked = checkProcessing(catalogue, {
    operation: task.operation,
    inputFormat: format,
    outputFormat: typeof output_format === 'string' ? output_format : undefined,
    options: options !== null && typeof options === 'object' && !Array.isArray(options) ? options : {},
  });
  if ('errors' in checked)
    return { failure: { errorCode: 'processing_failed', msg: Object.values(checked.errors).flat().join(' ') } };
  if (!checked.match) return { failure: { errorCode: 'processing_failed', msg: `No engine does ${task.operation}.` } };
  return { engine: checked.match.engine, options: checked.options };
}
