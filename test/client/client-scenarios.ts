import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Job,
  JobFailedError,
  type JobRequest,
  Lathe,
  LatheError,
  type RunProgress,
  type Task,
} from '../../packages/client/src/index.ts';
import { startChromium } from '../support/chromium.ts';
import { blue, colourAt, distance, photograph, red } from '../support/images.ts';
import { until } from '../support/until.ts';
import { startFileServer } from '../transfers/file-server.ts';
import { bundleForBrowser, firstLoadBytes } from './browser.ts';
import { picture, site, stack } from './running-service.ts';

let lathe: Lathe;
let folder: string;

beforeAll(async () => {
  lathe = new Lathe({ url: stack.url, key: stack.apiKey });
  folder = await mkdtemp(join(tmpdir(), 'lathe-client-'));
  await writeFile(join(folder, 'in.png'), picture);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A job that passes an upload on as it is. */
const twoTasks: JobRequest = {
  tasks: { import: { operation: 'import/upload' }, export: { operation: 'export/url', input: 'import' } },
};

function taskOf(job: Job, name: string): Task {
  const found = job.tasks?.find((task) => task.name === name);
  if (!found) throw new Error(`The job has no task ${name}.`);
  return found;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A client that notes its requests. */
function countingClient() {
  const sent: string[] = [];
  const counted = new Lathe({
    url: stack.url,
    key: stack.apiKey,
    fetch: (input, init) => {
      sent.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`);
      return fetch(input, init);
    },
  });
  return { counted, sent };
}

describe('convert', () => {
  test.each([
    ['md', '# Nameless', 'html', '<h1'],
    ['csv', 'a,b\n1,2\n', 'html', '<td'],
    ['txt', 'Nameless', 'html', 'Nameless'],
    ['html', '<h1>Nameless</h1>', 'md', '# Nameless'],
    ['rst', 'Nameless\n========\n', 'html', '<h1'],
  ])('believes that a nameless Blob is %s', async (from, text, to, expected) => {
    const { files } = await lathe.convert(new Blob([text]), { from, to });
    expect(await (await lathe.blob(files[0] ?? '')).text()).toContain(expected);
  });

  test('does not believe that a picture is a text', async () => {
    const converted = lathe.convert(new Blob([picture]), { from: 'md', to: 'pdf' });
    await expect(converted).rejects.toThrow('The content of the file "file" looks like png, not md.');
    const unknown = lathe.convert(new Blob(['Whatever']), { to: 'pdf' });
    await expect(unknown).rejects.toThrow('shows neither in its content nor in its name. Set input_format.');
  });

  test('converts a file by its path, reports its progress, and downloads it', async () => {
    const progress: RunProgress[] = [];
    const { files, job, warnings } = await lathe.convert(join(folder, 'in.png'), {
      to: 'webp',
      options: { quality: 80 },
      tag: 'by path',
      onProgress: (one) => progress.push(one),
    });
    expect(files).toMatchObject([{ filename: 'in.webp', format: 'webp', media_type: 'image/webp' }]);
    expect([job?.status, job?.tag, warnings]).toEqual(['completed', 'by path', []]);
    expect(progress).toContainEqual({ stage: 'uploading', loaded: picture.length, total: picture.length });
    expect(progress.map(({ stage }) => stage)).toContain('processing');
    expect(progress.at(-1)).toEqual({ stage: 'done' });
    const path = join(folder, 'out.webp');
    if (files[0]) await lathe.download(files[0], path);
    const image = await readFile(path);
    expect(await sharp(image).metadata()).toMatchObject({ format: 'webp', width: 48, height: 24 });
    expect(distance(await colourAt(image, 0.1, 0.5), red)).toBeLessThan(12);
    expect(distance(await colourAt(image, 0.9, 0.5), blue)).toBeLessThan(12);
  });

  test('converts a small file within one request, and returns it without a job', async () => {
    const { counted, sent } = countingClient();
    const { files, job } = await counted.convert(join(folder, 'in.png'), { to: 'webp' });
    expect(job).toBeUndefined();
    expect(files).toMatchObject([{ filename: 'in.webp', format: 'webp', media_type: 'image/webp' }]);
    const path = join(folder, 'instant.webp');
    if (files[0]) await counted.download(files[0], path);
    expect(await sharp(await readFile(path)).metadata()).toMatchObject({ format: 'webp', width: 48, height: 24 });
    expect(await (await fetch(files[0]?.url ?? '')).arrayBuffer()).toHaveProperty('byteLength', files[0]?.size);
    expect(sent).toEqual(['POST /v1/instant/convert']);
  });

  test('returns each of several files, from one request', async () => {
    const { counted, sent } = countingClient();
    const pdf = await counted.merge([join(folder, 'in.png'), picture]);
    const both = await counted.blob(pdf.files[0] ?? '');
    const { files } = await counted.convert(both, { to: 'jpg', filename: 'bøth.pdf' });
    expect(files.map(({ filename, media_type }) => [filename, media_type])).toEqual([
      ['bøth-1.jpg', 'image/jpeg'],
      ['bøth-2.jpg', 'image/jpeg'],
    ]);
    for (const file of files) {
      const blob = await counted.blob(file);
      expect([blob.size, blob.type]).toEqual([file.size, 'image/jpeg']);
      expect((await sharp(await blob.arrayBuffer()).metadata()).format).toBe('jpeg');
    }
    expect(sent).toEqual(['POST /v1/instant/merge', 'POST /v1/instant/convert']);
  });

  test.each([true, false])('works on a document with a file by its role, instantly: %s', async (instant) => {
    const { counted } = countingClient();
    const pdf = await counted.merge([picture, picture]);
    const pages = await counted.blob(pdf.files[0] ?? '');
    const result = await counted.perform('pdf/watermark', [pages], {
      filename: 'two.pdf',
      files: { picture: join(folder, 'in.png') },
      instant,
    });
    expect([result.job === undefined, result.files]).toMatchObject([instant, [{ filename: 'two.pdf', format: 'pdf' }]]);
  });

  test('follows the redirect to a large result', async () => {
    const { counted, sent } = countingClient();
    const noise = Buffer.alloc(1_300 * 1_300 * 3).map(() => Math.random() * 256);
    const raw = { width: 1_300, height: 1_300, channels: 3 as const };
    const jpeg = await sharp(noise, { raw }).jpeg({ quality: 90 }).toBuffer();
    const { files, job } = await counted.convert(new Blob([new Uint8Array(jpeg)]), {
      to: 'bmp',
      filename: 'noise.jpg',
    });
    expect([job, files[0]?.filename, files[0]?.size]).toEqual([undefined, 'noise.bmp', expect.any(Number)]);
    expect(files[0]?.size).toBeGreaterThan(1_300 * 1_300 * 3);
    expect(sent).toEqual(['POST /v1/instant/convert', expect.stringMatching(/^GET .*\/files\//)]);
  });

  test('waits for a job within the request that creates it', async () => {
    // The first start of a function may take longer than a request waits.
    await lathe.convert(`${site.url}/remote.png`, { to: 'webp' });
    const { counted, sent } = countingClient();
    const { files, job } = await counted.convert(join(folder, 'in.png'), { to: 'webp', tag: 'held' });
    expect([job?.status, files[0]?.filename]).toEqual(['completed', 'in.webp']);
    const remote = await counted.convert(`${site.url}/remote.png`, { to: 'webp' });
    expect([remote.job?.status, remote.files[0]?.filename]).toEqual(['completed', 'remote.webp']);
    expect(sent).toEqual(['POST /v1/process/jobs', 'POST /v1/process/jobs']);
    expect((await counted.blob(files[0] ?? '')).size).toBe(files[0]?.size);
    expect(sent.slice(2)).toEqual([expect.stringMatching(/^GET \/v1\/files\//)]);
  });

  test('cancels a job that is aborted while its creation is held', async () => {
    const abort = new AbortController();
    const url = `${site.url}/never.png?held`;
    const converting = lathe.convert(url, { to: 'webp', signal: abort.signal });
    const checked = expect(converting).rejects.toThrow('aborted');
    const find = async () => {
      for await (const job of lathe.jobs({ include: 'tasks' }))
        if (job.tasks?.some(({ payload }) => payload.url === url)) return job;
      return undefined;
    };
    await until('it is created', async () => (await find()) !== undefined);
    abort.abort();
    await checked;
    expect(await find()).toMatchObject({ status: 'failed', result: { errorCode: 'task_canceled' } });
  });

  test('throws why a file cannot be converted', async () => {
    const error = await lathe
      .convert(new TextEncoder().encode('{'), { to: 'mp3', from: 'png' })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(LatheError);
    expect(error.reason ?? error.errorCode).toBe('unsupported_format');
    const failed = await lathe.convert(new Uint8Array(99), { to: 'webp', from: 'png' }).catch((thrown) => thrown);
    expect(failed).toBeInstanceOf(LatheError);
    expect(failed).toMatchObject({ errorCode: 'processing_failed', status: 422 });
    const byJob = await lathe
      .convert(new Uint8Array(99), { to: 'webp', from: 'png', instant: false })
      .catch((thrown) => thrown);
    expect(byJob).toBeInstanceOf(JobFailedError);
    expect(byJob).toMatchObject({ errorCode: 'processing_failed', job: { status: 'failed' } });
  });

  test('cancels its job when it is aborted', async () => {
    const abort = new AbortController();
    let job: Job | undefined;
    const endless = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const running = lathe.convert(endless, {
      to: 'webp',
      size: 10,
      signal: abort.signal,
      onJob: (made) => {
        job = made;
        abort.abort();
      },
    });
    await expect(running).rejects.toThrow('aborted');
    const ended = await lathe.wait(job?.id ?? '');
    expect(ended).toMatchObject({ status: 'failed', result: { errorCode: 'task_canceled' } });
  });
});

describe('upload', () => {
  const inputs: [name: string, input: () => Parameters<Lathe['upload']>[1], options: object][] = [
    ['a path', () => join(folder, 'in.png'), {}],
    ['a Blob', () => new Blob([picture]), { filename: 'in.png' }],
    ['bytes', () => picture, { filename: 'in.png' }],
    ['a stream of Node of known size', () => createReadStream(join(folder, 'in.png')), { filename: 'in.png', size: 0 }],
    ['a stream of unknown size', () => new Blob([picture]).stream(), { filename: 'in.png' }],
  ];

  test.each(inputs)('sends %s', async (_name, input, options) => {
    const size = 'size' in options ? { size: picture.length } : {};
    const job = await lathe.createJob(twoTasks);
    const sent: number[] = [];
    await lathe.upload(taskOf(job, 'import'), input(), {
      ...options,
      ...size,
      onProgress: ({ loaded }) => sent.push(loaded),
    });
    const [file] = taskOf(await lathe.wait(job), 'export').result.files ?? [];
    expect(file).toMatchObject({ filename: 'in.png', size: picture.length });
    expect(sent.at(-1)).toBe(picture.length);
    expect(sent).toEqual(sent.toSorted((left, right) => left - right));
    expect(Buffer.from(await (await lathe.blob(file ?? '')).arrayBuffer()).equals(picture)).toBe(true);
  });

  test('refuses a task without a form, and a URL', async () => {
    const job = await lathe.createJob(twoTasks);
    await expect(lathe.upload(taskOf(job, 'export'), 'x')).rejects.toThrow('Expected an import/upload task');
    await expect(lathe.upload(taskOf(job, 'import'), 'https://example.com/a')).rejects.toThrow('Import it instead');
    await lathe.cancel(job);
  });
});

describe('follow', () => {
  const whole = ['job_started', 'task_started', 'task_completed', 'task_started', 'task_completed', 'job_completed'];

  test.each([
    ['by a WebSocket', true],
    ['by waiting', false],
  ])('yields each state of a job once %s', async (_name, live) => {
    const job = await lathe.createJob(twoTasks);
    const events: string[] = [];
    let uploaded: Promise<void> | undefined;
    for await (const { event } of lathe.follow(job, { live })) {
      events.push(event);
      if (event === 'task_started') uploaded ??= lathe.upload(taskOf(job, 'import'), picture);
    }
    await uploaded;
    // Who waits sees a start only where it is the state at that moment.
    expect(events).toEqual(live ? whole : whole.toSpliced(3, events.length === whole.length ? 0 : 1));
  });

  test('resumes after its connection was lost', async () => {
    const job = await lathe.createJob(twoTasks);
    const events: string[] = [];
    for await (const { event } of lathe.follow(job)) {
      events.push(event);
      if (events.length !== 2) continue;
      stack.sockets.cut();
      await lathe.upload(taskOf(job, 'import'), picture);
    }
    expect(events.slice(0, 2)).toEqual(['job_started', 'task_started']);
    expect(events.filter((event) => event === 'task_completed')).toHaveLength(2);
    expect(events.at(-1)).toBe('job_completed');
    expect(new Set(stack.sockets.connectionIds()).size).toBeLessThan(2);
  });

  test('ends with the error of a job that does not exist', async () => {
    const missing = lathe.follow('0123456789abcdef01234567').next();
    await expect(missing).rejects.toMatchObject({ status: 404, errorCode: 'not_found' });
  });

  test('falls back to waiting where sockets cannot be opened', async () => {
    const blind = new Lathe({
      url: stack.url,
      key: stack.apiKey,
      retry: { minPauseMs: 1 },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).endsWith('/health')) return response;
        const body = await response.text();
        return new Response(body.replaceAll(/ws:\/\/localhost:\d+/g, 'ws://localhost:2'), response);
      },
    });
    const job = await blind.createJob(twoTasks);
    await blind.upload(taskOf(job, 'import'), picture);
    const events: string[] = [];
    for await (const { event } of blind.follow(job)) events.push(event);
    expect(events.at(-1)).toBe('job_completed');
  });
});

test('a creation whose response is lost creates one job', async () => {
  let lost = 0;
  const unlucky = new Lathe({
    url: stack.url,
    key: stack.apiKey,
    retry: { minPauseMs: 1 },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || lost > 0) return response;
      lost += 1;
      throw new TypeError('The connection was lost.');
    },
  });
  const tag = 'lost response';
  const job = await unlucky.createJob({ ...twoTasks, tag });
  expect(lost).toBe(1);
  const found = await collect(lathe.jobs({ tag }));
  expect(found.map(({ id }) => id)).toEqual([job.id]);
  await lathe.deleteJob(job);
  await expect(lathe.job(job.id)).rejects.toMatchObject({ status: 404 });
});

test('lists are read page by page', async () => {
  const jobs = await Promise.all([1, 2, 3].map(() => lathe.createJob({ ...twoTasks, tag: 'paged' })));
  const listed = await collect(lathe.jobs({ tag: 'paged', per_page: 2 }));
  expect(listed.map(({ id }) => id).sort()).toEqual(jobs.map(({ id }) => id).sort());
  const tasks = await collect(lathe.tasks({ job: jobs[0]?.id ?? '', per_page: 1 }));
  expect(tasks.map(({ name }) => name).sort()).toEqual(['export', 'import']);
  await Promise.all(jobs.map((job) => lathe.cancel(job)));
  expect((await lathe.job(jobs[0]?.id ?? '')).status).toBe('failed');
});

test('formats and options are what the catalogue lists', async () => {
  expect(await lathe.formats({ from: 'png' })).toContain('webp');
  expect(await lathe.formats({ to: 'pdf' })).toContain('docx');
  expect(await lathe.formats()).toContain('mp3');
  const { options } = await lathe.options('jpg', 'pdf');
  expect(options.map(({ name }) => name)).toContain('pdf_page_size');
});

test('an estimate says how long a job is expected to take, and creates none', async () => {
  const tasks = {
    import: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'import', input_format: 'png', output_format: 'webp' },
  };
  const before = (await collect(lathe.jobs())).length;
  const estimate = await lathe.estimate({ tasks });
  expect(estimate.conversionSeconds).toBeGreaterThan(0);
  expect(estimate.tasks.map(({ name }) => name)).toEqual(['convert']);
  expect(await collect(lathe.jobs())).toHaveLength(before);
});

test('a wrong key is refused with what the service says', async () => {
  const stranger = new Lathe({ url: stack.url, key: 'wrong' });
  await expect(stranger.job('0123456789abcdef01234567')).rejects.toMatchObject({
    status: 401,
    errorCode: 'unauthorized',
  });
});

describe('in a browser', () => {
  /** A page of another origin that converts what is chosen in its field, as an application would. */
  const page = `<!doctype html><title>Converting</title><input type="file">
    <script type="module">
      import { Lathe } from '/lathe.js';
      const { url, key } = await (await fetch('/setting')).json();
      const lathe = new Lathe({ url, key });
      window.outcome = new Promise((resolve, reject) => {
        document.querySelector('input').onchange = async ({ target }) => {
          const [file] = target.files;
          const progress = [];
          try {
            const { files } = await lathe.convert(file, { to: 'png', instant: false, onProgress: (one) => progress.push(one) });
            const blob = await lathe.blob(files[0]);
            const { width, height } = await createImageBitmap(blob);
            const refused = await new Lathe({ url, key: 'wrong' }).job('0123456789abcdef01234567').catch((error) => error);
            const { errorCode, status } = refused;
            const instant = [];
            for (const options of [{}, { image_custom_width: 1600 }]) {
              const { job, files: [{ filename, content }] } = await lathe.convert(file, { to: 'bmp', options });
              instant.push({ job, filename, size: content.size, width: (await createImageBitmap(content)).width });
            }
            resolve({ files, type: blob.type, width, height, progress, instant, refused: { errorCode, status } });
          } catch (error) {
            reject(error);
          }
        };
      });
    </script>`;

  test('is bundled without modules of Node and without other packages', async () => {
    const { code, inputs } = await bundleForBrowser();
    expect(inputs.filter((path) => !path.startsWith('packages/client/src/'))).toEqual([]);
    expect(inputs.filter((path) => /\/(?:cli|mcp|node)\//.test(path))).toEqual([]);
    expect(code).not.toMatch(/(?:from|import|require\()\s*["']node:/);
    const first = await firstLoadBytes();
    expect(first).toBeGreaterThan(10_000);
    expect(first).toBeLessThan(24_000);
  });

  test('uploads with progress, follows, and reads the result from another origin', async () => {
    const { code } = await bundleForBrowser();
    const contents: Record<string, [type: string, content: string]> = {
      '/': ['text/html', page],
      '/lathe.js': ['text/javascript', code],
      '/setting': ['application/json', JSON.stringify({ url: stack.url, key: stack.apiKey })],
    };
    await using site = await startFileServer((request, response) => {
      const [type, content] = contents[request.url ?? ''] ?? [];
      response.writeHead(content ? 200 : 404, type ? { 'content-type': type } : {}).end(content);
    });
    const browser = await startChromium();
    try {
      const tab = await browser.newPage();
      const faults: string[] = [];
      tab.on('pageerror', (error) => faults.push(String(error)));
      await tab.goto(site.url);
      await tab.waitForFunction('window.outcome !== undefined');
      const path = join(folder, 'large.webp');
      await writeFile(
        path,
        await sharp(await photograph(300, 200))
          .webp({ lossless: true })
          .toBuffer(),
      );
      await (await tab.$('input[type=file]'))?.uploadFile(path);
      const outcome: BrowserOutcome = JSON.parse(String(await tab.evaluate('window.outcome.then(JSON.stringify)')));
      const { size } = await stat(path);
      expect(faults).toEqual([]);
      expect(outcome).toMatchObject({ type: 'image/png', width: 300, height: 200 });
      expect(outcome.files).toMatchObject([{ filename: 'large.png', format: 'png' }]);
      expect(outcome.progress).toContainEqual({ stage: 'uploading', loaded: size, total: size });
      expect(outcome.progress.at(-1)).toEqual({ stage: 'done' });
      // The second is larger than a response may be, so it comes from the origin of the store.
      expect(outcome.instant).toEqual([
        { filename: 'large.bmp', size: expect.any(Number), width: 300 },
        { filename: 'large.bmp', size: expect.any(Number), width: 1600 },
      ]);
      expect(outcome.instant[1]?.size).toBeGreaterThan(4_400_000);
      expect(outcome.refused).toEqual({ errorCode: 'unauthorized', status: 401 });
    } finally {
      await browser.close();
    }
  });
});

interface BrowserOutcome {
  files: unknown[];
  progress: RunProgress[];
  instant: { size: number }[];
  refused: unknown;
}
