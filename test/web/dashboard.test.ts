import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { click, shows } from './browser.ts';

let service: RunningService;
let browser: Browser;
let receiver: Server;
let page: Page;
const received: string[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await startService({ LATHE_ALLOW_HOSTS: '127.0.0.1' });
  browser = await startChromium();
});

afterAll(async () => {
  await browser.close();
  await service.stop();
  receiver.closeAllConnections();
  receiver.close();
});

beforeEach(async () => {
  page = await browser.newPage();
});

afterEach(() => page.close());

async function call(path: string, { key = service.apiKey, body }: { key?: string; body?: object } = {}) {
  const response = await fetch(service.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const text = 'data:text/plain;base64,aGVsbG8=';

test('a key is created, shown once, works, and is deleted', async () => {
  await page.goto(`${service.url}/keys`);
  await (await page.waitForSelector('#name'))?.type('From the page');
  await click(page, 'Create key');
  await shows(page, 'Created the key From the page');
  const key = (await page.$eval('.secret code', (code) => code.textContent)) ?? '';
  expect((await call('/v1/account/me', { key })).body).toMatchObject({
    scopes: ['read', 'process'],
    key: { name: 'From the page' },
  });
  await page.reload();
  await shows(page, 'From the page');
  expect(await page.$eval('main', (main) => main.textContent)).not.toContain(key);
  const remove = 'main button[aria-label^="Delete From the page"]';
  await page.locator(remove).click();
  await page.locator(`${remove}[aria-label$=confirm]`).click();
  await page.waitForFunction(() => !document.querySelector('main')?.textContent?.includes('From the page'));
  await page.goto(`${service.url}/audit`);
  await shows(page, 'key.deleted');
});

test('a job view updates live', async () => {
  const created = await call('/v1/process/jobs', {
    body: {
      tasks: {
        mine: { operation: 'import/upload' },
        links: { operation: 'export/url', input: 'mine' },
      },
    },
  });
  await page.goto(`${service.url}/jobs/${created.body.id}`);
  await page.waitForSelector('.graph g.processing, .graph g.created');
  const [mine] = created.body.tasks as { result: { form: { url: string; parameters: Record<string, string> } } }[];
  const form = new FormData();
  for (const [name, value] of Object.entries(mine?.result.form.parameters ?? {})) form.append(name, value);
  form.append('file', new Blob(['hello']), 'hello.txt');
  await fetch(mine?.result.form.url ?? '', { method: 'POST', body: form });
  await page.waitForFunction(() => document.querySelectorAll('.graph g.completed').length === 2, { timeout: 60_000 });
  await shows(page, 'hello.txt');
  await click(page, 'Delete job and files');
  await page.waitForFunction(() => location.pathname === '/jobs');
  expect((await call(`/v1/process/jobs/${created.body.id}`)).status).toBe(404);
});

test('jobs are filtered by status and tag', async () => {
  const body = (tag: string) => ({
    tag,
    tasks: { one: { operation: 'import/base64', file: text, filename: 'a.txt' } },
  });
  await call('/v1/process/jobs', { body: body('apples') });
  await call('/v1/process/jobs', { body: body('pears') });
  await page.goto(`${service.url}/jobs`);
  await shows(page, 'pears');
  await page.locator('#tag').fill('apples');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.querySelector('table')?.textContent?.includes('pears'));
  await shows(page, 'apples');
  await page.select('#status', 'failed');
  await shows(page, 'No matching jobs');
});

test('a failed job shows its error once, with its cause', async () => {
  const { body } = await call('/v1/process/jobs', {
    body: {
      tasks: {
        page: { operation: 'import/base64', file: `data:;base64,${btoa('<html>Not found</html>')}`, filename: 'a.jpg' },
        picture: { operation: 'convert', input: 'page', output_format: 'webp' },
        link: { operation: 'export/url', input: 'picture' },
      },
    },
  });
  await call(`/v1/process/jobs/${body.id}/wait`);
  await page.goto(`${service.url}/jobs/${body.id}`);
  await shows(page, 'looks like html, not jpg');
  const text = await page.$eval('main', (main) => main.textContent ?? '');
  expect(text.split('looks like html')).toHaveLength(2);
});

test('jobs are listed with their files and formats', async () => {
  const { body } = await call('/v1/process/jobs', {
    body: {
      tasks: {
        one: { operation: 'import/base64', file: text, filename: 'letter.txt' },
        two: { operation: 'convert', input: 'one', output_format: 'pdf' },
        three: { operation: 'export/url', input: 'two' },
      },
    },
  });
  await call(`/v1/process/jobs/${body.id}/wait`);
  await page.goto(`${service.url}/jobs`);
  await shows(page, 'letter.txt');
  const [row = ''] = await page.$$eval('tbody tr', (rows) => rows.map(({ textContent }) => textContent ?? ''));
  expect(row).toMatch(/^letter\.txttxt → pdf(?:completed|processing)/);
});

test('an unknown path is a page for people and JSON for programs', async () => {
  for (const path of ['/nope', '/jobs/x']) {
    const response = await page.goto(service.url + path);
    expect(response?.status(), path).toBe(404);
    expect(response?.headers()['content-type'], path).toContain('text/html');
    expect(await page.title()).toBe('Page not found – Lathe');
    // Its own style is applied, and its icon loaded.
    expect(await page.$eval('main', (main) => getComputedStyle(main).textAlign)).toBe('center');
    await page.waitForFunction(() => (document.images[0]?.naturalWidth ?? 0) > 0);
    const { status, body } = await call(path);
    expect([status, body.errorCode], path).toEqual([404, 'not_found']);
  }
  await page.locator('a').click();
  await page.waitForSelector('.drop');
  const api = await fetch(`${service.url}/v1/nope`, { headers: { accept: 'text/html' } });
  expect([api.status, api.headers.get('content-type')]).toEqual([404, 'application/json']);
});

test('a failed sign-in is a page that leads to the next one', async () => {
  const response = await page.goto(`${service.url}/auth/callback?error=access_denied&state=<b>`);
  expect(response?.status()).toBe(400);
  expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
  expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('Sign-in failed');
  expect(await page.$eval('p', ({ textContent }) => textContent)).toContain('within the last ten minutes');
  expect(await page.$eval('a', ({ href }) => href)).toBe(`${service.url}/auth/sign-in`);
  const json = await fetch(`${service.url}/auth/callback?state=x`);
  expect(await json.json()).toMatchObject({ errorCode: 'bad_request', reason: 'unknown_sign_in' });
});

test('a webhook delivery is shown and replayed', async () => {
  await page.goto(`${service.url}/webhooks`);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await (await page.waitForSelector('#hook'))?.type(url);
  await click(page, 'Create webhook');
  await shows(page, 'This is the signing secret');
  await call('/v1/process/jobs', {
    body: { tasks: { one: { operation: 'import/base64', file: text, filename: 'a.txt' } } },
  });
  await expect.poll(() => received.length, { timeout: 60_000 }).toBeGreaterThan(0);
  await page.locator('main td a[href^="/webhooks/"]').click();
  await expect
    .poll(
      async () => {
        await click(page, 'Refresh');
        return (await page.$$('.status.delivered')).length;
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBeGreaterThan(0);
  const before = received.length;
  await click(page, 'Replay');
  await expect.poll(() => received.length, { timeout: 60_000 }).toBeGreaterThan(before);
});

test('a person creates a team, acts for it, and switches back', async () => {
  await page.goto(`${service.url}/members`);
  await (await page.waitForSelector('#team'))?.type('Turners');
  await click(page, 'Create team');
  await shows(page, 'Members of the account Turners');
  await (await page.waitForSelector('#email'))?.type('somebody@example.com');
  await click(page, 'Invite');
  await shows(page, 'somebody@example.com');
  await page.goto(`${service.url}/jobs`);
  await shows(page, 'No jobs yet');
  const { body } = await call('/v1/account/me');
  await page.select('select[aria-label=Account]', (body.account as { id: string }).id);
  await shows(page, 'apples');
});

test('a job of 200 tasks stays responsive while they change', async () => {
  const others = Array.from({ length: 199 }, (_, index) => {
    const input = index < 14 ? 'source' : `t${index - 14}`;
    return [`t${index}`, { operation: 'convert', input, output_format: 'png' }];
  });
  const tasks = { source: { operation: 'import/upload' }, ...Object.fromEntries(others) };
  const { body } = await call('/v1/process/jobs', { body: { tasks } });
  await page.goto(`${service.url}/jobs/${body.id}`);
  await page.waitForFunction(() => document.querySelectorAll('.graph g').length === 200);
  await page.tracing.start({ categories: ['__metadata', 'disabled-by-default-devtools.timeline'] });
  // Fails all other tasks one by one; the job fails with the first of them.
  await click(page, 'Cancel');
  await page.waitForFunction(() => document.querySelectorAll('.graph g.failed').length > 40, { timeout: 60_000 });
  const trace = Buffer.from((await page.tracing.stop()) ?? []).toString();
  const { traceEvents } = JSON.parse(trace) as { traceEvents: TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const work = traceEvents
    .filter(({ name, pid, tid }) => name === 'RunTask' && mains.some((main) => main.pid === pid && main.tid === tid))
    .map(({ tdur = 0 }) => tdur / 1_000);
  expect(work.length).toBeGreaterThan(100);
  // Processor time, because other programs run too. People notice longer delays.
  expect(Math.max(...work)).toBeLessThan(100);
});

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Processor time in microseconds. */
  tdur?: number;
  args?: { name?: string };
}
