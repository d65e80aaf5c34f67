import { extensionOf, OutputNames } from '../node/paths.ts';
import { findInputs } from './inputs.ts';
import { connectionFlags, countOf, formatOf, optionsOf, outputFlags, parse, runFlags } from './options.ts';
import { compressedName, inFormat, inputAndOutput, type Planned, planOutputs } from './plan.ts';
import { reporterFor } from './reporter.ts';
import { reachedService, type Service } from './settings.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { type Run, work } from './work.ts';

/** Runs `lathe convert`. */
export async function convert(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, runFlags);
  const common = commonOf(values);
  const runOf =
    ({ lathe }: Service, to: string) =>
    ({ input }: Planned): Run =>
    (options) =>
      lathe.convert(input, { ...common, ...options, to });
  if (values.to === undefined) {
    const planned = inputAndOutput(positionals, 'convert');
    const extension = extensionOf(planned.output);
    if (extension === '')
      throw new UsageError(
        `Expected an output with an extension, such as ${planned.output}.pdf, or --to FORMAT but received ${planned.output}.`,
      );
    const to = formatOf(extension);
    const service = await reachedService(values, signal);
    return runAll([planned], runOf(service, to), { ...values, service, output, signal });
  }
  if (positionals.length === 0)
    throw new UsageError('Expected files, folders or URLs to convert. See lathe help convert.');
  const to = formatOf(values.to);
  const service = await reachedService(values, signal);
  const formats = new Set(await service.lathe.formats({ to, signal }));
  const inputs = await findInputs(positionals, (extension) => formats.has(extension));
  if (inputs.length === 0) throw new UsageError(`None of the inputs can be converted to ${to}.`);
  return runAll(planOutputs(inputs, inFormat(to), values.out), runOf(service, to), {
    ...values,
    service,
    output,
    signal,
  });
}

/** Runs `lathe compress`. */
export async function compress(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, runFlags);
  if (values.to !== undefined)
    throw new UsageError('compress does not accept --to because it keeps the format. Use convert instead.');
  const common = commonOf(values);
  const service = await reachedService(values, signal);
  const runOf =
    ({ input }: Planned): Run =>
    (options) =>
      service.lathe.compress(input, { ...common, ...options });
  const isPair = values.out === undefined && positionals.length === 2;
  const planned = isPair
    ? [inputAndOutput(positionals, 'compress')]
    : await planCompression(service, positionals, values.out, signal);
  return runAll(planned, runOf, { ...values, service, output, signal });
}

async function planCompression({ lathe }: Service, words: string[], out: string | undefined, signal: AbortSignal) {
  if (words.length === 0 || (out === undefined && words.length > 1)) inputAndOutput(words, 'compress');
  const formats = new Set(await lathe.formats({ to: '*', operation: 'compress', signal }));
  const inputs = await findInputs(words, (extension) => formats.has(extension));
  return planOutputs(inputs, compressedName(out === undefined), out);
}

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
  const service = await reachedService(values, signal);
  const planned = { input: inputs.join(' + '), inputs, output: target };
  const run: Run = (options) => service.lathe.merge(inputs, { ...options, to, options: chosen });
  return runAll([planned], () => run, { ...values, parallel: '1', service, output, signal });
}

type Values = ReturnType<typeof parse<typeof runFlags>>['values'];

/** Returns what all inputs of a command have in common. */
export function commonOf({ option, from, webpage }: Pick<Values, 'option' | 'from' | 'webpage'>) {
  return { options: optionsOf(option), webpage, ...(from === undefined ? {} : { from: formatOf(from) }) };
}

interface RunAllOptions extends Pick<Values, 'json' | 'quiet' | 'force' | 'parallel'> {
  service: Service;
  output: Output;
  signal: AbortSignal;
}

async function runAll(planned: Planned[], runOf: (one: Planned) => Run, options: RunAllOptions): Promise<number> {
  const { service, output, signal, force } = options;
  const reporter = reporterFor(output, options);
  const names = new OutputNames(planned);
  let failed = 0;
  try {
    const limit = countOf(options.parallel, 'parallel', 64);
    const queue = planned.values();
    const run = async () => {
      // Shared by all runs, so that each input is taken once. The first error or an abort stops them.
      for (const one of queue) {
        signal.throwIfAborted();
        const end = await work(one, runOf(one), { lathe: service.lathe, reporter, names, signal, force });
        if (end === 'failed') failed += 1;
      }
    };
    await Promise.all(Array.from({ length: limit }, run));
  } finally {
    reporter.close();
  }
  if (planned.length > 1 && !options.json && !options.quiet)
    output.out.write(`${planned.length - failed} of ${planned.length} converted\n`);
  return failed > 0 ? exitCodes.failed : exitCodes.done;
}
