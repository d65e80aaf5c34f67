import { extensionOf, OutputNames } from '../node/paths.ts';
import { reachedService, type Service } from './connect.ts';
import { findInputs } from './inputs.ts';
import { countOf, formatOf, optionsOf, parse, runFlags } from './options.ts';
import { compressedName, inFormat, inputAndOutput, type Planned, planOutputs } from './plan.ts';
import { inParallel } from './pool.ts';
import { type Reporter, reporterFor } from './reporter.ts';
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

type Values = ReturnType<typeof parse<typeof runFlags>>['values'];

function commonOf({ option, from, webpage }: Pick<Values, 'option' | 'from' | 'webpage'>) {
  return { options: optionsOf(option), webpage, ...(from === undefined ? {} : { from: formatOf(from) }) };
}

interface RunAllOptions extends Pick<Values, 'json' | 'quiet' | 'force' | 'parallel'> {
  service: Service;
  output: Output;
  signal: AbortSignal;
}

async function runAll(planned: Planned[], runOf: (one: Planned) => Run, options: RunAllOptions): Promise<number> {
  const { service, output, signal, force } = options;
  const reporter: Reporter = reporterFor(output, options);
  const names = new OutputNames(planned);
  let failed = 0;
  try {
    const limit = countOf(options.parallel, 'parallel', 64);
    await inParallel(
      planned,
      limit,
      async (one) => {
        const end = await work(one, runOf(one), { lathe: service.lathe, reporter, names, signal, force });
        if (end === 'failed') failed += 1;
      },
      signal,
    );
  } finally {
    reporter.close();
  }
  if (planned.length > 1 && !options.json && !options.quiet)
    output.out.write(`${planned.length - failed} of ${planned.length} converted\n`);
  return failed > 0 ? exitCodes.failed : exitCodes.done;
}
