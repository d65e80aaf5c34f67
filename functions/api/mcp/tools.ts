import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';
import { JobFailedError, LatheError, type Options, type WaitOptions } from '../../../packages/client/src/index.ts';
import type { InstantResult } from '../../../packages/client/src/instant.ts';
import {
  Format,
  InputFormat,
  JobId,
  json,
  OptionValues,
  registerCommonTools,
  statusOf,
  type ToolContext,
  tasksOf,
  waitForJob,
} from '../../../packages/client/src/mcp/common-tools.ts';
import { performInstantly } from '../../../packages/client/src/run.ts';
import { required } from '../../../shared/settings.ts';
import { ResultContent } from './result-content.ts';

const Conversion = { to: Format, from: InputFormat, options: OptionValues };
const follow = 'Progress is not reported; call job_status to check a job that has not ended.';

type ServiceContext = ToolContext & Required<Pick<ToolContext, 'waitMs'>>;

/** Creates the server with all tools of the service. */
export function makeServer(context: ServiceContext): McpServer {
  const { lathe, responses, ended } = context;
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);
  const content = new ResultContent(lathe);
  const server = new McpServer(
    { name: 'lathe', version: required('LATHE_VERSION') },
    {
      instructions: `Converts files between formats. list_formats lists the available conversions. convert takes a URL, a web page or a small file in base64, and returns small texts and images; create_upload takes larger files. fetch_result returns links to the results of a job. ${follow}`,
    },
  );
  registerCommonTools(server, context);
  server.registerTool(
    'convert',
    {
      title: 'Convert a file',
      description: `Converts the file at a URL, or a file of up to 1 MB sent as content. Returns a small text or image inline, and other results as a job with links to its files. Waits up to 20 seconds, or not at all with wait: false. ${follow}`,
      inputSchema: {
        url: z.string().optional().describe('URL of the file, or of a web page to render.'),
        content: z.string().optional().describe('The file in base64, instead of a URL.'),
        filename: z.string().optional().describe('Name of the file sent as content.'),
        webpage: z.boolean().default(false).describe('Whether the URL is a web page to render instead of a file.'),
        ...Conversion,
        link: z.boolean().default(false).describe('Whether to return links also for small texts and images.'),
        wait: z.boolean().default(true),
      },
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ link, wait, ...request }, { signal }) =>
      responses.content(async () => {
        const own = until(signal);
        const source = sourceOf(request);
        const isInstant = wait && !link && !request.webpage && content.accepts(request.to);
        const result = isInstant && (await performInstantly(lathe, 'convert', formOf(request), waitOf(context, own)));
        if (result && 'files' in result) {
          const returned = (await content.of(result.files, own)).flatMap((block) => block ?? []);
          if (returned.length === result.files.length) return [json(describe(result)), ...returned];
        }
        const job =
          result && 'id' in result
            ? await waitForJob(context, result.id, own)
            : await lathe.createAnyJob(
                { tasks: tasksOf(source, request) },
                wait ? waitOf(context, own) : { signal: own },
              );
        if (wait && job.status === 'failed') throw new JobFailedError(job);
        return [json(statusOf(job))];
      }),
  );
  server.registerTool(
    'create_upload',
    {
      title: 'Convert a file that you upload',
      description: `Creates a job that converts a file of any size, and returns the form to post the file to, with a matching curl command. ${follow}`,
      inputSchema: Conversion,
      annotations: { destructiveHint: false },
    },
    (conversion, { signal }) =>
      responses.value(async () => {
        const tasks = tasksOf({ operation: 'import/upload' }, conversion);
        const job = await lathe.createAnyJob({ tasks }, { signal: until(signal) });
        const form = job.tasks?.find(({ name }) => name === 'import')?.result.form;
        if (!form) throw new Error(`The job ${job.id} has no form.`);
        return { ...statusOf(job), form, curl: curlFor(form), next: 'Post the file, then call job_status.' };
      }),
  );
  server.registerTool(
    'fetch_result',
    {
      title: 'Fetch the result of a job',
      description: `Waits up to 20 seconds for a job to end and returns links to its files. Small texts and images are also returned inline. ${follow}`,
      inputSchema: {
        job: JobId,
        content: z.boolean().default(true).describe('Whether to return small texts and images inline.'),
      },
      annotations: { readOnlyHint: true },
    },
    ({ job: id, content: isWanted }, { signal }) =>
      responses.content(async () => {
        const job = await waitForJob(context, id, until(signal));
        if (job.status === 'failed') throw new JobFailedError(job);
        const status = statusOf(job);
        const returned = isWanted ? await content.of(status.files, until(signal)) : [];
        const files = status.files.map((file, index) => ({ ...file, returned: returned[index] !== undefined }));
        return [json({ ...status, files }), ...returned.flatMap((block) => block ?? [])];
      }),
  );
  return server;
}

interface ConvertRequest {
  url?: string | undefined;
  content?: string | undefined;
  filename?: string | undefined;
  webpage: boolean;
  to: string;
  from?: string | undefined;
  options: Options;
}

function sourceOf({ url, content, filename = 'file', webpage }: ConvertRequest) {
  if ((url === undefined) === (content === undefined))
    throw new LatheError('bad_request', 'Expected either url or content.');
  if (content === undefined) return { operation: webpage ? 'import/webpage' : 'import/url', url };
  return { operation: 'import/base64', file: `data:application/octet-stream;base64,${content}`, filename };
}

/** Returns the form of an instant request. */
function formOf({ url, content, filename = 'file', to, from, options }: ConvertRequest): FormData {
  const form = new FormData();
  form.set('output_format', to);
  form.set('options', JSON.stringify(options));
  if (from !== undefined) form.set('input_format', from);
  if (url !== undefined) form.set('url', url);
  if (content !== undefined) form.set('file', new Blob([Buffer.from(content, 'base64')]), filename);
  return form;
}

/** Returns how long a request of a tool may wait. */
function waitOf({ waitMs }: ServiceContext, signal: AbortSignal): WaitOptions {
  return { signal, waitSeconds: Math.max(0, Math.floor(waitMs() / 1000)) };
}

/** Summarizes the result of an instant conversion, which has no job and no links. */
function describe({ files, warnings }: InstantResult) {
  return {
    status: 'completed',
    files: files.map(({ filename, size, format, media_type }) => ({
      ...{ filename, size, format, media_type },
      returned: true,
    })),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** Returns the command that posts a file. S3 requires the file to be the last field. */
function curlFor({ url, parameters }: { url: string; parameters: Record<string, string> }): string {
  const fields = Object.entries(parameters).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`);
  return ['curl', '--fail', ...fields, "--form 'file=@<path of the file>'", quoted(url)].join(' ');
}

/** Quotes a word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
