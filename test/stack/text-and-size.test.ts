import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentDisposition, safeName } from '../../shared/files/names.ts';
import { startReceiver } from '../events/receiver.ts';
import { PlainSubscriber } from '../events/subscribers.ts';
import { ApiDocument } from '../support/api-document.ts';
import { leaveToBreadth } from '../support/breadth.ts';
import { type JobView, postForm, type TaskView, taskOf } from '../support/client.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { until } from '../support/until.ts';

const texts = {
  'an emoji': 't😀',
  'an emoji of several code points': '👩🏽‍💻',
  'the last code point': '\u{10ffff}',
  'the noncharacters U+FFFE and U+FFFF': 'a\ufffeb\uffffc',
  'control characters': '\u0001\u0008\u001f\u007f\u0085',
  'line ends of every kind': 'a\r\nb\u2028c\u2029d',
  'bidirectional controls': 'abc\u202egnp.exe',
  'a byte order mark and the replacement character': '\ufeffa\ufffd',
  'decomposed letters': 'e\u0301\u0323',
  'quotes and escapes': `"'\\\\\\u0041&lt;%00\${filename}=?utf-8?q?=41?=`,
  'a name of every object': '__proto__',
};
const cases = Object.entries(texts);
const loneSurrogates = ['"a\\ud83d"', '"\\ude00b"', '"\\ude00\\ud83d"'];

leaveToBreadth(
  [
    'an emoji of several code points',
    'the last code point',
    'line ends of every kind',
    'bidirectional controls',
    'a byte order mark and the replacement character',
    'decomposed letters',
  ].map((name) => `comes back from every place as it was: ${name}`),
);

let service: JoinedService;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let subscriber: PlainSubscriber;

beforeAll(async () => {
  receiver = await startReceiver((res) => res.writeHead(204).end());
  service = await joinService();
  subscriber = new PlainSubscriber(service);
  const { user } = service;
  for (const kind of ['jobs', 'tasks']) subscriber.subscribe(`user.${user}.${kind}`);
  await until(
    'both channels are subscribed',
    async () => subscriber.messages.filter(({ event }) => event === 'subscribed').length === 2,
  );
});
afterAll(async () => {
  subscriber.close();
  await receiver[Symbol.asyncDispose]();
});

describe('Text that a client sends', () => {
  it.each(cases)('comes back from every place as it was: %s', async (_name, text) => {
    const { client } = service;
    const filename = `${text}.txt`;
    // The names of options are known, and their values are checked once the format of the input is.
    const options = { header_template: text, footer_template: `${text}x` };
    const job = await client.create<JobView>('/v1/process/jobs', {
      tag: text,
      webhook_url: `${receiver.url}?job=${encodeURIComponent(text)}`,
      tasks: {
        file: { operation: 'import/base64', file: 'data:text/plain;base64,aGVsbG8=', filename },
        upload: { operation: 'import/upload' },
        late: { operation: 'convert', input: 'upload', output_format: 'pdf', options, filename: `${text}.pdf` },
        link: { operation: 'export/url', input: 'file', filename },
      },
    });
    const links = await client.waitForTask(taskOf(job, 'link').id);
    const [file] = links.result.files ?? [];

    const shown = await client.showJob(job.id);
    const byTag = await client.call<{ docs: JobView[] }>(
      'GET',
      `/v1/process/jobs?tag=${encodeURIComponent(text)}&include=tasks`,
    );
    const listed = await client.call<{ docs: TaskView[] }>('GET', `/v1/process/tasks?job=${job.id}`);
    const told = await until('the end of the task is told', async () =>
      subscriber.messages.find(({ event, data }) => event === 'task_completed' && data.id === links.id),
    );
    const call = await until('the webhook is called', async () =>
      receiver.calls.find(({ body }) => body.includes(job.id)),
    );
    const downloaded = await fetch(file?.url ?? '');

    for (const view of [job, shown, byTag.body.docs.find(({ id }) => id === job.id)]) {
      expect(view?.tag).toBe(text);
      expect(view && taskOf(view, 'late').payload).toMatchObject({ options, filename: `${text}.pdf` });
    }
    for (const view of [links, listed.body.docs.find(({ id }) => id === links.id), told.data])
      expect(view).toMatchObject({ payload: { filename } });
    expect(JSON.parse(call.body).data.tag).toBe(text);
    expect(new URL(call.path, receiver.url).searchParams.get('job')).toBe(text);
    expect(file?.filename).toBe(safeName(filename));
    expect(downloaded.headers.get('content-disposition')).toBe(contentDisposition(safeName(filename)));
    expect(await downloaded.text()).toBe('hello');
    expect((await client.call('DELETE', `/v1/process/jobs/${job.id}`)).status).toBe(200);
  });

  it('is refused in names and options if it holds NUL, which no program can be given, and kept in a tag', async () => {
    const create = (fields: object, tag = '') =>
      service.client.call('POST', '/v1/process/jobs', JSON.stringify({ tag, tasks: { a: fields } }));
    const upload = { operation: 'import/upload' };
    const convert = { operation: 'convert', input: 'x', output_format: 'pdf' };
    const [name, option, tag] = await Promise.all([
      create({ operation: 'import/url', url: 'https://example.com/', filename: 'a\0b.txt' }),
      create({ ...convert, options: { text: 'a\0b' } }),
      create(upload, 'a\0b'),
    ]);
    expect(name).toMatchObject({
      status: 400,
      body: { errors: { 'tasks.a.filename': [expect.stringContaining('NUL')] } },
    });
    expect(option.body.errors).toHaveProperty(['tasks.a.options.text']);
    expect(tag).toMatchObject({ status: 201, body: { tag: 'a\0b' } });
  });

  it('keeps the name of an uploaded file, whatever its script', async () => {
    const task = await service.client.createTask('import/upload');
    const form = task.result.form ?? { url: '', parameters: {} };

    const posted = await postForm(form, 'Фото 😀 ü.txt', Buffer.from('hello'));
    const done = await service.client.waitForTask(task.id);

    expect(posted.ok).toBe(true);
    expect(done.result.files?.[0]?.filename).toBe('Фото 😀 ü.txt');
  });

  it.each(loneSurrogates)('is refused where it is no text at all: %s', async (text) => {
    const places = {
      '/v1/process/jobs': [
        `{"tag":${text},"tasks":{"a":{"operation":"import/upload"}}}`,
        `{"tasks":{"a":{"operation":"convert","input":"x","output_format":"pdf","options":{${text}:1}}}}`,
        `{"tasks":{${text}:{"operation":"import/upload"}}}`,
      ],
      '/v1/process/import/url': [
        `{"url":"https://example.com/","filename":${text}}`,
        `{"url":"https://example.com/","headers":{"x":${text}}}`,
      ],
      '/v1/account/webhooks': [`{"url":"https://example.com/","x":${text}}`],
    };
    for (const [path, bodies] of Object.entries(places))
      for (const body of bodies) {
        const response = await service.client.call('POST', path, body);
        expect(response, body).toMatchObject({ status: 400, body: { errorCode: 'bad_request' } });
        expect(response.body.msg).toContain('surrogate');
      }
  });

  it('may be nested as deep as a body holds', async () => {
    const depth = 400_000;
    const body = `{"tasks":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect((await service.client.call('POST', '/v1/process/jobs', body)).status).toBe(400);
  });
});

describe('Jobs that are too large for one response', () => {
  type Listed = JobView & { tasksTruncated?: true };
  const filename = 'x'.repeat(1_024);
  const options = { header_template: 'x'.repeat(10_000) };
  const waiting = { operation: 'convert', input: 'upload', output_format: 'pdf', options, filename };
  const tasks = {
    upload: { operation: 'import/upload' },
    ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`t${index}`, waiting])),
  };

  it('are listed with the tasks that fit and a mark, and the list of tasks has them all', async () => {
    const { client } = service;
    const older = await client.createJob(tasks, 'large');
    const newer = await client.createJob(tasks, 'large');

    const list = await client.call<{ docs: Listed[] }>('GET', '/v1/process/jobs?include=tasks&tag=large');
    const pages = await Promise.all(
      [1, 2].map((page) =>
        client.call<{ docs: TaskView[] }>('GET', `/v1/process/tasks?job=${older.id}&per_page=200&page=${page}`),
      ),
    );

    expect(list.status).toBe(200);
    const [first, second] = list.body.docs;
    expect(first?.id).toBe(newer.id);
    expect(first?.tasks.length).toBe(301);
    expect(first).not.toHaveProperty('tasksTruncated');
    expect(second).toMatchObject({ id: older.id, tasksTruncated: true });
    expect(second?.tasks.length).toBeGreaterThan(100);
    expect(second?.tasks.map(({ id }) => id)).toEqual(older.tasks.slice(0, second?.tasks.length).map(({ id }) => id));
    expect(pages.flatMap(({ body }) => body.docs.map(({ id }) => id)).sort()).toEqual(
      older.tasks.map(({ id }) => id).sort(),
    );
    expect(pages[0]?.body.docs[0]).not.toHaveProperty('truncated');
  });

  it.each([
    ['101 options', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`o${index}`, 1]))],
    [
      'options of more than 32 KiB',
      Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`o${index}`, 'x'.repeat(9_000)])),
    ],
  ])('are refused for %s of one task', async (_what, tooMany) => {
    const response = await service.client.call('POST', '/v1/process/jobs', {
      tasks: { upload: { operation: 'import/upload' }, late: { ...waiting, options: tooMany } },
    });

    expect(response.status).toBe(400);
    expect(Object.keys(response.body.errors ?? {})).toEqual(['tasks.late.options']);
  });
});

it('a URL of more than 8,192 bytes is a 413 without CloudFront as well', async () => {
  await using plain = await startAlteredStack(({ distributions }) => void distributions.splice(0));
  const api = await ApiDocument.of(plain.client);

  const { response, problems } = await api.judge(api.operation('GET /v1/process/jobs'), {
    query: { tag: 'x'.repeat(8_200) },
  });

  expect({ response, problems }).toMatchObject({
    response: { status: 413, body: { errorCode: 'url_too_long' } },
    problems: [],
  });
});
