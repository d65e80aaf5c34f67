import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { adviceOn, describe, isUnavailable } from '../node/problems.ts';
import { packageVersion } from '../node/version.ts';
import { FetchResult, problemOf, Responses, registerCommonTools } from './common-tools.ts';
import { registerOperations } from './operations.ts';
import type { Roots } from './roots.ts';
import { fetchResult, type Places, runOperation } from './tools.ts';

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
        'Converts, compresses, merges, crops and trims local files and URLs, and writes local files. list_formats lists what is supported.',
    },
  );
  const responses = new Responses((error) => problemFor(error, configFile));
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);

  registerCommonTools(server, { lathe, responses, ended });
  registerOperations(
    server,
    'Writes the result next to the input or to output, and returns its path; several files are numbered. With wait: false, returns the job for job_status and fetch_result.',
    (request, { signal, sendNotification, _meta }) =>
      responses.value(() => {
        const token = _meta?.progressToken;
        const notify = (progress: number) => {
          const params = { progressToken: token ?? '', progress, total: 100 };
          // If the client has disconnected, the call itself fails.
          sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
        };
        return runOperation(options, request, until(signal), token === undefined ? undefined : notify);
      }),
  );
  server.registerTool(
    'fetch_result',
    {
      title: 'Fetch the result of a job',
      description: 'Waits for a job to end and writes its files into a local folder.',
      inputSchema: FetchResult,
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
