import type { Format, Job, OptionDescriptor, Task } from '../types.ts';
import { kindOf, kinds } from './kinds.ts';
import { countOf, flags, formatOf, parse } from './options.ts';
import { serviceFor } from './settings.ts';
import { columns, type Output, printable, table } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;

/** Runs `lathe formats`. */
export async function formats(args: string[], { out }: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.formats);
  const [from, ...others] = positionals;
  if (others.length > 0 || (from !== undefined && values.into !== undefined))
    throw new UsageError('Expected one format. See lathe help formats.');
  const { lathe } = await serviceFor(values);
  const into = values.into === undefined ? undefined : formatOf(values.into);
  const list = await lathe.describeFormats({
    signal,
    to: into,
    from: from === undefined ? undefined : formatOf(from),
  });
  if (list.length === 0)
    throw new UsageError(`The service does not support the format ${from ?? into}. Run lathe formats for a list.`);
  if (values.json) out.write(`${JSON.stringify([...new Set(list.map(({ ext }) => ext))].sort())}\n`);
  else out.write(formatColumns(list, out.columns || 80));
  return exitCodes.done;
}

/** Lists formats by kind, with their other names in parentheses. */
function formatColumns(list: Format[], width: number): string {
  return kinds
    .flatMap((kind) => {
      const found = list.filter((format) => kindOf(format) === kind);
      return found.length === 0 ? [] : [`${kind}\n${columns(folded(found), width)}`];
    })
    .join('\n');
}

function folded(list: Format[]): string[] {
  const names = new Map<string, Set<string>>();
  for (const { ext, alias_of: whole = ext } of list) {
    const aliases = names.get(whole) ?? new Set();
    names.set(whole, ext === whole ? aliases : aliases.add(ext));
  }
  return [...names]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, aliases]) => (aliases.size === 0 ? name : `${name} (${[...aliases].sort().join(', ')})`));
}

/** Runs `lathe options`. */
export async function options(args: string[], { out }: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.options);
  const { operation } = values;
  const [from, to, ...others] = positionals;
  if (from === undefined || (to === undefined && operation === 'convert') || others.length > 0)
    throw new UsageError('Expected two formats, for example: lathe options jpg pdf.');
  const { lathe } = await serviceFor(values);
  const list = await lathe.options(formatOf(from), to === undefined ? undefined : formatOf(to), { operation, signal });
  out.write(values.json ? `${JSON.stringify(list.options)}\n` : table(list.options.map(optionRow)));
  return exitCodes.done;
}

function optionRow(option: OptionDescriptor): string[] {
  const { name, default_value, hint } = option;
  return [name, valuesOf(option), default_value === '' ? '' : `(${default_value})`, printable(hint)];
}

function valuesOf({ data_type, enum_values, properties = {}, units }: OptionDescriptor): string {
  const listed = (enum_values ?? []).map(({ value }) => value);
  if (listed.length > 0) return listed.length > 6 ? `${listed.slice(0, 6).join('|')}|…` : listed.join('|');
  const { min, max } = properties;
  const range = min === undefined && max === undefined ? '' : ` ${min ?? ''}..${max ?? ''}`;
  return `${data_type}${range}${units ? ` ${units}` : ''}`;
}

/** Runs `lathe jobs`. */
export async function jobs(args: string[], { out }: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.jobs);
  if (positionals.length > 0) throw new UsageError('Expected flags only. See lathe help jobs.');
  const limit = countOf(values.limit, 'limit', 10_000);
  const status = jobStatuses.find((one) => one === values.status);
  if (values.status !== undefined && status === undefined)
    throw new UsageError(`Expected ${jobStatuses.join(', ')} for --status but received ${values.status}.`);
  const { lathe } = await serviceFor(values);
  const found: Job[] = [];
  const filter = { include: 'tasks', per_page: Math.min(limit, 50), ...(status === undefined ? {} : { status }) };
  for await (const job of lathe.jobs({ ...filter, signal })) {
    found.push(job);
    if (found.length >= limit) break;
  }
  if (values.json) for (const job of found) out.write(`${JSON.stringify(job)}\n`);
  else out.write(found.length === 0 ? 'No jobs found.\n' : table(found.map(jobRow)));
  return exitCodes.done;
}

function jobRow({ id, status, createdAt, result, tag = '', tasks = [] }: Job): string[] {
  const files = tasks.filter(({ operation }) => operation.startsWith('import/')).flatMap(namesIn);
  const steps = tasks
    .filter(({ operation }) => !/^(?:import|export)\//.test(operation))
    .map(({ operation, payload }) =>
      payload?.output_format === undefined ? operation : `${operation} ${payload.output_format}`,
    );
  const [first = '', ...others] = files;
  return [
    id,
    status,
    createdAt.slice(0, 19).replace('T', ' '),
    printable(others.length === 0 ? first : `${first} and ${others.length} more`),
    printable(steps.join(', ')),
    printable(result.msg ?? tag),
  ];
}

/** Returns the names of the files that a task has imported, or will import. */
function namesIn({ payload, result }: Task): string[] {
  const found = result.files?.map(({ filename }) => filename) ?? [];
  if (found.length > 0) return found;
  const { filename, url, key, path } = payload ?? {};
  return [filename, url, key, path].filter((name) => typeof name === 'string').slice(0, 1);
}
