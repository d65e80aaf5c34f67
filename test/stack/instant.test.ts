import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobView, TaskView } from '../support/client.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { readZip } from '../support/zip.ts';

let service: JoinedService;
let other: JoinedService;
let png: Buffer<ArrayBuffer>;
let files: Server;

beforeAll(async () => {
  [service, other] = await Promise.all([joinService(), joinService()]);
  png = Buffer.from(
    await sharp({ create: { width: 40, height: 30, channels: 3, background: '#e67e22' } })
      .png()
      .toBuffer(),
  );
  files = createServer((req, res) => {
    res.setHeader('content-type', 'image/png');
    if (req.url !== '/broken.png') res.end(png);
    else res.write(Buffer.alloc(12_000_000), () => res.destroy());
  }).listen(0, '127.0.0.1');
});
afterAll(() => void files.close());

const send: JoinedService['client']['instant'] = (...request) => service.client.instant(...request);
const json = (body: object) => [JSON.stringify(body), { 'content-type': 'application/json' }] as const;

function formOf(fields: Record<string, string>, ...contents: Buffer<ArrayBuffer>[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [index, content] of contents.entries())
    form.append('file', new Blob([content]), `picture ${index + 1}.png`);
  return form;
}

async function lists(): Promise<number> {
  const { docs } = (await service.client.call<{ docs: JobView[] }>('GET', '/v1/process/jobs')).body;
  const tasks = (await service.client.call<{ docs: TaskView[] }>('GET', '/v1/process/tasks')).body;
  return docs.length + tasks.docs.length;
}

describe('An instant conversion', () => {
  it('returns the file of a form, by parameters in form and query', async () => {
    const response = await send('convert?output_format=webp', formOf({ 'options[quality]': '50' }, png));

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/webp');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="picture 1.webp"');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(Number(response.headers.get('lathe-conversion-seconds'))).toBeGreaterThan(0);
    expect(await sharp(await response.arrayBuffer()).metadata()).toMatchObject({
      format: 'webp',
      width: 40,
      height: 30,
    });
  });

  it('returns the file that is the body', async () => {
    const query = '?output_format=jpg&filename=photo.png&options={"rotate":90}';
    const response = await send(`convert${query}`, png, { 'content-type': 'image/png' });

    expect(response.headers.get('content-disposition')).toBe('attachment; filename="photo.jpg"');
    expect(await sharp(await response.arrayBuffer()).metadata()).toMatchObject({
      format: 'jpeg',
      width: 30,
      height: 40,
    });
  });

  it('draws HTML', async () => {
    const response = await send('convert', ...json({ html: '<h1>Invoice</h1>', output_format: 'pdf' }));

    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(
      Buffer.from(await response.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
  });

  it('reads a URL, and the output of an earlier task', async () => {
    const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/a.png`;
    const file = `data:image/png;base64,${png.toString('base64')}`;
    const task = await service.client.createTask('import/base64', { file, filename: 'b.png' });
    const responses = [
      await send('convert', ...json({ url, output_format: 'webp' })),
      await send('convert', ...json({ input: task.id, output_format: 'webp' })),
    ];

    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(responses.map(({ headers }) => headers.get('content-disposition'))).toEqual([
      'attachment; filename="a.webp"',
      'attachment; filename="b.webp"',
    ]);
  });

  it('of several files returns a ZIP', async () => {
    const response = await send('convert', formOf({ output_format: 'webp', filename: 'all' }, png, png));

    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('lathe-archive')).toBe('image/webp');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="all.zip"');
    const entries = await readZip(Buffer.from(await response.arrayBuffer()));
    expect([...entries.keys()]).toEqual(['picture 1.webp', 'picture 2.webp']);
  });

  it('merges, compresses, crops and trims', async () => {
    const merged = await send('merge', formOf({ output_format: 'pdf' }, png, png));
    const compressed = await send('compress', formOf({}, png));
    const cropped = await send('crop', formOf({ 'options[width]': '10', 'options[height]': '10' }, png));

    expect([merged.status, compressed.status, cropped.status]).toEqual([200, 200, 200]);
    expect(await sharp(await cropped.arrayBuffer()).metadata()).toMatchObject({ width: 10, height: 10 });
  });

  it('redirects to a result that is too large for a response', async () => {
    const noise = Buffer.alloc(1_300 * 1_300 * 3).map(() => Math.random() * 256);
    const raw = { raw: { width: 1_300, height: 1_300, channels: 3 as const } };
    const large = Buffer.from(await sharp(noise, raw).jpeg({ quality: 90 }).toBuffer());
    const response = await send('convert', formOf({ output_format: 'bmp' }, large));

    expect(response.status).toBe(303);
    const file = await fetch(response.headers.get('location') ?? '');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="picture 1.bmp"');
    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(1_300 * 1_300 * 3);
  });

  it('leaves no record', async () => {
    const before = await lists();
    await send('convert', formOf({ output_format: 'webp' }, png));

    expect(await lists()).toBe(before);
  });

  it('counts as usage', async () => {
    const usage = async () => {
      const { body } = await service.client.call<{ conversions: number; seconds: number }>('GET', '/v1/account/usage');
      return JSON.stringify(body);
    };
    const before = await usage();
    await send('convert', formOf({ output_format: 'webp' }, png));

    expect(await usage()).not.toBe(before);
  });
});

describe('A request that cannot be instant', () => {
  it('becomes a job if the client prefers that', async () => {
    const response = await send('convert', formOf({ output_format: 'webp' }, png), { prefer: 'respond-async' });
    const job = (await response.json()) as JobView;

    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe(`${service.url}/v1/process/jobs/${job.id}`);
    const ended = await service.client.waitForJob(job.id);
    expect(ended.status).toBe('completed');
    expect(ended.tasks.at(-1)?.result.url).toContain('picture%201.webp');
  });

  it('becomes a job that fails at once if its input was canceled', async () => {
    const { id } = await service.client.createTask('import/upload');
    await service.client.call('POST', `/v1/process/tasks/${id}/cancel`);
    const [body, headers] = json({ input: id, input_format: 'png', output_format: 'webp' });
    const job = (await (await send('convert', body, { ...headers, prefer: 'respond-async' })).json()) as JobView;

    expect(await service.client.showJob(job.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_failed' },
    });
  });

  it('becomes a job if it takes longer than the client waits', async () => {
    // A format that no other request here has: the service learns from those how long the next one takes.
    const [body, headers] = json({ html: '<p>Slow', output_format: 'jpg', options: { initial_delay: 5 } });
    const late = await send('convert', body, { ...headers, prefer: 'wait=2' });
    const response = await send('convert', body, { ...headers, prefer: 'respond-async, wait=2' });
    const job = (await response.json()) as JobView;

    expect([late.status, response.status]).toEqual([504, 202]);
    expect((await service.client.waitForJob(job.id)).status).toBe('completed');
  });

  it('becomes one job if it is repeated with the same key', async () => {
    const headers = { prefer: 'respond-async', 'idempotency-key': 'instant-once' };
    const create = async (content: Buffer<ArrayBuffer>) =>
      send('convert', formOf({ output_format: 'webp' }, content), headers);
    const [first, second] = [await create(png), await create(png)];

    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect((await create(png.subarray(1))).status).toBe(409);
  });

  it.each([
    ['no file', 'convert', { output_format: 'webp' }, 400, 'bad_request'],
    ['an unknown format', 'convert', { html: 'a', output_format: 'nonsense' }, 400, 'bad_request'],
    ['a private address', 'convert', { url: 'http://10.0.0.1/a.png', output_format: 'webp' }, 422, 'processing_failed'],
    ['an unknown task', 'convert', { input: 'a'.repeat(24), output_format: 'webp' }, 400, 'bad_request'],
  ])('is refused with a reason: %s', async (_name, operation, body, status, errorCode) => {
    const response = await send(operation, ...json(body));

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ errorCode, msg: expect.stringMatching(/\w+/) });
  });

  it('is refused with the reason of the engine if the file is damaged', async () => {
    const response = await send('convert', formOf({ output_format: 'webp' }, png.subarray(0, 60)));

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errorCode: 'processing_failed' });
  });

  it('is refused if its source breaks off, and leaves no part of it behind', async () => {
    const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/broken.png`;
    const response = await send('convert', ...json({ url, output_format: 'webp' }));

    expect([422, 504]).toContain(response.status);
    const s3 = new S3Client((await service.as('functions/lifecycle/sweep.ts')).client('s3'));
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: service.stack.buckets[0]?.name }));
    expect(Uploads).toEqual([]);
  });

  it('is refused with what to do if it is too large for the API', async () => {
    const response = await send('convert', formOf({ output_format: 'webp' }, Buffer.alloc(5_000_000)));

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      errorCode: 'payload_too_large',
      msg: expect.stringContaining('import/upload'),
    });
  });

  it('is refused without a key, and does not reach the files of others', async () => {
    const file = `data:image/png;base64,${png.toString('base64')}`;
    const task = await service.client.createTask('import/base64', { file, filename: 'b.png' });
    const theft = await other.client.instant('convert', ...json({ input: task.id, output_format: 'webp' }));

    expect((await send('convert', png, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect(theft.status).toBe(400);
  });
});

describe('A request that prefers to wait', () => {
  it('returns the job at its end', async () => {
    const file = `data:image/png;base64,${png.toString('base64')}`;
    const response = await fetch(`${service.url}/v1/process/jobs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        prefer: 'wait=25',
      },
      body: JSON.stringify({
        tasks: {
          import: { operation: 'import/base64', file, filename: 'b.png' },
          convert: { operation: 'convert', input: 'import', output_format: 'webp' },
          export: { operation: 'export/url', input: 'convert' },
        },
      }),
    });
    const job = (await response.json()) as JobView;

    expect(response.status).toBe(201);
    expect(response.headers.get('preference-applied')).toBe('wait=25');
    expect(job.status).toBe('completed');
  });
});
