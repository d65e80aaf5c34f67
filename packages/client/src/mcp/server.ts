import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';
import { LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { adviceOn, describe, isUnavailable } from '../node/problems.ts';
import { packageVersion } from '../node/version.ts';
import { Format, InputFormat, JobId, OptionValues, problemOf, Responses, registerCommonTools } from './common-tools.ts';
import type { Roots } from './roots.ts';
import { fetchResult, type Places, runConversion } from './tools.ts';

export interface ServerOptions extends Places {
  lathe: Lathe;
  /** The config file, for advice on errors. */
  configFile: string;
  roots: Roots;
}

/** Creates the server with all tools. */
export function makeServer(options: ServerOptions, ended: AbortSignal): McpServer {
  const { lathe, configFile } = options;
  const server = new McpServer(
    { name: 'lathe', version: packageVersion() },
    {
      instructions:
        'Converts files between formats. list_formats lists supported conversions. convert accepts a local path or a URL and writes local files.',
    },
  );
  const responses = new Responses((error) => problemFor(error, configFile));
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);

  registerCommonTools(server, { lathe, responses, ended });
  server.registerTool(
    'convert',
    {
      title: 'Convert a file',
      description:
        'Converts a local file or a URL, and writes the result next to the input or to output. With wait: false, returns the job immediately for use with job_status and fetch_result.',
      inputSchema: {
        input: z.string().min(1).describe('Path of a local file, or a URL.'),
        to: Format,
        from: InputFormat,
        options: OptionValues,
        output: z.string().optional().describe('Output path; several files are numbered.'),
        overwrite: z.boolean().default(false).describe('Whether to overwrite existing files.'),
        webpage: z
          .boolean()
          .default(false)
          .describe('Whether to render the URL as a web page instead of downloading it as a file.'),
        wait: z.boolean().default(true),
      },
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (request, { signal, sendNotification, _meta }) =>
      responses.value(() => {
        const token = _meta?.progressToken;
        const notify = (progress: number) => {
          const params = { progressToken: token ?? '', progress, total: 100 };
          // If the client has disconnected, the call itself fails.
          sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
        };
        return runConversion(options, request, until(signal), token === undefined ? undefined : notify);
      }),
  );
  server.registerTool(
    'fetch_result',
    {
      title: 'Fetch the result of a job',
      description: 'Waits for a job to end and writes its files into a local folder.',
      inputSchema: {
        job: JobId,
        folder: z.string().default('.').describe('Folder for the files, which keep their names.'),
        overwrite: z.boolean().default(false),
      },
      annotations: { destructiveHint: false },
    },
    (request, { signal }) => responses.value(() => fetchResult(options, request, until(signal))),
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
    closing.abort(new LatheError('canceled', 'The client disconnected.'));
    await server.close();
  }
}

function problemFor(error: unknown, configFile: string): object {
  const advice = isUnavailable(error) ? { advice: adviceOn(error, configFile) } : {};
  if (error instanceof LatheError) return { ...problemOf(error), ...advice };
  const { errorCode, msg } = describe(error);
  return { errorCode, msg };
}
