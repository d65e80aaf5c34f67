import { readFile } from 'node:fs/promises';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { taskOf } from '../support/client.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { startFileServer } from '../transfers/file-server.ts';

/** A page of another origin that holds a token for one job, uploads the job's file, and shows the events it receives. */
const page = `<!doctype html>
<title>A job in a browser</title>
<script src="/socket.io.js"></script>
<input type="file"> <h2>WebSocket</h2><ol id="plain"></ol> <h2>Socket.IO</h2><ol id="socket-io"></ol>
<script type="module">
  const { api, token, job, form } = await (await fetch('/setting')).json();
  const show = (list, event, { name = 'job', status }) => {
    const line = document.createElement('li');
    line.textContent = event + ' (' + name + ' is ' + status + ')';
    document.getElementById(list).append(line);
  };

  const socket = new WebSocket(api.replace('http', 'ws') + '/ws?token=' + token);
  socket.onopen = () => socket.send(JSON.stringify({ action: 'subscribe', channel: 'job.' + job }));
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    // The service sends pongs on its own, to find out which connections are lost.
    if (message.event !== 'pong') show('plain', message.event, message.data);
  };

  const client = io(api, { path: '/socket.io', transports: ['websocket'], auth: { token: 'Bearer ' + token } });
  client.on('connect', () => client.emit('subscribe', 'job.' + job));
  client.onAny((event, data) => show('socket-io', event, data));

  document.querySelector('input').onchange = async ({ target }) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(form.parameters)) body.append(name, value);
    body.append('file', target.files[0]);
    const { ok } = await fetch(form.url, { method: 'POST', body });
    document.title = ok ? 'Uploaded' : 'Refused';
  };
</script>`;

const subscribed = [
  'subscribed (job is processing)',
  'job_started (job is processing)',
  'task_started (import is processing)',
];
const finished = [
  'task_completed (import is completed)',
  'task_started (export is processing)',
  'task_completed (export is completed)',
  'job_completed (job is completed)',
];

let service: JoinedService;
let browser: Browser;

beforeAll(async () => {
  service = await joinService();
  browser = await startChromium();
});

afterAll(() => browser.close());

test('a page of another origin uploads a file and subscribes to its job by a token for that job alone', async () => {
  const job = await service.client.createJob({
    import: { operation: 'import/upload' },
    export: { operation: 'export/url', input: 'import' },
  });
  const { token } = await service.client.create<{ token: string }>('/v1/account/token', { job: job.id });
  const setting = { api: service.url, token, job: job.id, form: taskOf(job, 'import').result.form };
  const library = await readFile(
    new URL('dist/socket.io.min.js', import.meta.resolve('socket.io-client/package.json')),
  );
  const contents: Record<string, [type: string, content: string | Buffer]> = {
    '/': ['text/html', page],
    '/setting': ['application/json', JSON.stringify(setting)],
    '/socket.io.js': ['text/javascript', library],
  };
  await using site = await startFileServer((request, response) => {
    const [type, content] = contents[request.url ?? ''] ?? [];
    response.writeHead(content ? 200 : 404, type ? { 'content-type': type } : {}).end(content);
  });

  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(String(error)));
  await tab.goto(site.url);
  const lines = (list: string) => tab.$$eval(`#${list} li`, (items) => items.map(({ textContent }) => textContent));
  const count = (list: string, many: number) =>
    tab.waitForFunction(`document.querySelectorAll('#${list} li').length >= ${many}`);
  for (const list of ['plain', 'socket-io']) await count(list, subscribed.length);

  const input = await tab.$('input[type=file]');
  await input?.uploadFile(import.meta.filename);

  for (const list of ['plain', 'socket-io']) {
    await count(list, subscribed.length + finished.length);
    expect(await lines(list)).toEqual([...subscribed, ...finished]);
  }
  expect(await tab.title()).toBe('Uploaded');
  expect(faults).toEqual([]);
});
