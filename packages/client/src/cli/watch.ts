import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { LatheError } from '../errors.ts';
import { exists, numbered, OutputNames } from '../node/paths.ts';
import { commonOf } from './convert.ts';
import { findInputs } from './inputs.ts';
import { countOf, flags, formatOf, parse } from './options.ts';
import { inFormat, type Planned, planOutputs } from './plan.ts';
import { reporterFor } from './reporter.ts';
import { reachedService } from './settings.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { work } from './work.ts';

const scanEveryMs = 1_000;

/** Runs `lathe watch` until it is interrupted. */
export async function watch(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.watch);
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0 || values.to === undefined)
    throw new UsageError('Expected a folder and a format, for example: lathe watch inbox --to pdf.');
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`The folder ${folder} does not exist.`);
  const to = formatOf(values.to);
  const limit = countOf(values.parallel, 'parallel', 64);
  const chosen = { ...commonOf(values), to };
  const { lathe } = await reachedService(values, signal);
  const formats = new Set(await lathe.formats({ to, signal }));
  const reporter = reporterFor(output, values);
  const arrivals = new Arrivals(values.force);
  const names = new OutputNames();
  const running = new Set<Promise<void>>();
  let fatal: unknown;
  const begin = (planned: Planned) => {
    const options = { lathe, reporter, names, signal, force: values.force, out: output.out };
    const done = work(planned, (own) => lathe.perform('convert', [planned.input], { ...chosen, ...own }), options)
      .then(() => undefined)
      .catch((error: unknown) => {
        // An unreachable service may be restarting; a rejected key will not recover.
        if (!(error instanceof LatheError) || error.errorCode !== 'unreachable') fatal ??= error;
        else reporter.end({ type: 'failed', input: planned.input, errorCode: error.errorCode, msg: error.msg });
        arrivals.forget(planned);
      })
      .finally(() => running.delete(done));
    running.add(done);
  };
  if (!values.json && !values.quiet) output.err.write(`Watching ${folder}. Press Ctrl-C to stop.\n`);
  try {
    while (fatal === undefined) {
      const { inputs } = await findInputs([folder], (extension) =>
        extension !== to && formats.has(extension) ? undefined : 'it is not converted',
      );
      for (const one of planOutputs(inputs, inFormat(to), values.out))
        if (running.size < limit && arrivals.isReady(one)) begin(one);
      await pause(scanEveryMs, undefined, { signal });
    }
    throw fatal;
  } catch (error) {
    await Promise.allSettled(running);
    if (signal.aborted) return exitCodes.done;
    throw error;
  } finally {
    reporter.close();
  }
}

/** Files that are not converted yet. A file is ready, so completely written, if two scans find it unchanged. */
class Arrivals {
  readonly #force: boolean;
  readonly #seen = new Map<string, { state: string; begun: boolean }>();

  constructor(force: boolean) {
    this.#force = force;
  }

  /** Returns whether to convert a file now, and marks it as started if so. */
  isReady({ input, output }: Planned): boolean {
    const found = statSync(input, { throwIfNoEntry: false });
    if (!found) return false;
    const state = `${found.size} ${found.mtimeMs}`;
    const known = this.#seen.get(input);
    if (known?.state === state && known.begun) return false;
    const begun = known?.state === state && (this.#force || !hasOutput(output));
    this.#seen.set(input, { state, begun });
    return begun;
  }

  /** Allows a file to be converted again. */
  forget({ input }: Planned): void {
    this.#seen.delete(input);
  }
}

function hasOutput(output: string): boolean {
  return exists(output) || [1, 10, 100, 1000].some((count) => exists(numbered(output, count + 1)[0] ?? ''));
}
