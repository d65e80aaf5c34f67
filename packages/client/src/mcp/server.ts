import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { adviceOn, describe, isUnavailable } from '../node/problems.ts';
import { packageVersion } from '../node/version.ts';
import type { Roots } from './roots.ts';
import { fetchResult, type Places, runConversion, statusOf, tasksOf } from './tools.ts';

export interface ServerOptions extends Places {
  lathe: Lathe;
  /** Where the key may be written. */
  configFile: string;
  roots: Roots;
}

const Format = z.string().min(1).max(20).describe('A file format by its extension, such as pdf.');
const Operation = z.enum(['convert', 'compress', 'merge', 'crop', 'trim']).default('convert');
const OptionValues = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .default({})
  .describe('Options by their names, as list_options returns them.');
const Source = z.string().min(1).describe('Path of a local file, or a URL.');

/** Makes the server with all its tools. */
export function makeServer(options: ServerOptions, ended: AbortSignal): McpServer {
  const { lathe, configFile } = options;
  const server = new McpServer(
    { name: 'lathe', version: packageVersion() },
    {
      instructions:
        'Converts files between formats. list_formats says what can be converted to what; convert takes a local path or a URL and writes local files.',
    },
  );
  const respond = async (make: () => Promise<unknown>): Promise<CallToolResult> => {
    try {
      return { content: [{ type: 'text', text: JSON.stringify(await make(), null, 2) }] };
    } catch (error) {
      return {
        isError: true,
        content: [{ type: 'text', text: JSON.stringify(problemOf(error, configFile), null, 2) }],
      };
    }
  };
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);

  server.registerTool(
    'list_formats',
    {
      title: 'List formats',
      description: 'Lists what a format can be converted to (from), what can be converted to it (to), or all formats.',
      inputSchema: { from: Format.optional(), to: Format.optional(), operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      respond(async () => ({ formats: await lathe.formats({ from, to, operation, signal: until(signal) }) })),
  );
  server.registerTool(
    'list_options',
    {
      title: 'List options',
      description: 'Lists the options of a conversion between two formats, with types, values and defaults.',
      inputSchema: { from: Format, to: Format, operation: Operation },
      annotations: { readOnlyHint: true },
    },
    ({ from, to, operation }, { signal }) =>
      respond(() => lathe.options(from, to, { operation, signal: until(signal) })),
  );
  server.registerTool(
    'convert',
    {
      title: 'Convert a file',
      description:
        'Converts a local file or what a URL leads to, and writes the result beside it or at output. With wait: false it returns the job at once, for job_status and fetch_result.',
      inputSchema: {
        input: Source,
        to: Format,
        from: Format.optional().describe('Format of the input; detected from its content by default.'),
        options: OptionValues,
        output: z.string().optional().describe('Path to write to; several files are numbered.'),
        overwrite: z.boolean().default(false).describe('Whether files that exist are replaced.'),
        webpage: z.boolean().default(false).describe('Whether a URL is a web page to render, and not a file.'),
        wait: z.boolean().default(true),
      },
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (request, { signal, sendNotification, _meta }) =>
      respond(() =>
        runConversion(options, request, until(signal), (progress) => {
          const token = _meta?.progressToken;
          if (token === undefined) return;
          const params = { progressToken: token, progress, total: 100 };
          // A client that is gone needs no progress; the call itself fails then.
          sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
        }),
      ),
  );
  server.registerTool(
    'job_status',
    {
      title: 'Show a job',
      description: 'Shows how far a job is, what failed, and which files it gave.',
      inputSchema: { job: z.string().describe('Id of the job.') },
      annotations: { readOnlyHint: true },
    },
    ({ job }, { signal }) => respond(async () => statusOf(await lathe.job(job, { signal: until(signal) }))),
  );
  server.registerTool(
    'fetch_result',
    {
      title: 'Fetch the result of a job',
      description: 'Waits for a job to end and writes its files into a local folder.',
      inputSchema: {
        job: z.string().describe('Id of the job.'),
        folder: z.string().default('.').describe('Where to write the files, under their own names.'),
        overwrite: z.boolean().default(false),
      },
      annotations: { destructiveHint: false },
    },
    (request, { signal }) => respond(() => fetchResult(options, request, until(signal))),
  );
  server.registerTool(
    'estimate',
    {
      title: 'Estimate a conversion',
      description: 'Returns how many seconds a conversion is expected to take, without running it.',
      inputSchema: { input: Source, to: Format, from: Format.optional(), options: OptionValues },
      annotations: { readOnlyHint: true },
    },
    (request, { signal }) => respond(() => lathe.estimate({ tasks: tasksOf(request) }, { signal: until(signal) })),
  );
  return server;
}

/** Serves the tools over standard input and output until the input ends. */
export async function serve(options: ServerOptions, signal: AbortSignal): Promise<void> {
  const closing = new AbortController();
  const server = makeServer(options, closing.signal);
  await server.connect(new StdioServerTransport());
  try {
    await Promise.race([once(process.stdin, 'end', { signal }), once(process.stdin, 'close', { signal })]);
  } finally {
    closing.abort(new LatheError('canceled', 'The client has gone.'));
    await server.close();
  }
}

function problemOf(error: unknown, configFile: string) {
  const { errorCode, msg } = describe(error);
  const advice = isUnavailable(error) ? { advice: adviceOn(error, configFile) } : {};
  const fields = error instanceof LatheError && error.errors ? { errors: error.errors } : {};
  return { errorCode, msg, ...fields, ...advice };
}
