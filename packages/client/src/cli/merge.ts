import { extensionOf, OutputNames } from '../node/paths.ts';
import type { RunOptions } from '../run.ts';
import { reachedService } from './connect.ts';
import { connectionFlags, optionsOf, outputFlags, parse } from './options.ts';
import { reporterFor } from './reporter.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { work } from './work.ts';

/** Runs `lathe merge`. */
export async function merge(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, { ...connectionFlags, ...outputFlags });
  const inputs = positionals.slice(0, -1);
  const target = positionals.at(-1);
  if (target === undefined || inputs.length < 2)
    throw new UsageError('Expected two or more inputs and an output. See lathe help merge.');
  const to = extensionOf(target);
  if (to !== 'pdf' && to !== 'gif')
    throw new UsageError(`Expected an output that ends in .pdf or .gif but received ${target}.`);
  const chosen = optionsOf(values.option);
  const { lathe } = await reachedService(values, signal);
  const reporter = reporterFor(output, values);
  try {
    const planned = { input: inputs.join(' + '), inputs, output: target };
    const run = (options: RunOptions) => lathe.merge(inputs, { ...options, to, options: chosen });
    const end = await work(planned, run, {
      lathe,
      reporter,
      names: new OutputNames([planned]),
      signal,
      force: values.force,
    });
    return end === 'failed' ? exitCodes.failed : exitCodes.done;
  } finally {
    reporter.close();
  }
}
