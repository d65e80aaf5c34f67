import { PDFDocument } from '@cantoo/pdf-lib';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { Lathe } from '../../packages/client/src/index.ts';
import { picture, site, stack } from './running-service.ts';
import { silence } from './silence.ts';

/** Connects the client of the protocol's own package to the service, as an agent does. */
async function connect(key = stack.apiKey) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', stack.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  const use = async (name: string, args: Record<string, unknown>) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const [first, ...rest] = content as ContentBlock[];
    return { isError, rest, ...JSON.parse(first?.type === 'text' ? first.text : '{}') };
  };
  return { client, use, [Symbol.asyncDispose]: () => client.close() };
}

/** Sends a message as it is. */
function send(message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${stack.url}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${stack.apiKey}`,
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

async function onePage(): Promise<string> {
  const document = await PDFDocument.create();
  document.addPage([300, 200]);
  return document.saveAsBase64({ dataUri: true });
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('the tools at /mcp', () => {
  test('find formats and options, and convert content, URLs and uploads', async () => {
    await using server = await connect();
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...['cancel', 'compress', 'convert', 'create_upload', 'crop', 'document', 'estimate', 'fetch_result'],
      ...['job_status', 'list_formats', 'list_options', 'merge', 'trim'],
    ]);
    const { formats } = await server.use('list_formats', { from: 'png' });
    expect(formats.split(' ')).toEqual(expect.arrayContaining(['jpg', 'webp']));
    expect(formats.split(' ')).not.toContain('jpeg');
    expect((await server.use('list_formats', { operation: 'merge' })).formats.split(' ')).toContain('png');
    expect((await server.use('list_options', { from: 'jpg', to: 'pdf' })).options[0]).toMatchObject({ name: 'strip' });
    expect((await server.use('list_options', { from: 'mp3', operation: 'trim' })).options).toMatchObject([
      { name: 'trim_start', type: 'string' },
      {},
      {},
      {},
    ]);
    expect(await server.use('estimate', { from: 'png', to: 'webp' })).toMatchObject({ valid: true });

    const content = `data:image/png;base64,${picture.toString('base64')}`;
    const request = { input: content, output: 'a.webp', to: 'webp', options: { quality: 60 } };
    const inline = await server.use('convert', request);
    expect(inline).toMatchObject({
      isError: false,
      status: 'completed',
      files: [{ filename: 'a.webp', returned: true }],
    });
    expect([inline.job, inline.files[0].url]).toEqual([undefined, undefined]);
    expect(inline.rest).toEqual([{ type: 'image', mimeType: 'image/webp', data: expect.any(String) }]);
    const page = await server.use('convert', { input: `${site.url}/remote.png`, to: 'jpg' });
    expect(page).toMatchObject({ files: [{ filename: 'remote.jpg' }], rest: [{ mimeType: 'image/jpeg' }] });
    const paper = await server.use('convert', { input: content, output: 'a.pdf', to: 'pdf' });
    expect(paper).toMatchObject({ status: 'completed', job: expect.any(String), files: [{ filename: 'a.pdf' }] });

    const converted = await server.use('convert', { ...request, link: true });
    expect(converted).toMatchObject({ isError: false, status: 'completed', files: [{ url: expect.any(String) }] });
    const fetched = await server.use('fetch_result', { job: converted.job });
    expect(fetched.files).toMatchObject([{ format: 'webp', returned: true }]);
    const [image] = fetched.rest;
    expect(image).toMatchObject({ type: 'image', mimeType: 'image/webp' });
    expect((await sharp(Buffer.from(image.data, 'base64')).metadata()).width).toBe(48);

    const remote = await server.use('convert', { input: `${site.url}/remote.png`, to: 'jpg', wait: false });
    expect(remote).toMatchObject({ isError: false, next: expect.stringContaining('job_status') });
    const awaited = await server.use('job_status', { job: remote.job, wait: true });
    expect(awaited).toMatchObject({ status: 'completed', files: [{ filename: 'remote.jpg' }] });
    const links = await server.use('fetch_result', { job: remote.job, link: true });
    expect([links.files[0].returned, links.rest]).toEqual([false, []]);

    const { form, job } = await server.use('create_upload', { to: 'txt', from: 'md' });
    const data = new FormData();
    for (const [name, value] of Object.entries<string>(form.parameters)) data.append(name, value);
    data.append('file', new Blob(['# A letter\n']), 'letter.md');
    expect((await fetch(form.url, { method: 'POST', body: data })).ok).toBe(true);
    const letter = await server.use('fetch_result', { job });
    expect(letter.rest).toEqual([{ type: 'text', text: expect.stringContaining('A letter') }]);
  });

  test('compress, crop, trim and merge', async () => {
    await using server = await connect();
    const input = `data:image/png;base64,${picture.toString('base64')}`;
    const width = async ({ rest: [image] }: { rest: { data: string }[] }) =>
      (await sharp(Buffer.from(image?.data ?? '', 'base64')).metadata()).width;
    const compressed = await server.use('compress', { input });
    expect([compressed.status, await width(compressed)]).toEqual(['completed', 48]);
    const cropped = await server.use('crop', { input, x: 4, y: 2, width: 20, height: 10 });
    expect([cropped.status, await width(cropped)]).toEqual(['completed', 20]);
    const merged = await server.use('merge', { inputs: [input, `${site.url}/remote.png`], to: 'gif' });
    expect(merged).toMatchObject({ status: 'completed', files: [{ format: 'gif' }] });
    const pages = { operation: 'pdf/watermark', input: await onePage(), files: { picture: input } };
    expect(await server.use('document', pages)).toMatchObject({ status: 'completed', files: [{ format: 'pdf' }] });
    const rate = 8_000;
    const sound = `data:audio/wav;base64,${silence(rate * 3, rate).toString('base64')}`;
    const trimmed = await server.use('trim', { input: sound, start: 1, end: '2' });
    expect(trimmed).toMatchObject({ isError: false, status: 'completed', files: [{ format: 'wav' }] });
    expect(trimmed.files[0].size).toBeLessThan(2 * rate * 1.5);
  });

  test('say what is wrong in the words of the service', async () => {
    await using server = await connect();
    const input = `data:;base64,${picture.toString('base64')}`;
    expect(await server.use('convert', { input, from: 'png', to: 'webp', options: { quality: 800 } })).toMatchObject({
      isError: true,
      errorCode: 'bad_request',
      msg: expect.stringContaining('between 1 and 100'),
    });
    expect(await server.use('convert', { input, from: 'png', to: 'nonsense', link: true })).toMatchObject({
      isError: true,
      msg: expect.stringMatching(/^to: Cannot convert/),
    });
    expect(await server.use('convert', { input: 'photos/a.png', to: 'webp' })).toMatchObject({
      msg: 'Expected a URL or a data: URI in base64 as input but received photos/a.png. create_upload takes local files.',
    });
    expect(await server.use('job_status', { job: '0'.repeat(24) })).toMatchObject({ errorCode: 'not_found' });
    const damaged = { input: 'data:;base64,AAAA', from: 'png', to: 'webp' };
    const failed = { isError: true, errorCode: 'processing_failed' };
    expect(await server.use('convert', damaged)).toMatchObject(failed);
    expect(await server.use('convert', { ...damaged, link: true })).toMatchObject({
      ...failed,
      job: expect.any(String),
    });

    const { job } = await server.use('create_upload', { to: 'webp' });
    const canceled = await server.use('cancel', { job });
    expect(canceled).toMatchObject({ status: 'failed', result: { errorCode: 'task_canceled' } });
  });

  test('may do what the key may do', async () => {
    await expect(connect('wrong')).rejects.toMatchObject({ code: 401 });
    const owner = new Lathe({ url: stack.url, key: stack.apiKey });
    const { key } = await owner.request<{ key: string }>('POST', '/v1/account/keys', {
      body: { name: 'Reads', scopes: ['read'] },
    });
    await using server = await connect(key);
    expect((await server.use('list_formats', { from: 'png' })).formats).toContain('webp');
    expect(await server.use('convert', { input: `${site.url}/remote.png`, to: 'webp' })).toMatchObject({
      isError: true,
      errorCode: 'insufficient_permission',
      msg: 'This needs the scope process, but the API key has read.',
    });
  });
});

describe('POST /mcp', () => {
  test.each([
    ['a page of another site', ping, { origin: 'https://bad.example' }, 403, 'Expected Origin'],
    // Who is known by a session would be told that it has ended.
    ['a session', ping, { authorization: '', cookie: 'lathe_session=x' }, 401, 'The access token is missing'],
    ['an unknown version', ping, { 'mcp-protocol-version': '1999-01-01' }, 400, 'Unsupported protocol version'],
    ['what is no message', { method: 'ping' }, {}, 400, 'Expected a JSON-RPC 2.0 message'],
    ['a response that is not JSON', ping, { accept: 'text/event-stream' }, 406, 'Responses are JSON'],
  ])('refuses %s', async (_name, message, headers, status, text) => {
    const response = await send(message, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ msg: expect.stringContaining(text) });
  });

  test('accepts its own origin and notifications, and responds to each request of a batch', async () => {
    expect((await send(ping, { origin: stack.url, accept: '*/*' })).status).toBe(200);
    const initialized = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([initialized.status, await initialized.text()]).toEqual([202, '']);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await send(cancel)).status).toBe(202);
    const batch = await send([ping, cancel, { ...ping, id: 2 }]);
    expect(await batch.json()).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} })));
  });

  test.each(['GET', 'DELETE'])('has no sessions or streams for %s', async (method) => {
    const response = await fetch(`${stack.url}/mcp`, { method, headers: { accept: 'text/event-stream' } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
