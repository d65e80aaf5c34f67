import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ZipFile } from 'yazl';
import type { OutputForm } from '../../functions/engines/runtime/protocol.ts';
import { responseLimits } from '../../functions/invocation/parse-response.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { postedPrefix } from '../../shared/files/keys.ts';
import { maxFilesPerTask } from '../../shared/tasks/limits.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { dataUri, download, type TaskView, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { logLines } from '../support/log-lines.ts';
import { actAs, functionOf, startAlteredStack } from '../support/running-stack.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';
import type { Script } from './fixtures/hostile-function.ts';

let service: Awaited<ReturnType<typeof startAlteredStack>>;
let picture: Buffer;

beforeAll(async () => {
  picture = await twoHalves(8, 8);
  service = await startAlteredStack((stack) => {
    for (const engine of ['image', 'archive'])
      functionOf(stack, `functions/engines/${engine}/handler.ts`).entry = fileURLToPath(
        new URL('fixtures/hostile-function.ts', import.meta.url),
      );
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const output = { name: 'a.webp', format: 'webp', etag: '<tag>' };

function line(response: object): string {
  return `${JSON.stringify(response)}\n`;
}

function done(fields: object = {}): string {
  return line({ type: 'done', outputs: [output], engineMs: 1, ...fields });
}

/** A conversion of a file that the engine takes its script from. */
interface Conversion {
  script: Script;
  file?: Buffer;
  filename?: string;
  output_format?: string;
  options?: Record<string, string>;
}

function fileWith({ file = picture, script }: Conversion): Buffer<ArrayBuffer> {
  return Buffer.concat([file, Buffer.from(`\n${JSON.stringify(script)}`)]);
}

async function begin({ filename = 'a.png', output_format = 'webp', options = {}, ...conversion }: Conversion) {
  const job = await service.client.createJob({
    import: { operation: 'import/base64', file: dataUri(fileWith(conversion)), filename },
    convert: { operation: 'convert', input: 'import', output_format, options },
  });
  return taskOf(job, 'convert').id;
}

/** Makes the engine act in a task that converts a picture, and returns the ended task. */
async function run(script: Script): Promise<TaskView> {
  return service.client.waitForTask(await begin({ script }));
}

async function send(
  { filename = 'a.png', output_format = 'webp', options = {}, ...conversion }: Conversion,
  headers: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData();
  form.set('output_format', output_format);
  form.set('options', JSON.stringify(options));
  form.set('file', new Blob([fileWith(conversion)]), filename);
  return service.client.instant('convert', form, headers);
}

/** The failure of a conversion: all that the client is told, and the log of the function that invoked the engine. */
interface Failure {
  told: { errorCode?: string; msg?: string };
  log: string[];
}

/** The ways to have a file converted, which fail alike. */
const ways: { way: string; fail(conversion: Conversion): Promise<Failure> }[] = [
  {
    way: 'its task',
    async fail(conversion) {
      const id = await begin(conversion);
      const log = await until('the run has ended', async () => {
        const entries = await logLines(service.dataDirectory, id);
        return entries.some((entry) => /the run (?:ended|broke off)/.test(entry)) ? entries : undefined;
      });
      const isRetried = log.some((entry) => entry.includes('the run broke off'));
      if (isRetried) await service.client.call('POST', `/v1/process/tasks/${id}/cancel`);
      const { status, result } = await service.client.waitForTask(id);
      if (status !== (isRetried ? 'canceled' : 'failed')) throw new Error(`The task ${status}.`);
      const { conversionSeconds: _, ...told } = result;
      if (!isRetried && (await storedBy({ id })).length > 0) throw new Error('The task left files.');
      return { told, log };
    },
  },
  {
    way: 'its instant request',
    async fail(conversion) {
      const response = await send(conversion);
      const requestId = response.headers.get('apigw-requestid') ?? '';
      const { errorCode, ...rest } = (await response.json()) as Failure['told'];
      if (response.status !== 422) throw new Error(`Status ${response.status}: ${errorCode} ${rest.msg}`);
      return { told: { errorCode, ...rest } as Failure['told'], log: await logLines(service.dataDirectory, requestId) };
    },
  },
];

/** Returns the content of the first output, which is the form that the engine received. */
async function contentOf(task: TaskView): Promise<string> {
  return (await download(task.result.url ?? '')).toString();
}

async function post({ url, fields }: OutputForm, key: string, content: string): Promise<number> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...fields, key })) body.set(name, value);
  body.set('file', new Blob([content]));
  return (await fetch(url, { method: 'POST', body })).status;
}

async function storedBy(task: Pick<TaskView, 'id'>): Promise<string[]> {
  return storedFiles(await actAs(service, 'functions/lifecycle/sweep.ts'), task.id);
}

describe.concurrent('A compromised engine function', () => {
  test('cannot change or add to its recorded outputs, although its form is still valid', async ({ expect }) => {
    const task = await run({ text: done() });
    const content = await contentOf(task);
    const form: OutputForm = JSON.parse(content);
    await until('the copies are deleted', async () => (await storedBy(task)).length === 1);

    const statuses = await mapAtOnce(Array.from({ length: 301 }), 8, (_, index) =>
      post(form, `${form.prefix}${index}`, 'replaced'),
    );

    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(await contentOf(task)).toBe(content);
    expect(await service.client.showTask(task.id)).toEqual(task);
    const [kept = ''] = (await storedBy(task)).filter((key) => !key.startsWith(postedPrefix(task.id, 1)));
    expect(await post(form, kept, 'replaced')).toBe(403);
    await post(form, `${form.prefix}../0`, 'replaced');
    expect(await contentOf(task)).toBe(content);

    expect((await service.client.call('DELETE', `/v1/process/tasks/${task.id}`)).status).toBe(200);
    await until('nothing is left', async () => (await storedBy(task)).length === 0);
  });

  test('may store as many files as a task has, and they are all kept', async ({ expect }) => {
    const outputs = Array.from({ length: 20 }, (_, index) => ({ ...output, name: `${index}.webp` }));
    const task = await run({ outputs: outputs.length, text: done({ outputs }) });

    expect(task.result.files?.map(({ filename }) => filename)).toEqual(outputs.map(({ name }) => name));
    await until('the copies are deleted', async () => (await storedBy(task)).length === outputs.length);
  });

  test('names its files within limits', async ({ expect }) => {
    const outputs = ['../../etc/passwd', 'invoice.pdf\u202e.exe', 'A.WEBP', 'a.webp'].map((name) => ({
      ...output,
      name,
    }));
    const task = await run({ outputs: outputs.length, text: done({ outputs }) });

    expect(task.result.files?.map(({ filename }) => filename)).toEqual([
      'passwd.webp',
      'invoice.pdf.webp',
      'A.WEBP',
      'a (2).webp',
    ]);
  });

  /** One of each kind; the parser's unit tests cover the rest of the table. */
  const usual = [
    'null',
    'more progress than there is',
    'a line without an end',
    'another format',
    'an output that is not stored',
    'the tag of another output',
    'a failure among the details',
    'more time than there was',
  ];
  const forged: Record<string, Script> = {
    'no JSON': { text: 'done\n' },
    null: { text: 'null\n' },
    'an array': { text: '[]\n' },
    'deep nesting': { text: `${'['.repeat(200_000)}\n` },
    'an unknown type': { text: line({ type: 'ready' }) },
    'a type from the prototype': { text: '{"__proto__":{"type":"progress","percent":1}}\n' },
    'progress beyond the end': { text: line({ type: 'progress', percent: 1e9 }) + done() },
    'progress that is infinite': { text: `{"type":"progress","percent":1e999}\n${done()}` },
    'more progress than there is': { text: line({ type: 'progress', percent: 1 }).repeat(1_000), times: 150 },
    'more bytes than there are': { text: line({ type: 'progress', percent: 1, x: 'x'.repeat(100_000) }), times: 200 },
    'a line without an end': { text: 'x'.repeat(100_000), times: 80 },
    'an unknown barrier': { text: line({ type: 'isolation', barriers: { wall: { stands: true } } }) },
    'another format': { text: done({ outputs: [{ ...output, format: 'exe' }] }) },
    'a format with a path': { text: done({ outputs: [{ ...output, format: '../../webp' }] }) },
    'no output': { text: done({ outputs: [] }) },
    'too many outputs': { text: done({ outputs: Array.from({ length: maxFilesPerTask + 1 }, () => output) }) },
    'an output that is not stored': { outputs: 0, text: done() },
    'the tag of another output': { text: done({ outputs: [{ ...output, etag: '"0"' }] }) },
    'no tag': { text: done({ outputs: [{ ...output, etag: undefined }] }) },
    'a long name': { text: done({ outputs: [{ ...output, name: 'x'.repeat(5_000) }] }) },
    'a failure among the details': { text: done({ details: { errorCode: 'engine_timeout' } }) },
    'a form among the details': { text: done({ details: { form: { url: 'https://example.com/' } } }) },
    'details with a prototype': { text: done().replace('{', '{"details":{"__proto__":{"url":"x"}},') },
    'deep details': { text: done({ details: { a: [[[[[1]]]]] } }) },
    'long details': { text: done({ details: { note: 'x'.repeat(200_000) } }) },
    'a number that no record holds': { text: done({ details: { size_before: 1e300 } }) },
    'warnings that are no texts': { text: done({ details: { warnings: [{ html: '<script>' }] } }) },
    'more time than there was': { text: done({ engineMs: 1e12 }) },
    'less time than none': { text: done({ engineMs: -1 }) },
  };

  /** An instant request does not record barriers. */
  const forgedBarriers: Record<string, Script> = {
    'two reports of barriers': {
      text: line({ type: 'isolation', barriers: { files: { stands: false, reason: 'none' } } }).repeat(2),
    },
  };
  /** Only an instant request has outputs in the response. */
  const inline = (...outputs: object[]) => ({ outputs: 0, text: done({ outputs }) });
  const content = Buffer.from('content').toString('base64');
  const [named, zip] = [
    { name: 'a.webp', format: 'webp' },
    { name: 'a.zip', format: 'zip' },
  ];
  const forgedInline: Record<string, Script> = {
    'content that is no base64': inline({ ...named, content: '<script>' }),
    'content that is empty': inline({ ...named, content: '' }),
    'content of another type': inline({ ...named, content: { length: 1 } }),
    'content of another format': inline({ ...named, format: 'html', content }),
    'two outputs': inline({ ...named, content }, { ...named, content }),
    'two archives': inline({ ...zip, content }, { ...zip, content }),
    'neither content nor a tag': inline(named),
  };

  for (const { way, fail } of ways)
    for (const [what, script] of Object.entries({ ...forged, ...(way === 'its task' ? forgedBarriers : forgedInline) }))
      test(
        `fails ${way} at once by ${what}`,
        usual.includes(what) || !(what in forged) ? {} : onlyInBreadth,
        async ({ expect }) => {
          const { told, log } = await fail({ script });

          const msg = expect.stringContaining("The engine's response was not valid");
          expect(told).toEqual({ errorCode: 'processing_failed', msg });
          const said = log.find((entry) => /the task failed|the engine refused the file/.test(entry));
          expect(said).toMatch(/"detail":"(?:Expected|Received|Output)/);
        },
      );

  test.for(ways)('writes a refusal within limits: $way', async ({ fail }, { expect }) => {
    const msg = `\u001b[31m${'x'.repeat(100_000)}`;
    const { told, log } = await fail({ script: { text: line({ type: 'refused', msg, detail: msg, engineMs: 1 }) } });

    expect(told.msg).toBe(` [31m${'x'.repeat(responseLimits.msgCharacters - 5)}`);
    expect(log.every((entry) => entry.length < 20_000)).toBe(true);
  });

  test('says nothing after its end', async ({ expect }) => {
    const task = await run({ text: done() + done({ details: { note: 'second' } }) + 'x'.repeat(500_000) });

    expect(task.status).toBe('completed');
    expect(task.result).not.toHaveProperty('note');
  });

  test.for(
    ways.flatMap(({ way, fail }) => [
      { way, fail, response: { type: 'refused', msg: 'Not hunter2.', detail: '7zz -phunter2', engineMs: 1 } },
      { way, fail, response: { type: 'broken', message: 'Error: spawn 7zz -phunter2' } },
    ]),
  )("does not write a file's password to the log of $way: $response.type", async ({ fail, response }, { expect }) => {
    const zipped = new ZipFile();
    zipped.addBuffer(Buffer.from('a'), 'a.txt');
    zipped.end();
    const { log } = await fail({
      script: { text: line(response) },
      file: await buffer(zipped.outputStream),
      filename: 'a.zip',
      output_format: 'tar',
      options: { password: 'hunter2' },
    });

    expect(log.join('\n')).toContain('-p***');
    expect(log.join('\n')).not.toContain('hunter2');
  });
});

describe.concurrent('A compromised engine function of an instant request', () => {
  test('names its file within limits', async ({ expect }) => {
    const named = { name: 'a\r\nSet-Cookie: a=b\u202e.html', format: 'webp', content: 'AAAA' };
    const response = await send({ script: { outputs: 0, text: done({ outputs: [named] }) } });

    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="aSet-Cookie_ a=b.webp"');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
  });

  test('warns within the size of a header', async ({ expect }) => {
    const warnings = ['one', 'ü'.repeat(500), ...Array.from({ length: 90 }, () => 'x'.repeat(1_000))];
    const outputs = [{ name: 'a.webp', format: 'webp', content: 'AAAA' }];
    const response = await send({ script: { outputs: 0, text: done({ outputs, details: { warnings } }) } });

    expect(response.status).toBe(200);
    const shown = response.headers.get('lathe-warnings') ?? '';
    expect(shown.length).toBeLessThan(2_100);
    expect(JSON.parse(shown)).toContain('one');
  });

  test('cannot change the file behind its link, although its form is still valid', async ({ expect }) => {
    const response = await send({ script: { text: done() } });
    const location = response.headers.get('location') ?? '';
    const content = (await download(location)).toString();
    const form: OutputForm = JSON.parse(content);

    expect(response.status).toBe(303);
    expect(await post(form, `${form.prefix}0`, 'replaced')).toBe(204);
    expect(await post(form, decodeURIComponent(new URL(location).pathname).split('/').slice(2).join('/'), 'x')).toBe(
      403,
    );
    expect((await download(location)).toString()).toBe(content);
  });

  test('is left at the deadline, and does not occupy the account', async ({ expect }) => {
    const hangs = { outputs: 0, text: line({ type: 'progress', percent: 1 }), pauseMs: 60_000 };
    const began = Date.now();
    const late = await Promise.all(Array.from({ length: 3 }, () => send({ script: hangs }, { prefer: 'wait=2' })));

    expect(late.map(({ status }) => status)).toEqual([504, 504, 504]);
    expect(await late[0]?.json()).toMatchObject({ errorCode: 'engine_timeout', msg: expect.stringContaining('job') });
    expect(Date.now() - began).toBeLessThan(20_000);
  });
});
