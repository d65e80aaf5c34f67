import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import mime from 'mime';
import { JobFailedError, LatheError, type WaitOptions } from '../../../packages/client/src/index.ts';
import type { InstantResult } from '../../../packages/client/src/instant.ts';
import {
  FetchResult,
  json,
  Operation,
  OptionalFormat,
  OptionValues,
  registerCommonTools,
  statusOf,
  type ToolContext,
  tasksOf,
  waitForJob,
} from '../../../packages/client/src/mcp/common-tools.ts';
import { bytesOf, type OperationRequest, registerOperations } from '../../../packages/client/src/mcp/operations.ts';
import { performInstantly } from '../../../packages/client/src/perform.ts';
import { importOf, type LooseTask } from '../../../packages/client/src/run.ts';
import { extensionIn, isWebAddress } from '../../../packages/client/src/source.ts';
import { required } from '../../../shared/settings.ts';
import { ResultContent } from './result-content.ts';

type ServiceContext = ToolContext & Required<Pick<ToolContext, 'waitMs'>>;

/** Creates the server with all tools of the service. */
export function makeServer(context: ServiceContext): McpServer {
  const { lathe, responses, ended } = context;
  const until = (signal: AbortSignal) => AbortSignal.any([signal, ended]);
  const content = new ResultContent(lathe);
  const server = new McpServer(
    { name: 'lathe', version: required('LATHE_VERSION') },
    {
      instructions:
        'Converts, compresses, merges, crops and trims files. Inputs are URLs, or data: URIs of up to 1 MB; create_upload takes larger files. list_formats lists what is supported. Progress is not reported: call job_status for a job that has not ended.',
    },
  );
  registerCommonTools(server, context);
  registerOperations(
    server,
    'Returns a small text or image itself, and otherwise (or with link) the job with links, after up to 20 seconds.',
    (request, { signal }) =>
      responses.content(async () => {
        const own = until(signal);
        const { wait = true } = request;
        const sources = request.inputs.map((input) => sourceOf(input, request));
        const instant = wait && !request.link && !request.webpage ? instantForm(request, content) : undefined;
        const result = instant && (await performInstantly(lathe, request.operation, instant, waitOf(context, own)));
        if (result && 'files' in result) {
          const returned = (await content.of(result.files, own)).flatMap((block) => block ?? []);
          if (returned.length === result.files.length) return [json(describe(result)), ...returned];
        }
        const others = Object.entries(request.files ?? {}).map(([role, file]) => [role, sourceOf(file, {})] as const);
        const tasks = tasksOf(sources, { ...request, filename: request.output }, Object.fromEntries(others));
        const job =
          result && 'id' in result
            ? await waitForJob(context, result.id, own)
            : await lathe.createAnyJob({ tasks }, wait ? waitOf(context, own) : { signal: own });
        if (wait && job.status === 'failed') throw new JobFailedError(job);
        return [json(statusOf(job))];
      }),
  );
  server.registerTool(
    'create_upload',
    {
      title: 'Convert a file that you upload',
      description: 'Creates a job for a file of any size, and returns the form to post it to, with a curl command.',
      inputSchema: { to: OptionalFormat, from: OptionalFormat, options: OptionValues, operation: Operation },
      annotations: { destructiveHint: false },
    },
    (processing, { signal }) =>
      responses.value(async () => {
        const tasks = tasksOf([{ operation: 'import/upload' }], processing);
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
      description: 'Waits up to 20 seconds for a job to end and returns links to its files, and small ones themselves.',
      inputSchema: FetchResult,
      annotations: { readOnlyHint: true },
    },
    ({ job: id, link }, { signal }) =>
      responses.content(async () => {
        const job = await waitForJob(context, id, until(signal));
        if (job.status === 'failed') throw new JobFailedError(job);
        const status = statusOf(job);
        const returned = link ? [] : await content.of(status.files, until(signal));
        const files = status.files.map((file, index) => ({ ...file, returned: returned[index] !== undefined }));
        return [json({ ...status, files }), ...returned.flatMap((block) => block ?? [])];
      }),
  );
  return server;
}

/** Returns the task that imports what an agent names. */
function sourceOf(input: string, { webpage }: Pick<OperationRequest, 'webpage'>): LooseTask {
  if (isWebAddress(input)) return importOf(input, webpage);
  if (bytesOf(input) === undefined)
    throw new LatheError(
      'bad_request',
      `Expected a URL or a data: URI in base64 as input but received ${input.slice(0, 100)}. create_upload takes local files.`,
    );
  return { operation: 'import/base64', file: input, filename: 'file' };
}

/** Returns the form of an instant request, if its result may be small enough to be returned. */
function instantForm({ inputs, files = {}, to, from, options = {}, output }: OperationRequest, content: ResultContent) {
  const [first = ''] = inputs;
  const expected = to ?? from ?? formatOf(first);
  const others = Object.entries(files);
  // A request takes any number of files, but only one URL.
  if (!content.accepts(expected) || (inputs.length > 1 && inputs.some(isWebAddress))) return undefined;
  if (others.some(([, file]) => isWebAddress(file))) return undefined;
  const form = new FormData();
  form.set('options', JSON.stringify(options));
  for (const [name, value] of Object.entries({ output_format: to, input_format: from, filename: output }))
    if (value !== undefined) form.set(name, value);
  for (const input of inputs) {
    const bytes = bytesOf(input);
    if (bytes) form.append('file', new Blob([bytes]), 'file');
    else form.set('url', input);
  }
  for (const [role, file] of others) {
    const bytes = bytesOf(file);
    if (bytes) form.append(role, new Blob([bytes]), role);
  }
  return form;
}

/** Returns the format that an input seems to have, by its name or its declared media type. */
function formatOf(input: string): string {
  if (isWebAddress(input)) return extensionIn(new URL(input).pathname);
  return mime.getExtension(/^data:([^;,]*)/i.exec(input)?.[1] ?? '') ?? '';
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
