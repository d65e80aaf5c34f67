import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { JobFailedError, type LatheError } from '../errors.ts';
import { isOver } from '../follow.ts';
import type { Lathe } from '../lathe.ts';
import { importOf, type LooseTask, resultOf } from '../run.ts';
import type { Job, Options } from '../types.ts';

export const Format = z.string().min(1).max(20).describe('A file format by its extension, such as pdf.');
export const InputFormat = Format.optional().describe('Format of the input; detected from its content by default.');
export const OptionValues = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .default({})
  .describe('Options by name; see list_options.');
export const JobId = z.string().describe('Id of the job.');
const Operation = z.enum(['convert', 'compress', 'merge', 'crop', 'trim']).default('convert');

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

/** Returns a value as JSON content. */
export function json(value: unknown): ContentBlock {
  return { type: 'text', text: JSON.stringify(value, null, 2) };
}

/** Returns the details of an error. */
export function problemOf(error: LatheError): object {
  const { errorCode, msg, errors } = error;
  return {
    errorCode,
    msg,
    errors,
    job: error instanceof JobFailedError ? error.job.id : undefined,
  };
}

interface Conversion {
  to: string;
  from?: string | undefined;
  options: Options;
}

/** Returns the tasks of a conversion. */
export function tasksOf(source: LooseTask, { to, from, options }: Conversion): Record<string, LooseTask> {
  return {
    import: source,
    process: { operation: 'convert', input: 'import', input_format: from, output_format: to, options },
    export: { operation: 'export/url', input: 'process' },
  };
}

/** Waits for a job up to the limit of a tool, and returns its current state. */
export async function waitForJob(
  { lathe, waitMs = () => defaultWaitMs }: ToolContext,
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

/** Summarizes a job for an agent. */
export function statusOf(job: Job) {
  const { id, status, result, tasks = [] } = job;
  const { files, warnings } = resultOf(job);
  return {
    job: id,
    status,
    result,
    tasks: tasks.map(({ name, operation, status: state, progress, result: { errorCode, msg } }) => ({
      name,
      operation,
      status: state,
      progress,
      errorCode,
      msg,
    })),
    files,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(isOver(job) ? {} : { next: 'The job has not ended. Call job_status with wait: true.' }),
  };
}

/** Registers the tools that the local server and the service have in common. */
export function registerCommonTools(server: McpServer, context: ToolContext): void {
  const { lathe, responses, ended } = context;
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);

  server.registerTool(
    'list_formats',
    {
      title: 'List formats',
      description: 'Lists the output formats of a format (from), the input formats for a format (to), or all formats.',
      inputSchema: { from: Format.optional(), to: Format.optional(), operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      responses.value(async () => ({ formats: await lathe.formats({ from, to, operation, signal: until(signal) }) })),
  );
  server.registerTool(
    'list_options',
    {
      title: 'List options',
      description: 'Lists the options of a conversion between two formats with types, values and defaults.',
      inputSchema: { from: Format, to: Format, operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      responses.value(() => lathe.options(from, to, { operation, signal: until(signal) })),
  );
  server.registerTool(
    'estimate',
    {
      title: 'Estimate a conversion',
      description: 'Validates a conversion and estimates its duration in seconds, without running it.',
      inputSchema: {
        input: z.string().optional().describe('A URL or a filename. A URL is validated but not fetched.'),
        to: Format,
        from: InputFormat,
        options: OptionValues,
      },
      annotations: { readOnlyHint: true },
    },
    ({ input = '', ...conversion }, { signal }) =>
      responses.value(() => lathe.estimate({ tasks: tasksOf(importOf(input), conversion) }, { signal: until(signal) })),
  );
  server.registerTool(
    'job_status',
    {
      title: 'Show a job',
      description: 'Shows the progress, errors and result files of a job.',
      inputSchema: {
        job: JobId,
        wait: z.boolean().default(false).describe('Whether to wait up to 20 seconds for the job to end.'),
      },
      annotations: { readOnlyHint: true },
    },
    ({ job, wait }, { signal }) =>
      responses.value(async () => {
        const own = until(signal);
        return statusOf(await (wait ? waitForJob(context, job, own) : lathe.job(job, { signal: own })));
      }),
  );
  server.registerTool(
    'cancel',
    {
      title: 'Cancel a job',
      description: 'Cancels the unfinished tasks of a job, and shows the job.',
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
