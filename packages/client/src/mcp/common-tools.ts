import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { JobFailedError, type LatheError } from '../errors.ts';
import { isOver } from '../follow.ts';
import type { Lathe } from '../lathe.ts';
import { describe } from '../node/problems.ts';
import { importOf, type LooseTask, resultOf } from '../run.ts';
import type { Job, OptionDescriptor, Options } from '../types.ts';

// An agent pays for each token of these schemas, so they say the least that it needs. The service checks the values.
export const Format = z.string();
export const OptionalFormat = Format.optional();
export const OptionValues = z.object({}).catchall(z.any()).optional().describe('See list_options');
export const JobId = z.string();
export const Operation = z.string().default('convert');
export const Flag = z.boolean().optional();
export const Link = Flag.describe('Links only');

/** The arguments of fetch_result. */
export const FetchResult = {
  job: JobId,
  folder: z.string().optional().describe('Local folder.'),
  overwrite: Flag,
  link: Link,
};

/** Default time a tool waits for a job: some agents time out after 30 seconds. */
const defaultWaitMs = 20_000;

/** Dependencies of the tools. */
export interface ToolContext {
  lathe: Lathe;
  responses: Responses;
  /** Aborts a tool, in addition to the signal of the call. */
  ended: AbortSignal;
  /** Returns how long a tool may still wait for a job. Defaults to 20 seconds. */
  waitMs?(): number;
}

/** Creates tool results. Errors are results too, so that the agent can read them. */
export class Responses {
  readonly #problemOf: (error: unknown) => object;

  constructor(problemOf: (error: unknown) => object) {
    this.#problemOf = problemOf;
  }

  /** Responds with a value as JSON. */
  value(make: () => Promise<unknown>): Promise<CallToolResult> {
    return this.content(async () => [json(await make())]);
  }

  /** Responds with content of any kind. */
  async content(make: () => Promise<ContentBlock[]>): Promise<CallToolResult> {
    try {
      return { content: await make() };
    } catch (error) {
      return { isError: true, content: [json(this.#problemOf(error))] };
    }
  }
}

/** Returns a value as JSON content, without spaces: an agent pays for each token. */
export function json(value: unknown): ContentBlock {
  return { type: 'text', text: JSON.stringify(value) };
}

const argumentNames: Record<string, string> = { output_format: 'to', input_format: 'from' };

/** Returns the details of an error, with the arguments of tools instead of the fields of requests. */
export function problemOf(error: LatheError): object {
  const { errorCode, msg } = describe(error, (field) => argumentNames[field] ?? field);
  return {
    errorCode,
    msg,
    job: error instanceof JobFailedError ? error.job.id : undefined,
  };
}

interface Processing {
  operation: string;
  to?: string | undefined;
  from?: string | undefined;
  options?: Options | undefined;
  /** Name of the output. */
  filename?: string | undefined;
}

/** Returns the tasks of an operation on imported files, and on files that it uses in addition, by their roles. */
export function tasksOf(
  sources: LooseTask[],
  { operation, to, from, options, filename }: Processing,
  others: Record<string, LooseTask> = {},
): Record<string, LooseTask> {
  const names = sources.map((_source, index) => (sources.length === 1 ? 'import' : `import-${index + 1}`));
  const named = Object.fromEntries(Object.keys(others).map((role) => [role, role]));
  return {
    ...Object.fromEntries(sources.map((source, index) => [names[index], source])),
    ...others,
    process: { ...named, operation, input: names, input_format: from, output_format: to, options, filename },
    export: { operation: 'export/url', input: 'process' },
  };
}

/** Waits for a job up to the limit of a tool, and returns its current state. */
export async function waitForJob(
  { lathe, waitMs = () => defaultWaitMs }: Pick<ToolContext, 'lathe' | 'waitMs'>,
  id: string,
  signal: AbortSignal,
): Promise<Job> {
  const enough = AbortSignal.timeout(Math.max(0, waitMs()));
  try {
    return await lathe.waitOnce(id, { signal: AbortSignal.any([signal, enough]) });
  } catch (error) {
    if (!enough.aborted || signal.aborted) throw error;
    return lathe.job(id, { signal });
  }
}

/** Summarizes a job for an agent. Tasks are listed unless all is well. */
export function statusOf(job: Job) {
  const { id, status, result, tasks = [] } = job;
  const { files, warnings } = resultOf(job);
  const shown = tasks.map(({ name, operation, status: state, progress, result: { errorCode, msg } }) => ({
    name,
    operation,
    status: state,
    progress,
    errorCode,
    msg,
  }));
  return {
    job: id,
    status,
    ...(status === 'completed' ? {} : { result, tasks: shown }),
    files,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(isOver(job) ? {} : { next: 'The job has not ended. Call job_status with wait: true.' }),
  };
}

/** Summarizes an option in a few words. */
function optionOf({
  name,
  hint,
  default_value,
  data_type,
  enum_values = [],
  properties = {},
  units,
}: OptionDescriptor) {
  const { min, max } = properties;
  const range = min === undefined && max === undefined ? '' : ` ${min ?? ''}..${max ?? ''}`;
  const type = enum_values.map(({ value }) => value).join('|') || `${data_type}${range}${units ? ` ${units}` : ''}`;
  return { name, type, ...(default_value === '' ? {} : { default: default_value }), hint };
}

/** Registers the tools that the local server and the service have in common. */
export function registerCommonTools(server: McpServer, context: ToolContext): void {
  const { lathe, responses, ended } = context;
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);

  server.registerTool(
    'list_formats',
    {
      title: 'List formats',
      description: 'Lists output formats (from), input formats (to), or all formats of an operation.',
      inputSchema: { from: OptionalFormat, to: OptionalFormat, operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      responses.value(async () => {
        const formats = await lathe.describeFormats({ from, to, operation, signal: until(signal) });
        // Other names of a format are accepted, too.
        const names = formats.flatMap(({ ext, alias_of: whole }) => (whole === undefined ? [ext] : []));
        return { formats: [...new Set(names)].sort().join(' ') };
      }),
  );
  server.registerTool(
    'list_options',
    {
      title: 'List options',
      description: 'Lists the options of an operation for a pair of formats.',
      inputSchema: { from: Format, to: OptionalFormat, operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      responses.value(async () => {
        const { options } = await lathe.options(from, to ?? (operation === 'convert' ? from : undefined), {
          operation,
          signal: until(signal),
        });
        return { options: options.map(optionOf) };
      }),
  );
  server.registerTool(
    'estimate',
    {
      title: 'Estimate a conversion',
      description: 'Checks an operation and estimates its seconds, without running it.',
      inputSchema: {
        input: z.string().optional().describe('URL or filename.'),
        to: OptionalFormat,
        from: OptionalFormat,
        options: OptionValues,
        operation: Operation,
      },
      annotations: { readOnlyHint: true },
    },
    ({ input = '', ...processing }, { signal }) =>
      responses.value(() =>
        lathe.estimate({ tasks: tasksOf([importOf(input)], processing) }, { signal: until(signal) }),
      ),
  );
  server.registerTool(
    'job_status',
    {
      title: 'Show a job',
      description: 'Shows progress, errors and files of a job.',
      inputSchema: {
        job: JobId,
        wait: Flag.describe('Up to 20 seconds'),
      },
      annotations: { readOnlyHint: true },
    },
    ({ job, wait = false }, { signal }) =>
      responses.value(async () => {
        const own = until(signal);
        return statusOf(await (wait ? waitForJob(context, job, own) : lathe.job(job, { signal: own })));
      }),
  );
  server.registerTool(
    'cancel',
    {
      title: 'Cancel a job',
      description: 'Cancels a job.',
      inputSchema: { job: JobId },
      annotations: { destructiveHint: true, idempotentHint: true },
    },
    ({ job }, { signal }) =>
      responses.value(async () => {
        await lathe.cancel(job, { signal: until(signal) });
        return statusOf(await lathe.job(job, { signal: until(signal) }));
      }),
  );
}
