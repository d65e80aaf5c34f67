import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue as imageCatalogue } from '../../../functions/engines/image/catalogue.ts';
import { engine } from '../../../functions/engines/image/run.ts';
import type { InputFile, OutputFile, WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { PictureRequest } from '../../../shared/pictures/picture.ts';
import { quietContext } from '../../support/sandboxed.ts';

export const catalogue = new Catalogue([imageCatalogue]);

/** Gives a test a folder that is deleted afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'image-engine-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Detects a file's format as the handler does. */
export async function detectFile(path: string, name = path): Promise<string> {
  return detectFormat(catalogue, (await readFile(path)).subarray(0, detectionBytes), name);
}

export interface Run {
  operation?: ProcessingOperation;
  inputs: string[];
  /** Formats of the inputs; detected when left out. */
  formats?: string[];
  outputFormat: string;
  options?: Record<string, unknown>;
  folder: string;
}

let runs = 0;

async function giveInputs(taskFolder: string, inputs: string[], formats: string[] = []): Promise<InputFile[]> {
  await mkdir(join(taskFolder, 'in'), { recursive: true });
  return Promise.all(
    inputs.map(async (source, index) => {
      const path = join(taskFolder, 'in', String(index));
      await copyFile(source, path);
      const name = source.split('/').at(-1) ?? source;
      return { path, name, format: formats[index] ?? (await detectFile(path, name)), size: (await stat(path)).size };
    }),
  );
}

/** Makes a derivative of a picture as the handler does, with the second input as its watermark, and returns the output. */
export async function runDerivation(inputs: string[], picture: PictureRequest, folder: string): Promise<OutputFile> {
  const taskFolder = join(folder, `task-${++runs}`);
  const files = await giveInputs(taskFolder, inputs);
  const { outputs } = await engine.run(
    { operation: 'convert', inputs: files, picture, outputFormat: '', options: {}, folder: taskFolder },
    quietContext(),
  );
  const [output] = outputs;
  if (!output || outputs.length !== 1) throw new Error(`${outputs.length} outputs came for one.`);
  return output;
}

/** Runs the engine as the handler does: inputs without extension in a folder of the task, options checked and filled in. */
export async function runEngine({
  operation = 'convert',
  inputs,
  formats,
  outputFormat,
  options = {},
  folder,
}: Run): Promise<WorkResult> {
  const taskFolder = join(folder, `task-${++runs}`);
  const files = await giveInputs(taskFolder, inputs, formats);
  const to = catalogue.canonical(outputFormat);
  const match = catalogue.find(operation, files[0]?.format ?? '', to);
  if (!match) throw new Error(`${operation} from ${files[0]?.format} to ${to} is not advertised.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  return engine.run(
    { operation, inputs: files, outputFormat: to, options: checked.values, folder: taskFolder },
    quietContext(),
  );
}

/** Runs the engine for one output and returns its path. */
export async function runForPath(run: Run): Promise<string> {
  const { outputs } = await runEngine(run);
  const [output] = outputs;
  if (!output || outputs.length !== 1) throw new Error(`${outputs.length} outputs came for one.`);
  return output.path;
}
