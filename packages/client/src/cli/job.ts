import { join } from 'node:path';
import { JobFailedError, LatheError } from '../errors.ts';
import { exists, OutputNames, safeName } from '../node/paths.ts';
import { resultOf } from '../run.ts';
import type { Job } from '../types.ts';
import { flags, parse } from './options.ts';
import { type Service, serviceFor } from './settings.ts';
import { isStandard, writeStandard } from './standard-streams.ts';
import { bytesText, type Output, printable, table } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { makeFolder } from './work.ts';

type Values = ReturnType<typeof parse<typeof flags.job>>['values'];

interface Action extends Service {
  id: string;
  values: Values;
  output: Output;
  signal: AbortSignal;
}

/** What can be done with a job. */
export const jobActions: Record<string, (action: Action) => Promise<number>> = { show, cancel, download };

/** Runs `lathe job`. */
export async function job(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.job);
  const [name = '', id, ...others] = positionals;
  const act = Object.hasOwn(jobActions, name) ? jobActions[name] : undefined;
  if (!act || id === undefined || others.length > 0)
    throw new UsageError(`Expected ${Object.keys(jobActions).join(', ')} and the id of a job. See lathe help job.`);
  return act({ ...(await serviceFor(values)), id, values, output, signal });
}

async function show({ lathe, id, values, output, signal }: Action): Promise<number> {
  print(await lathe.job(id, { signal }), values, output);
  return exitCodes.done;
}

async function cancel({ lathe, id, values, output, signal }: Action): Promise<number> {
  await lathe.cancel(id, { signal });
  print(await lathe.job(id, { signal }), values, output);
  return exitCodes.done;
}

/** Waits for the end of a job and writes its files into a folder. */
async function download({ lathe, id, values, output, signal }: Action): Promise<number> {
  const ended = await lathe.wait(id, { signal });
  if (ended.status !== 'completed') throw new JobFailedError(ended);
  const { files } = resultOf(ended);
  if (files.length === 0) throw new LatheError('no_files', `The job ${id} has no files to download.`);
  const { out = '.', force, json, quiet } = values;
  if (isStandard(out)) {
    await writeStandard(lathe, files, output.out, signal);
    return exitCodes.done;
  }
  const names = new OutputNames();
  const paths = files.flatMap(({ url, filename }) => names.take(url, join(out, safeName(filename))));
  const taken = force ? undefined : paths.find(exists);
  if (taken !== undefined) throw new LatheError('exists', `${taken} already exists. Use --force to overwrite it.`);
  await makeFolder(out);
  for (const [index, file] of files.entries()) {
    const path = paths[index] ?? '';
    await lathe.download(file, path, { overwrite: force, signal });
    if (!json && !quiet) output.out.write(`${printable(path)} (${bytesText(file.size)})\n`);
  }
  if (json) output.out.write(`${JSON.stringify({ job: id, outputs: paths })}\n`);
  return exitCodes.done;
}

function print(found: Job, { json, quiet }: Values, { out }: Output): void {
  if (json) out.write(`${JSON.stringify(found)}\n`);
  else if (!quiet) out.write(textOf(found));
}

function textOf(found: Job): string {
  const { id, status, createdAt, result, tasks = [] } = found;
  const { files, warnings } = resultOf(found);
  const rows = tasks.map(({ name, operation, status: state, progress, result: { msg = '' } }) => [
    `  ${printable(name)}`,
    operation,
    state,
    state === 'processing' && progress !== undefined ? `${Math.round(progress)}%` : '',
    printable(msg),
  ]);
  return [
    `${id} ${status}, created ${createdAt.slice(0, 19).replace('T', ' ')}${result.msg ? `: ${printable(result.msg)}` : ''}\n`,
    table(rows),
    ...files.map(({ filename, size, url }) => `${printable(filename)} (${bytesText(size)})  ${url}\n`),
    ...warnings.map((warning) => `Warning: ${printable(warning)}\n`),
  ].join('');
}
