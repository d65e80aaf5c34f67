import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onlyInBreadth } from '../support/breadth.ts';
import {
  type Client,
  dataUri,
  download,
  type FileView,
  filesOf,
  formOf,
  postForm,
  type TaskDefinition,
  type TaskView,
  taskOf,
} from '../support/client.ts';
import { blue, colourAt, distance, photograph, red, twoHalves } from '../support/images.ts';
import { allGone, descendantsOf } from '../support/processes.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { readZip } from '../support/zip.ts';

let service: JoinedService;
let client: Client;

beforeAll(async () => {
  service = await joinService();
  client = service.client;
});

const mediaTypes = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp', avif: 'image/avif', gif: 'image/gif' };
type Format = keyof typeof mediaTypes;
const formats: Format[] = ['png', 'jpg', 'webp', 'avif', 'gif'];

function base64Import(content: Uint8Array, filename: string): TaskDefinition {
  return { operation: 'import/base64', file: dataUri(content), filename };
}

function firstFile(files: FileView[]): FileView {
  const [file] = files;
  if (!file) throw new Error('There is no file.');
  return file;
}

async function convertOne(image: Buffer, from: Format, to: Format, options: Record<string, unknown> = {}) {
  const job = await client.runJob({
    import: base64Import(image, `picture.${from}`),
    convert: { operation: 'convert', input: 'import', output_format: to, options },
    export: { operation: 'export/url', input: 'convert' },
  });
  const file = firstFile(filesOf(job, 'export'));
  return { file, content: await download(file.url) };
}

const pairs = formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => [from, to] as const));
/** Whether a pair is one of those that read each format once and write each once. */
const isUsual = ([from, to]: readonly [Format, Format]) =>
  formats.indexOf(to) === (formats.indexOf(from) + 1) % formats.length;

describe.concurrent('a conversion', () => {
  for (const usual of [true, false])
    test.for(pairs.filter((pair) => isUsual(pair) === usual))(
      'from %s to %s gives an image of the same size and colours',
      usual ? {} : onlyInBreadth,
      async ([from, to]) => {
        const { file, content } = await convertOne(await twoHalves(96, 48, from), from, to);

        expect(file).toMatchObject({ filename: `picture.${to}`, format: to, media_type: mediaTypes[to] });
        expect(file.size).toBe(content.length);
        const metadata = await sharp(content).metadata();
        expect(metadata).toMatchObject({ width: 96, height: 48 });
        expect(metadata.format).toBe(to === 'jpg' ? 'jpeg' : to === 'avif' ? 'heif' : to);
        expect(distance(await colourAt(content, 0.2, 0.5), red)).toBeLessThan(12);
        expect(distance(await colourAt(content, 0.8, 0.5), blue)).toBeLessThan(12);
      },
    );

  test('at a lower quality gives a smaller file', async () => {
    const image = await photograph(256, 256);
    const [low, high] = await Promise.all([
      convertOne(image, 'png', 'jpg', { quality: 10 }),
      convertOne(image, 'png', 'jpg', { quality: 95 }),
    ]);
    expect(low.content.length).toBeLessThan(high.content.length / 2);
  });

  test.for([
    [{ image_custom_width: 50 }, { width: 50, height: 25 }],
    [{ image_custom_height: 10 }, { width: 20, height: 10 }],
    [
      { image_custom_width: 60, image_custom_height: 10 },
      { width: 20, height: 10 },
    ],
  ] as const)('with the options %j keeps the proportions', async ([options, size]) => {
    const { content } = await convertOne(await twoHalves(100, 50), 'png', 'webp', options);
    expect(await sharp(content).metadata()).toMatchObject(size);
  });

  test('drops metadata unless it is asked to keep it', async () => {
    const image = await twoHalves(64, 64, 'jpg');
    const stripped = await convertOne(image, 'jpg', 'webp');
    const kept = await convertOne(image, 'jpg', 'webp', { strip: false });
    expect((await sharp(stripped.content).metadata()).exif).toBeUndefined();
    expect((await sharp(kept.content).metadata()).exif?.toString('latin1')).toContain('Lathe test');
  });

  test('goes by what the file is, not by what it is called', async () => {
    const job = await client.runJob({
      import: base64Import(await twoHalves(32, 32, 'jpg'), 'really-a-photo.png'),
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
    });
    expect(firstFile(filesOf(job, 'import'))).toMatchObject({ format: 'jpg', media_type: 'image/jpeg' });
    expect(firstFile(filesOf(job, 'convert'))).toMatchObject({ filename: 'really-a-photo.webp' });
  });

  test('of a damaged file fails with a message, and the job with it', async () => {
    const whole = await twoHalves(512, 512);
    const { id } = await client.createJob({
      import: base64Import(whole.subarray(0, whole.length / 2), 'torn.png'),
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
      export: { operation: 'export/url', input: 'convert' },
    });
    const job = await client.waitForJob(id);

    expect(job).toMatchObject({ status: 'failed', result: { errorCode: 'task_failed' } });
    expect(taskOf(job, 'convert')).toMatchObject({ status: 'failed', result: { errorCode: 'processing_failed' } });
    expect(taskOf(job, 'convert').result.msg).toMatch(/\S+ \S+/);
    expect(taskOf(job, 'export')).toMatchObject({ status: 'failed', result: { errorCode: 'processing_failed' } });
  });
});

describe('an upload', () => {
  test.for(['photo.png', 'Ünïcödé – 写真 📷.png', 'no-extension'])(
    'by the form, without a key, completes the task and keeps the name %j',
    async (name) => {
      const image = await twoHalves(40, 20);
      const task = await client.createTask('import/upload');
      expect(task).toMatchObject({ operation: 'import/upload', status: 'processing', endedAt: null });
      const posted = await postForm(formOf(task), name, image);
      expect(posted.status).toBe(204);

      const done = await client.waitForTask(task.id);
      expect(done.status).toBe('completed');
      const file = firstFile(done.result.files ?? []);
      expect(file).toMatchObject({ filename: name, format: 'png', size: image.length });
      expect(await download(file.url)).toEqual(image);
    },
  );

  test('feeds the tasks of its job', async () => {
    const job = await client.createJob(
      {
        upload: { operation: 'import/upload' },
        convert: { operation: 'convert', input: 'upload', output_format: 'avif' },
        export: { operation: 'export/url', input: ['convert'] },
      },
      'my tag',
    );
    expect(job).toMatchObject({ tag: 'my tag', status: 'processing' });
    expect(job.tasks.map(({ name, status }) => [name, status])).toEqual([
      ['upload', 'processing'],
      ['convert', 'created'],
      ['export', 'created'],
    ]);
    await postForm(formOf(taskOf(job, 'upload')), 'a.png', await twoHalves(40, 20));

    const done = await client.waitForJob(job.id);
    expect(done).toMatchObject({ tag: 'my tag', status: 'completed', result: {} });
    expect(done.tasks.map(({ status, progress }) => [status, progress])).toEqual(Array(3).fill(['completed', 100]));
    const content = await download(taskOf(done, 'export').result.url ?? '');
    expect(await sharp(content).metadata()).toMatchObject({ format: 'heif', width: 40, height: 20 });
  });

  test('to a form with a changed key or policy is refused', async () => {
    const [victim, attacker] = await Promise.all([
      client.createTask('import/upload'),
      client.createTask('import/upload'),
    ]);
    const [target, own] = [victim.result.form, attacker.result.form];
    if (!target || !own) throw new Error('A task has no form.');
    const image = await twoHalves(8, 8);
    const answers = await Promise.all([
      postForm({ ...own, parameters: { ...own.parameters, key: target.parameters.key ?? '' } }, 'a.png', image),
      postForm({ ...own, parameters: { ...own.parameters, Policy: target.parameters.Policy ?? '' } }, 'a.png', image),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });
});

describe('tasks made one by one', () => {
  test('take earlier tasks as input by their id', async () => {
    const imported = await client.createTask('import/base64', {
      file: dataUri(await twoHalves(30, 30)),
      filename: 'one.png',
    });
    expect(imported).toMatchObject({ status: 'completed', payload: { file: '', filename: 'one.png' } });
    const converted = await client.createTask('convert', { input: imported.id, output_format: 'jpg' });
    expect(converted.dependsOn).toEqual([imported.id]);
    const exported = await client.createTask('export/url', { input: [converted.id], filename: 'renamed' });

    const done = await client.waitForTask(exported.id);
    expect(done.status).toBe('completed');
    const file = firstFile(done.result.files ?? []);
    expect(file.filename).toBe('renamed.jpg');
    expect((await sharp(await download(file.url)).metadata()).format).toBe('jpeg');
  });
});

describe('an export', () => {
  let images: Buffer[];
  let tasks: Record<string, TaskDefinition>;

  beforeAll(async () => {
    images = await Promise.all([twoHalves(10, 10), twoHalves(20, 20), twoHalves(30, 30)]);
    tasks = Object.fromEntries(images.map((image, index) => [`import-${index}`, base64Import(image, 'same name.png')]));
  });

  test('of several files gives a link to each, in the order of its inputs', async () => {
    const job = await client.runJob({ ...tasks, export: { operation: 'export/url', input: Object.keys(tasks) } });
    const files = filesOf(job, 'export');
    expect(files.map(({ filename }) => filename)).toEqual(['same name.png', 'same name (2).png', 'same name (3).png']);
    expect(taskOf(job, 'export').result.url).toBe(files[0]?.url);
    expect(await Promise.all(files.map(({ url }) => download(url)))).toEqual(images);
  });

  test('as an archive gives one ZIP with all of them', async () => {
    const job = await client.runJob({
      ...tasks,
      export: { operation: 'export/url', input: Object.keys(tasks), archive_multiple_files: true, filename: 'all' },
    });
    const files = filesOf(job, 'export');
    expect(files).toMatchObject([{ filename: 'all.zip', format: 'zip', media_type: 'application/zip' }]);
    const zip = await download(firstFile(files).url);
    expect(zip.length).toBe(firstFile(files).size);
    expect([...(await readZip(zip))]).toEqual([
      ['same name.png', images[0]],
      ['same name (2).png', images[1]],
      ['same name (3).png', images[2]],
    ]);
  });
});

describe('a download link', () => {
  let image: Buffer;
  let file: FileView;

  beforeAll(async () => {
    image = await twoHalves(64, 64);
    const task = await client.createTask('import/base64', { file: dataUri(image), filename: 'Größe 写.png' });
    file = firstFile(task.result.files ?? []);
  });

  test('responds with the name, type and length of the file, and holds no credentials', async () => {
    expect(file.url).not.toMatch(/x-amz|signature|credential/i);
    const response = await fetch(file.url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-length')).toBe(String(image.length));
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e _.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%E5%86%99.png`,
    );
    expect(Buffer.from(await response.arrayBuffer())).toEqual(image);
  });

  test('responds to a range with a part', async () => {
    const response = await fetch(file.url, { headers: { range: 'bytes=10-19' } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes 10-19/${image.length}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(image.subarray(10, 20));
  });

  test('tells about the file without sending it', async () => {
    const response = await fetch(file.url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-length')).toBe(String(image.length));
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  test('with another token, name of task or file is not found', async () => {
    const parts = file.url.split('/');
    const guess = [...parts.slice(0, -2), 'A'.repeat(24), parts.at(-1)].join('/');
    const answers = await Promise.all([
      fetch(guess),
      fetch(file.url.replace(/files\/[0-9a-f]{24}/, `files/${'0'.repeat(24)}`)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });
});

describe('the service tells', () => {
  test('its version and engines at /health', async () => {
    const { status, body } = await client.call<{ version: string; engines: unknown[] }>('GET', '/health');
    expect(status).toBe(200);
    expect(body.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(body.engines).toContainEqual({
      name: 'image',
      usable: true,
      isolation: {
        barriers: expect.objectContaining({ environment: { stands: true } }),
        reportedAt: expect.any(String),
      },
    });
  });

  test('the formats that it knows, without a key', async () => {
    const response = await fetch(`${service.url}/v1/query/formats`);
    expect(response.status).toBe(200);
    const { formats: listed }: { formats: { ext: string }[] } = JSON.parse(await response.text());
    expect(listed.map(({ ext }) => ext)).toEqual(expect.arrayContaining(formats));
  });

  test('a browser of another origin that it may call', async () => {
    const response = await fetch(`${service.url}/v1/process/jobs`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('a request', () => {
  const unknown = '0123456789abcdef01234567';

  test.for([
    ['without a key', {}],
    ['with a wrong key', { authorization: 'Bearer lathe_wrong' }],
    ['with another scheme', { authorization: 'Basic bGF0aGU6bGF0aGU=' }],
  ] as const)('%s is answered with 401', async ([, headers]) => {
    const response = await fetch(`${service.url}/v1/process/tasks/${unknown}`, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(JSON.parse(await response.text())).toMatchObject({ errorCode: 'unauthorized', msg: expect.any(String) });
  });

  test.for([`/v1/process/tasks/${unknown}`, `/v1/process/jobs/${unknown}`, '/v1/nowhere', '/nowhere'])(
    'for %s is answered with 404',
    async (path) => {
      const { status, body } = await client.call('GET', path);
      expect(status).toBe(404);
      expect(body).toMatchObject({ errorCode: 'not_found', msg: expect.any(String) });
    },
  );

  test('with a method that the path does not take gets a 405 and those it does', async () => {
    const { status, headers, body } = await client.call('PUT', '/v1/process/jobs', {});
    expect(status).toBe(405);
    expect(headers.get('allow')).toContain('POST');
    expect(body.errorCode).toBe('method_not_allowed');
  });

  test('for another format than JSON gets a 406', async () => {
    const { status } = await client.call('GET', `/v1/process/tasks/${unknown}`, undefined, { accept: 'text/html' });
    expect(status).toBe(406);
  });

  test.for<[string, unknown, string]>([
    ['that is no JSON', '{"tasks":', ''],
    ['without tasks', { tasks: {} }, 'tasks'],
    ['with an unknown operation', { tasks: { a: { operation: 'explode' } } }, 'tasks.a.operation'],
    ['with a bad task name', { tasks: { 'a b': { operation: 'import/upload' } } }, 'tasks.a b'],
    [
      'with an input that is not there',
      { tasks: { a: { operation: 'export/url', input: 'nobody' } } },
      'tasks.a.input',
    ],
    [
      'with tasks that wait for each other',
      {
        tasks: {
          a: { operation: 'convert', input: 'b', output_format: 'png' },
          b: { operation: 'convert', input: 'a', output_format: 'png' },
        },
      },
      'tasks.b.input',
    ],
    [
      'with a format that no engine writes',
      { tasks: { a: { operation: 'import/upload' }, b: { operation: 'convert', input: 'a', output_format: 'nope' } } },
      'tasks.b.output_format',
    ],
    [
      'with an option out of its range',
      {
        tasks: {
          a: { operation: 'import/upload' },
          b: { operation: 'convert', input: 'a', input_format: 'png', output_format: 'jpg', options: { quality: 101 } },
        },
      },
      'tasks.b.options.quality',
    ],
    [
      'with content that is no data URI',
      { tasks: { a: { operation: 'import/base64', file: 'abc', filename: 'a.png' } } },
      'tasks.a.file',
    ],
  ])('for a job %s is answered with 400 that names the field', async ([, body, field]) => {
    const answer = await client.call('POST', '/v1/process/jobs', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errorCode: 'bad_request', msg: expect.any(String) });
    if (field) expect(Object.keys(answer.body.errors ?? {})).toContain(field);
  });
});

test('a chain of 40 conversions completes, each of which invokes the worker of the one before', {
  timeout: 240_000,
}, async () => {
  const names = Array.from({ length: 40 }, (_, index) => `convert${index}`);
  const conversions = names.map((name, index) => {
    const input = names[index - 1] ?? 'import';
    return [name, { operation: 'convert', input, output_format: index % 2 === 0 ? 'webp' : 'png' }] as const;
  });
  const job = await client.runJob(
    { import: base64Import(await twoHalves(16, 16), 'a.png'), ...Object.fromEntries(conversions) },
    { seconds: 200 },
  );

  const { width } = await sharp(await download(firstFile(filesOf(job, 'convert39')).url)).metadata();
  expect(width).toBe(16);
});

describe('a service that is stopped', { timeout: 240_000 }, () => {
  let own: RunningService;
  beforeAll(async () => {
    own = await startService();
  });
  afterAll(() => own?.stop());

  test('shows after its start what was there before, and takes the file of a form that it gave before', async () => {
    const image = await twoHalves(50, 50);
    const finished = await own.client.runJob({
      import: base64Import(image, 'before.png'),
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
      export: { operation: 'export/url', input: 'convert' },
    });
    const waiting = await own.client.createJob({
      upload: { operation: 'import/upload' },
      convert: { operation: 'convert', input: 'upload', output_format: 'jpg' },
    });
    const { apiKey } = own;
    const exported: TaskView = taskOf(finished, 'export');
    const before = await download(exported.result.url ?? '');

    await own.restart();

    expect(own.apiKey).toBe(apiKey);
    expect(await own.client.showJob(finished.id)).toEqual(finished);
    expect(await own.client.showTask(exported.id)).toEqual(exported);
    expect(await download(exported.result.url ?? '')).toEqual(before);
    expect((await own.client.showJob(waiting.id)).status).toBe('processing');
    expect((await postForm(formOf(taskOf(waiting, 'upload')), 'after.png', image)).status).toBe(204);
    const done = await own.client.waitForJob(waiting.id);
    expect(done.status).toBe('completed');
    expect(firstFile(filesOf(done, 'convert')).filename).toBe('after.jpg');
  });

  test('ends in order at the first Ctrl-C and leaves no process behind', async () => {
    await own.client.runJob({
      import: base64Import(await twoHalves(50, 50), 'a.png'),
      convert: { operation: 'convert', input: 'import', output_format: 'webp' },
    });
    const { pid } = own;
    const started = await descendantsOf(pid);
    expect(started.length).toBeGreaterThan(0);
    expect(await own.kill('SIGINT')).toEqual({ code: 0, signal: null });
    await allGone(started);
  });
});
