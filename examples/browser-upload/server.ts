import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Lathe, LatheError } from '@lathe-convert/client';

const { LATHE_URL, LATHE_API_KEY, PORT = '8080' } = process.env;
/** The account's own key, with the scope account. It stays in this process. */
const account = new Lathe({ url: LATHE_URL, key: LATHE_API_KEY });

const keySeconds = 3_600;
/** What a visitor may do. The service enforces it, also for the size of what the form takes. */
const visitorKey = {
  name: 'Visitors of the upload page',
  scopes: ['read', 'process'],
  expires_in: keySeconds,
  limits: {
    operations: ['import/upload', 'convert', 'export/url'],
    formats: ['jpg', 'png', 'heic', 'webp', 'pdf', 'docx'],
    maxFileBytes: 20_000_000,
    minutesPerTask: 2,
    requestsPerMinute: 300,
  },
};

let visitors: { lathe: Promise<Lathe>; until: number } | undefined;

/** Returns a client with the key of the visitors. It is replaced at half of its time, so that its tokens outlive no key. */
function visitorClient(): Promise<Lathe> {
  if (!visitors || visitors.until < Date.now()) {
    const lathe = createVisitorClient();
    visitors = { lathe, until: Date.now() + (keySeconds / 2) * 1_000 };
    lathe.catch(() => {
      visitors = undefined;
    });
  }
  return visitors.lathe;
}

async function createVisitorClient(): Promise<Lathe> {
  // An account has at most 100 keys, and expired ones count for 30 days.
  const { docs } = await account.request<{ docs: ListedKey[] }>('GET', '/v1/account/keys');
  for (const { id, name, expiresAt } of docs)
    if (name === visitorKey.name && expiresAt !== null && Date.parse(expiresAt) < Date.now())
      await account.request('DELETE', `/v1/account/keys/${id}`);
  const { key } = await account.request<{ key: string }>('POST', '/v1/account/keys', { body: visitorKey });
  return new Lathe({ url: LATHE_URL, key });
}

interface ListedKey {
  id: string;
  name: string;
  expiresAt: string | null;
}

/**
 * Creates a job, and returns what the page may have: a form that takes one file, and a token that shows one job. A key
 * would show the jobs of all other visitors, because they belong to one account.
 */
async function begin(to: string) {
  const lathe = await visitorClient();
  const job = await lathe.createAnyJob({
    tag: 'upload-page',
    tasks: {
      file: { operation: 'import/upload' },
      result: { operation: 'convert', input: 'file', output_format: to },
      link: { operation: 'export/url', input: 'result' },
    },
  });
  const [{ token }, { websocket }] = await Promise.all([
    lathe.request<{ token: string }>('POST', '/v1/account/token', { body: { job: job.id, expires_in: 1_800 } }),
    lathe.health(),
  ]);
  const form = job.tasks?.find(({ name }) => name === 'file')?.result.form;
  if (!form) throw new Error(`The job ${job.id} has no form.`);
  const events = `${websocket.url}?token=${encodeURIComponent(token)}`;
  return { job: job.id, form: { url: form.url, parameters: form.parameters }, events };
}

const pages: Record<string, [file: string, type: string]> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/upload.js': ['upload.js', 'text/javascript; charset=utf-8'],
};

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const page = request.method === 'GET' ? pages[pathname] : undefined;
  if (page) {
    const content = await readFile(join(import.meta.dirname, 'page', page[0]));
    response.writeHead(200, { 'content-type': page[1] }).end(content);
  } else if (request.method === 'POST' && pathname === '/conversions') {
    // Here, check who is asking: a session of your own, a CAPTCHA, a limit for each address.
    // A browser sends Sec-Fetch-Site, so pages of others cannot use this server with the visitor's cookies.
    if (!['same-origin', undefined].includes(request.headers['sec-fetch-site'] as string | undefined)) {
      response.writeHead(403).end();
      return;
    }
    const body = JSON.stringify(await begin(searchParams.get('to') ?? 'pdf'));
    response.writeHead(201, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(body);
  } else response.writeHead(404).end();
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    // The visitor sees only errors that they can correct. Others may name internals.
    const refused =
      error instanceof LatheError && (error.status === 400 || error.errorCode === 'insufficient_permission');
    if (!refused) console.error(error);
    response
      .writeHead(refused ? 400 : 502, { 'content-type': 'application/json' })
      .end(JSON.stringify({ msg: refused ? error.msg : 'The conversion is not available. Try again later.' }));
  });
}).listen(Number(PORT), () => console.log(`http://localhost:${PORT}`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
