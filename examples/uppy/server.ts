import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Lathe, LatheError } from '@lathe-convert/client';

const { LATHE_URL, LATHE_API_KEY, PORT = '8080' } = process.env;
const lathe = new Lathe({ url: LATHE_URL, key: LATHE_API_KEY });
const outputFormats = new Set(['mp4', 'webm', 'mp3', 'pdf', 'webp']);

/** Jobs by a secret that only their page has. Files expire after four hours, so older entries are of no use. */
const jobs = new Map<string, { job: string; until: number }>();
const jobMs = 4 * 3_600_000;

/** Creates a job, and returns the endpoint to which Uppy uploads the file. It needs no key, and takes this file only. */
async function begin(to: string | null) {
  if (to === null || !outputFormats.has(to)) throw new BadRequest(`Expected one of ${[...outputFormats].join(', ')}.`);
  const { id, tasks } = await lathe.createAnyJob({
    tasks: {
      file: { operation: 'import/upload' },
      result: { operation: 'convert', input: 'file', output_format: to },
      link: { operation: 'export/url', input: 'result' },
    },
  });
  const endpoint = tasks?.find(({ name }) => name === 'file')?.result.form?.endpoint;
  if (!endpoint) throw new Error(`The job ${id} has no endpoint for uploads.`);
  for (const [old, { until }] of jobs) if (until < Date.now()) jobs.delete(old);
  const conversion = randomUUID();
  jobs.set(conversion, { job: id, until: Date.now() + jobMs });
  return { conversion, endpoint };
}

/** Returns what the page shows of a job, after up to 25 seconds if it has not ended. */
async function stateOf(conversion: string) {
  const known = jobs.get(conversion);
  if (!known) return undefined;
  const { status, endedAt, result, tasks = [] } = await lathe.waitOnce(known.job);
  const task = (name: string) => tasks.find((one) => one.name === name);
  const { errorCode, msg = result.msg } = tasks.find((one) => one.status === 'failed')?.result ?? {};
  return {
    status,
    ended: endedAt !== null,
    progress: task('result')?.progress,
    file: status === 'completed' ? task('link')?.result.files?.[0] : undefined,
    problem: status === 'failed' ? { errorCode, msg } : undefined,
  };
}

class BadRequest extends Error {}

const pages: Record<string, [file: string, type: string]> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/bundle.js': ['bundle.js', 'text/javascript; charset=utf-8'],
};

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const json = (status: number, body: unknown) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(body));
  const page = request.method === 'GET' ? pages[pathname] : undefined;
  if (page) {
    const content = await readFile(join(import.meta.dirname, 'page', page[0]));
    response.writeHead(200, { 'content-type': page[1] }).end(content);
    return;
  }
  const conversion = /^\/conversions\/([\w-]+)$/.exec(pathname)?.[1];
  if (request.method === 'GET' && conversion) {
    const state = await stateOf(conversion);
    json(state ? 200 : 404, state ?? { msg: 'The conversion is not known, or has expired.' });
  } else if (request.method === 'POST' && pathname === '/conversions') json(201, await begin(searchParams.get('to')));
  else json(404, { msg: 'Not found' });
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    const isBadRequest = error instanceof BadRequest;
    if (!isBadRequest) console.error(error instanceof LatheError ? `${error.errorCode}: ${error.msg}` : error);
    response
      .writeHead(isBadRequest ? 400 : 502, { 'content-type': 'application/json' })
      .end(JSON.stringify({ msg: isBadRequest ? error.message : 'The conversion is not available. Try again later.' }));
  });
}).listen(Number(PORT), () => console.log(`http://localhost:${PORT}`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
