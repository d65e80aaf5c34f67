import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';
import { JobFailedError, LatheError } from '../../../packages/client/src/index.ts';
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
import { required } from '../../../shared/settings.ts';
import { ResultContent } from './result-content.ts';

const Conversion = { to: Format, from: InputFormat, options: OptionValues };
const follow = 'Progress is not reported; call job_status to check a job that has not ended.';

/** Creates the server with all tools of the service. */
export function makeServer(context: ToolContext): McpServer {
  const { lathe, responses, ended } = context;
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);
  const content = new ResultContent(lathe);
  const server = new McpServer(
    { name: 'lathe', version: required('LATHE_VERSION') },
    {
      instructions: `Converts files between formats. list_formats lists the available conversions. convert takes a URL, a web page or a small file in base64; create_upload takes larger files. fetch_result returns links to the results. ${follow}`,
    },
  );
  registerCommonTools(server, context);
  server.registerTool(
    'convert',
    {
      title: 'Convert a file',
      description: `Converts the file at a URL, or a file of up to 1 MB sent as content, and returns the job with links to its files. Waits up to 20 seconds, or not at all with wait: false. ${follow}`,
      inputSchema: {
        url: z.string().optional().describe('URL of the file, or of a web page to render.'),
        content: z.string().optional().describe('The file in base64, instead of a URL.'),
        filename: z.string().optional().describe('Name of the file sent as content.'),
        webpage: z.boolean().default(false).describe('Whether the URL is a web page to render instead of a file.'),
        ...Conversion,
        wait: z.boolean().default(true),
      },
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ url, content: file, filename = 'file', webpage, wait, ...conversion }, { signal }) =>
      responses.value(async () => {
        const source = sourceOf(url, file, filename, webpage);
        const job = await lathe.createAnyJob({ tasks: tasksOf(source, conversion) }, { signal: until(signal) });
        if (!wait) return statusOf(job);
        const result = await waitForJob(context, job.id, until(signal));
        if (result.status === 'failed') throw new JobFailedError(result);
        return statusOf(result);
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

function sourceOf(url: string | undefined, file: string | undefined, filename: string, webpage: boolean) {
  if ((url === undefined) === (file === undefined))
    throw new LatheError('bad_request', 'Expected either url or content.');
  if (file === undefined) return { operation: webpage ? 'import/webpage' : 'import/url', url };
  return { operation: 'import/base64', file: `data:application/octet-stream;base64,${file}`, filename };
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
