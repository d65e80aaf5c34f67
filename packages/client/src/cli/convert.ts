import { extensionOf, OutputNames } from '../node/paths.ts';
import { checkOptionNames } from '../option-names.ts';
import type { PerformOptions } from '../run.ts';
import { isWebAddress } from '../source.ts';
import { findInputs, isFolder, isPattern, type SkippedInput } from './inputs.ts';
import { countOf, flags, formatOf, optionsOf, pairsOf, parse, type runFlags } from './options.ts';
import { inFormat, inputAndOutput, type Planned, planOutputs, withSuffix } from './plan.ts';
import { reporterFor } from './reporter.ts';
import { reachedService, type Service } from './settings.ts';
import { inputOf, isStandard } from './standard-streams.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';
import { work } from './work.ts';

/** Runs `lathe convert`. */
export async function convert(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.convert);
  const common = commonOf(values);
  const targets = targetsOf(positionals, values.out, values.to === undefined);
  if (positionals.length === 0)
    throw new UsageError('Expected files, folders or URLs to convert. See lathe help convert.');
  const to = values.to === undefined ? formatOfOutput(targets, positionals) : formatOf(values.to);
  const service = await reachedService(values, signal);
  const context = { ...values, service, output, signal };
  if ('output' in targets) return runAll('convert', [targets], { ...common, to }, context);
  const formats = new Set(await service.lathe.formats({ to, signal }));
  const { inputs, skipped } = await findInputs(targets.inputs, (extension) => {
    if (extension === to && targets.folder === undefined) return `it is a ${to} file already`;
    return formats.has(extension) ? undefined : `${extension} cannot be converted to ${to}`;
  });
  if (inputs.length + skipped.length === 0) throw new UsageError(`None of the inputs can be converted to ${to}.`);
  return runAll(
    'convert',
    planOutputs(inputs, inFormat(to), targets.folder),
    { ...common, to },
    { ...context, skipped },
  );
}

/** Runs `lathe compress`. */
export function compress(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.compress);
  if (values.to !== undefined)
    throw new UsageError('compress does not accept --to because it keeps the format. Use convert instead.');
  return change({ operation: 'compress', suffix: 'compressed' }, positionals, commonOf(values), {
    ...values,
    output,
    signal,
  });
}

/** Runs `lathe crop`. */
export function crop(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.crop);
  const { x, y, width, height } = values;
  const common = commonOf(values, { x, y, width, height });
  if (Object.keys(common.options).length === 0)
    throw new UsageError('Expected the part to keep: --x, --y, --width, --height, or --option aspect=16:9.');
  return change({ operation: 'crop', suffix: 'cropped' }, positionals, common, { ...values, output, signal });
}

/** Runs `lathe trim`. */
export function trim(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.trim);
  const common = commonOf(values, { trim_start: values.start, trim_end: values.end });
  if (Object.keys(common.options).length === 0)
    throw new UsageError('Expected the part to keep: --start TIME, --end TIME, or both. A time is 90 or 00:01:30.');
  return change({ operation: 'trim', suffix: 'trimmed' }, positionals, common, { ...values, output, signal });
}

/** Returns the command of a group of operations on documents, such as `lathe pdf`. */
export function documents(group: 'pdf' | 'invoice') {
  return (args: string[], output: Output, signal: AbortSignal): Promise<number> => {
    const { values, positionals } = parse(args, flags[group]);
    const [name, ...words] = positionals;
    if (name === undefined) throw new UsageError(`Expected an operation. See lathe help ${group}.`);
    const operation = { operation: `${group}/${name}`, suffix: name };
    return change(operation, words, commonOf(values), { ...values, output, signal });
  };
}

/** An operation that keeps the format or has one by default, and what it adds to the names of files. */
interface Change {
  operation: string;
  suffix: string;
}

/** Runs an operation that needs no format, unless an output of another format is named. */
async function change(
  { operation, suffix }: Change,
  words: string[],
  common: PerformOptions,
  values: Values & Pick<RunAllContext, 'output' | 'signal'>,
): Promise<number> {
  const { out, signal } = values;
  const targets = targetsOf(words, out, true);
  if (words.length === 0 || (!('output' in targets) && out === undefined && words.length > 1))
    inputAndOutput(words, commandOf(operation));
  const service = await reachedService(values, signal);
  const context = { ...values, service };
  if ('output' in targets) {
    const [before, after] = [extensionOf(targets.input), extensionOf(targets.output)];
    const wanted = values.to ?? (before === '' || after === before ? undefined : after || undefined);
    const to = operation === 'compress' || wanted === undefined ? {} : { to: formatOf(wanted) };
    return runAll(operation, [targets], { ...common, ...to }, context);
  }
  const formats = new Set(await service.lathe.formats({ to: '*', operation, signal }));
  const { inputs, skipped } = await findInputs(targets.inputs, (extension) =>
    formats.has(extension) ? undefined : `there is no ${operation} for ${extension}`,
  );
  const to = values.to === undefined ? {} : { to: formatOf(values.to) };
  const [first] = inputs;
  const format =
    to.to ??
    (operation.includes('/') && first ? await defaultFormat(service, operation, first.input, signal) : undefined);
  const planned = planOutputs(inputs, withSuffix(out === undefined ? `-${suffix}` : '', format), targets.folder);
  return runAll(operation, planned, { ...common, ...to }, { ...context, skipped });
}

/** Returns the format that an operation writes by default. */
async function defaultFormat(
  { lathe }: Service,
  operation: string,
  input: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const extension = extensionOf(input);
  if (extension === '') return undefined;
  return (await lathe.options(extension, undefined, { operation, signal })).targetExt;
}

function commandOf(operation: string): string {
  return operation.replace(/\/.*/, '');
}

/** Runs `lathe merge`. */
export async function merge(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.merge);
  const target = values.out ?? positionals.at(-1);
  const inputs = values.out === undefined ? positionals.slice(0, -1) : positionals;
  if (target === undefined || inputs.length < 2)
    throw new UsageError('Expected two or more inputs and an output. See lathe help merge.');
  const to = values.to === undefined ? extensionOf(target) : formatOf(values.to);
  if (to !== 'pdf' && to !== 'gif')
    throw new UsageError(`Expected an output that ends in .pdf or .gif, or --to pdf or gif, but received ${target}.`);
  const options = optionsOf(values.option);
  const service = await reachedService(values, signal);
  const planned = { input: inputs.join(' + '), inputs, output: target };
  return runAll('merge', [planned], { to, options }, { ...values, parallel: '1', service, output, signal });
}

type Values = ReturnType<typeof parse<typeof runFlags>>['values'];

/** Returns what all inputs of a command have in common. `more` are options with flags of their own. */
export function commonOf(
  { option, from, webpage, with: files }: Pick<Values, 'option' | 'from' | 'webpage' | 'with'>,
  more: Record<string, string | undefined> = {},
) {
  const given = Object.entries(more).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return {
    options: optionsOf([...given, ...option]),
    webpage,
    files: pairsOf(files, 'with'),
    ...(from === undefined ? {} : { from: formatOf(from) }),
  };
}

/** One input with its output, or inputs whose outputs are named after them. */
type Targets = { input: string; output: string } | { inputs: string[]; folder: string | undefined };

function targetsOf(words: string[], out: string | undefined, isPair: boolean): Targets {
  const [input = '', second] = words;
  if (out !== undefined)
    return words.length === 1 && isFile(out, input) ? { input, output: out } : { inputs: words, folder: out };
  if (second !== undefined && words.length === 2 && (isPair || isStandard(second))) return { input, output: second };
  // A filter: what comes from standard input goes to standard output.
  if (words.length === 1 && isStandard(input)) return { input, output: input };
  return { inputs: words, folder: undefined };
}

/** Returns whether `--out` is the path of a file for one input, not a folder. */
function isFile(out: string, input: string): boolean {
  if (isStandard(out)) return true;
  return /[a-z]/.test(extensionOf(out)) && !/[/\\]$/.test(out) && ![out, input].some(isFolder) && !isPattern(input);
}

function formatOfOutput(targets: Targets, words: string[]): string {
  if (!('output' in targets)) throw inputAndOutput(words, 'convert');
  const extension = extensionOf(targets.output);
  if (extension !== '') return formatOf(extension);
  const { output } = targets;
  throw new UsageError(
    isStandard(output)
      ? 'Expected --to FORMAT, because the output is standard output.'
      : `Expected an output with an extension, such as ${output}.pdf, or --to FORMAT but received ${output}.`,
  );
}

interface RunAllContext extends Pick<Values, 'json' | 'quiet' | 'force' | 'parallel'> {
  service: Service;
  output: Output;
  signal: AbortSignal;
  /** Files of folders that are not converted. */
  skipped?: SkippedInput[];
}

async function runAll(
  operation: string,
  planned: Planned[],
  common: PerformOptions,
  context: RunAllContext,
): Promise<number> {
  const { signal, force, skipped = [] } = context;
  const { lathe } = context.service;
  const { options = {}, from, to } = common;
  const inputs = planned.flatMap(({ input, inputs: all = [input] }) => all);
  const formats = inputs.map((input) => from ?? (isWebAddress(input) ? '' : extensionOf(input)));
  if (!formats.includes('')) await checkOptionNames(lathe, { operation, from: formats, to, options }, { signal });
  // What is said about files must not mix with their content.
  const output = planned.some((one) => isStandard(one.output))
    ? { out: context.output.err, err: context.output.err }
    : context.output;
  const reporter = reporterFor(output, context);
  const names = new OutputNames(planned);
  let failed = 0;
  try {
    for (const { input, reason } of skipped) reporter.end({ type: 'skipped', input, reason });
    const limit = countOf(context.parallel, 'parallel', 64);
    const queue = planned.values();
    const run = async () => {
      // Shared by all runs, so that each input is taken once. The first error or an abort stops them.
      for (const one of queue) {
        signal.throwIfAborted();
        const perform = async (own: PerformOptions) =>
          lathe.perform(
            operation,
            await Promise.all((one.inputs ?? [one.input]).map((input) => inputOf(input, from))),
            {
              ...common,
              ...own,
            },
          );
        const end = await work(one, perform, { lathe, reporter, names, signal, force, out: context.output.out });
        if (end === 'failed') failed += 1;
      }
    };
    await Promise.all(Array.from({ length: limit }, run));
  } finally {
    reporter.close();
  }
  if (planned.length + skipped.length > 1 && !context.json && !context.quiet)
    output.out.write(
      `${planned.length - failed} of ${planned.length} converted${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}\n`,
    );
  return failed > 0 ? exitCodes.failed : exitCodes.done;
}
