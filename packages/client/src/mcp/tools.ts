import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { JobFailedError, LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { exists, numbered, OutputNames, stemOf } from '../node/paths.ts';
import { importOf, resultOf } from '../run.ts';
import { isWebAddress } from '../source.ts';
import type { Options, ResultFile } from '../types.ts';
import { tasksOf } from './common-tools.ts';
import type { Roots } from './roots.ts';

/** The service and the allowed folders. */
export interface Places {
  lathe: Lathe;
  roots: Roots;
}

interface ConversionRequest {
  input: string;
  to: string;
  from?: string | undefined;
  options: Options;
  webpage?: boolean | undefined;
  output?: string | undefined;
  overwrite: boolean;
  wait: boolean;
}

/** Converts a file and writes the result, or only starts the conversion. */
export async function runConversion(
  { lathe, roots }: Places,
  request: ConversionRequest,
  signal: AbortSignal,
  onPercent: ((percent: number) => void) | undefined,
): Promise<unknown> {
  const { input, output, overwrite, wait, ...conversion } = request;
  const source = isWebAddress(input) ? input : await roots.readable(input);
  const target = await roots.writable(output ?? defaultOutput(source, roots, conversion.to));
  if (!wait) return begin(lathe, source, conversion, signal);
  refuseExisting([target], overwrite);
  const { job, files, warnings } = await lathe.convert(source, {
    ...conversion,
    signal,
    onProgress:
      onPercent &&
      ((progress) => {
        if (progress.stage !== 'uploading') onPercent(progress.stage === 'done' ? 100 : (progress.percent ?? 0));
      }),
  });
  const outputs = await writeAll(lathe, files, numbered(target, files.length), overwrite, signal);
  return { ...(job ? { job: job.id } : {}), outputs, ...(warnings.length > 0 ? { warnings } : {}) };
}

async function begin(
  lathe: Lathe,
  source: string,
  { webpage, ...conversion }: Omit<ConversionRequest, 'input' | 'output' | 'overwrite' | 'wait'>,
  signal: AbortSignal,
) {
  const job = await lathe.createAnyJob({ tasks: tasksOf(importOf(source, webpage), conversion) }, { signal });
  const task = job.tasks?.find(({ operation }) => operation === 'import/upload');
  try {
    if (task) await lathe.upload(task, source, { signal });
  } catch (error) {
    // Otherwise the job would wait an hour for its file. Only the first error matters to the caller.
    await lathe.cancel(job).catch(() => undefined);
    throw error;
  }
  return { job: job.id, status: job.status };
}

function defaultOutput(source: string, roots: Roots, to: string): string {
  if (!isWebAddress(source)) return `${stemOf(source)}.${to}`;
  const { hostname, pathname } = new URL(source);
  return join(roots.first, `${stemOf(safeName(basename(decodeURI(pathname)) || hostname))}.${to}`);
}

/** Waits for a job and writes its files into a folder. */
export async function fetchResult(
  { lathe, roots }: Places,
  { job: id, folder, overwrite }: { job: string; folder: string; overwrite: boolean },
  signal: AbortSignal,
): Promise<unknown> {
  const job = await lathe.wait(id, { signal });
  if (job.status !== 'completed') throw new JobFailedError(job);
  const { files } = resultOf(job);
  // Files of one export have distinct names; those of several exports may not.
  const names = new OutputNames();
  const wanted = files.flatMap(({ url, filename }) => names.take(url, join(folder, safeName(filename))));
  const paths = await Promise.all(wanted.map((path) => roots.writable(path)));
  return { job: id, outputs: await writeAll(lathe, files, paths, overwrite, signal) };
}

/** Removes path separators and other unsafe characters from a filename. */
function safeName(name: string): string {
  return name.replace(/[\p{Cc}/\\:]/gu, '_').replace(/^\.+/, '_') || 'file';
}

async function writeAll(lathe: Lathe, files: ResultFile[], paths: string[], overwrite: boolean, signal: AbortSignal) {
  refuseExisting(paths, overwrite);
  const outputs: { path: string; size: number; format: string }[] = [];
  for (const [index, file] of files.entries()) {
    const path = paths[index] ?? '';
    await mkdir(dirname(path), { recursive: true });
    await lathe.download(file, path, { overwrite, signal });
    outputs.push({ path, size: file.size, format: file.format });
  }
  return outputs;
}

function refuseExisting(paths: string[], overwrite: boolean): void {
  const taken = overwrite ? undefined : paths.find(exists);
  if (taken !== undefined)
    throw new LatheError('exists', `${taken} already exists. Choose another output, or set overwrite to true.`);
}
