import type { Job, OptionDescriptor } from '../types.ts';
import { connectionFlags, countOf, formatOf, parse } from './options.ts';
import { serviceFor } from './settings.ts';
import { type Output, printable, table } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

const jsonFlag = { json: { type: 'boolean', default: false } } as const;
const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;

/** Runs `lathe formats`. */
export async function formats(args: string[], { out }: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, { ...connectionFlags, ...jsonFlag, into: { type: 'string' } });
  const [from, ...others] = positionals;
  if (others.length > 0 || (from !== undefined && values.into !== undefined))
    throw new UsageError('Expected one format. See lathe help formats.');
  const { lathe } = await serviceFor(values);
  const into = values.into === undefined ? undefined : formatOf(values.into);
  const list = await lathe.formats({ signal, to: into, from: from === undefined ? undefined : formatOf(from) });
  if (list.length === 0)
    throw new UsageError(`The service does not support the format ${from ?? into}. Run lathe formats for a list.`);
  out.write(values.json ? `${JSON.stringify(list)}\n` : `${list.join('\n')}\n`);
  return exitCodes.done;
}

/** Runs `lathe options`. */
export async function options(args: string[], { out }: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, { ...connectionFlags, ...jsonFlag });
  const [from, to, ...others] = positionals;
  if (from === undefined || to === undefined || others.length > 0)
    throw new UsageError('Expected two formats, for example: lathe options jpg pdf.');
  const { lathe } = await serviceFor(values);
  const list = await lathe.options(formatOf(from), formatOf(to), { signal });
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
  const flags = { status: { type: 'string' }, limit: { type: 'string', default: '20' } } as const;
  const { values, positionals } = parse(args, { ...connectionFlags, ...jsonFlag, ...flags });
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
  const steps = tasks.map(({ operation, payload }) =>
    payload?.output_format === undefined ? operation : `${operation} ${payload.output_format}`,
  );
  return [
    id,
    status,
    createdAt.slice(0, 19).replace('T', ' '),
    printable(steps.join(', ')),
    printable(result.msg ?? tag),
  ];
}
