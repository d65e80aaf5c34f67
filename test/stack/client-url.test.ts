import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

const publicUrl = 'https://lathe.example.com';

let service: RunningService;
let port: number;

beforeAll(async () => {
  port = await freePort();
  service = await startService({ LATHE_URL: publicUrl, LATHE_LISTEN: '0.0.0.0', PORT: String(port) });
});
afterAll(() => service.stop());

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

/** Sends a request as a proxy does that forwards it to the service, with the Host header of its client. */
async function byProxy(url: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const { host, pathname, search } = new URL(url, publicUrl);
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    location: string | undefined;
    policy: string;
    content: string;
  }>();
  const sent = request({ port, method, path: pathname + search, headers: { ...headers, host } }, async (response) => {
    const { location, 'content-security-policy': policy = '' } = response.headers;
    resolve({ status: response.statusCode, location, policy: String(policy), content: await text(response) });
  });
  sent.once('error', reject).end(body);
  return promise;
}

async function api(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
  const { content } = await byProxy(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return JSON.parse(content);
}

test('an upload and a download work by the links of a service behind a proxy', async () => {
  const { tasks, id } = await api('POST', '/v1/process/jobs', {
    tasks: {
      import: { operation: 'import/upload' },
      export: { operation: 'export/url', input: 'import' },
    },
  });
  const { form } = tasks.find(({ name }: { name: string }) => name === 'import').result;
  expect(form.url).toMatch(/^https:\/\/lathe\.example\.com\/_aws\/s3\//);
  const fields = new FormData();
  for (const [name, value] of Object.entries(form.parameters)) fields.append(name, String(value));
  fields.append('file', new Blob(['Turned on a lathe']), 'note.txt');
  const encoded = new Response(fields);
  const posted = await byProxy(form.url, {
    method: 'POST',
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    body: Buffer.from(await encoded.arrayBuffer()),
  });
  expect(posted.status).toBe(204);

  const job = await until('the job ends', async () => {
    const current = await api('GET', `/v1/process/jobs/${id}?include=tasks`);
    return current.endedAt ? current : undefined;
  });
  const { url } = job.tasks.find(({ name }: { name: string }) => name === 'export').result;
  expect(url).toMatch(/^https:\/\/lathe\.example\.com\//);
  const { location = '' } = await byProxy(url);
  expect(location).toMatch(/^https:\/\/lathe\.example\.com\/_aws\/s3\//);
  expect(await byProxy(location)).toMatchObject({ status: 200, content: 'Turned on a lathe' });
});

test('the page behind a proxy is that of its host, and nobody signs in by a click', async () => {
  const page = await byProxy('/');
  expect(page).toMatchObject({ status: 200, content: expect.stringContaining('<div id="app">') });
  expect(page.policy).toContain(`connect-src 'self' ${publicUrl} wss://lathe.example.com`);
  expect((await byProxy(`http://localhost:${port}/`)).status).toBe(421);
  expect((await byProxy('/_oidc/.well-known/openid-configuration')).status).not.toBe(200);
});

test('a URL with a path is refused at the start', async () => {
  await expect(startService({ LATHE_URL: 'https://example.com/lathe' })).rejects.toThrow(
    'LATHE_URL: expected a URL such as https://lathe.example.com but received https://example.com/lathe',
  );
});
