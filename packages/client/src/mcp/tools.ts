import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { JobFailedError, LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { exists, extensionOf, numbered, OutputNames, safeName, stemOf } from '../node/paths.ts';
import { importOf, resultOf } from '../run.ts';
import { isWebAddress } from '../source.ts';
import type { Job, ResultFile } from '../types.ts';
import { statusOf, tasksOf, waitForJob } from './common-tools.ts';
import { bytesOf, type OperationRequest } from './operations.ts';
import type { Roots } from './roots.ts';

/** The service and the allowed folders. */
export interface Places {
  lathe: Lathe;
  roots: Roots;
}

/** Performs an operation and writes the result, or only starts it. */
export async function runOperation(
  { lathe, roots }: Places,
  request: OperationRequest,
  signal: AbortSignal,
  onPercent: ((percent: number) => void) | undefined,
): Promise<unknown> {
  const { operation, inputs, files: roles = {}, output, overwrite = false, wait = true, link, ...parameters } = request;
  const sources = await Promise.all(inputs.map((input) => sourceOf(input, roots)));
  const named = await Promise.all(
    Object.entries(roles).map(async ([role, input]) => [role, await sourceOf(input, roots)] as const),
  );
  if (!wait || link) {
    const begun = await begin(
      lathe,
      sources,
      { ...parameters, operation, filename: output && basename(output) },
      named,
      signal,
    );
    return wait ? statusOf(await waitForJob({ lathe }, begun.id, signal)) : { job: begun.id, status: begun.status };
  }
  const target = await roots.writable(output ?? defaultOutput(sources[0], roots, request));
  refuseExisting([target], overwrite);
  const { job, files, warnings } = await lathe.perform(operation, sources, {
    ...parameters,
    files: Object.fromEntries(named),
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

/** Returns what an agent names: a URL, the content of a data: URI, or the real path of a file below the roots. */
async function sourceOf(input: string, roots: Roots): Promise<string | File> {
  if (isWebAddress(input)) return input;
  const bytes = bytesOf(input);
  return bytes === undefined ? roots.readable(input) : new File([bytes], 'file');
}

async function begin(
  lathe: Lathe,
  sources: (string | File)[],
  { webpage, ...processing }: Parameters<typeof tasksOf>[1] & { webpage?: boolean | undefined },
  named: (readonly [string, string | File])[],
  signal: AbortSignal,
): Promise<Job> {
  const imports = sources.map((source) => importOf(source, webpage));
  const others = Object.fromEntries(named.map(([role, source]) => [role, importOf(source)]));
  const job = await lathe.createAnyJob({ tasks: tasksOf(imports, processing, others) }, { signal });
  try {
    for (const [index, source] of [...sources, ...named.map(([, file]) => file)].entries()) {
      const task = job.tasks?.[index];
      if (task?.operation === 'import/upload') await lathe.upload(task, source, { signal });
    }
  } catch (error) {
    // Otherwise the job would wait an hour for its files. Only the first error matters to the caller.
    await lathe.cancel(job).catch(() => undefined);
    throw error;
  }
  return job;
}

const suffixes = new Map([
  ['convert', ''],
  ['compress', '-compressed'],
  ['merge', '-merged'],
  ['crop', '-cropped'],
  ['trim', '-trimmed'],
]);

/** Returns a path next to the first input, or in the first root if that is no local file. */
function defaultOutput(
  source: string | File | undefined,
  roots: Roots,
  { operation, to, from }: OperationRequest,
): string {
  const path = typeof source === 'string' && !isWebAddress(source) ? source : join(roots.first, nameOf(source));
  const extension = to ?? (extensionOf(path) || from);
  if (extension === undefined)
    throw new LatheError('bad_request', 'Expected from or output, because the format of the input is not known.');
  return `${stemOf(path)}${suffixes.get(operation) ?? `-${operation.replace(/^.*\//, '')}`}.${extension}`;
}

function nameOf(source: string | File | undefined): string {
  if (typeof source !== 'string') return source?.name ?? 'file';
  const { hostname, pathname } = new URL(source);
  return safeName(basename(decodeURI(pathname)) || hostname);
}

interface FetchRequest {
  job: string;
  folder?: string | undefined;
  overwrite?: boolean | undefined;
  link?: boolean | undefined;
}

/** Waits for a job and writes its files into a folder. */
export async function fetchResult(
  { lathe, roots }: Places,
  { job: id, folder = '.', overwrite = false, link }: FetchRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const job = await lathe.wait(id, { signal });
  if (job.status !== 'completed') throw new JobFailedError(job);
  if (link) return statusOf(job);
  const { files } = resultOf(job);
  // Files of one export have distinct names; those of several exports may not.
  const names = new OutputNames();
  const wanted = files.flatMap(({ url, filename }) => names.take(url, join(folder, safeName(filename))));
  const paths = await Promise.all(wanted.map((path) => roots.writable(path)));
  return { job: id, outputs: await writeAll(lathe, files, paths, overwrite, signal) };
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
