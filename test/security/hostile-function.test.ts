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

/** Makes the engine act in a task that converts a picture, and returns the ended task. */
async function run(script: Script): Promise<TaskView> {
  const file = Buffer.concat([picture, Buffer.from(`\n${JSON.stringify(script)}`)]);
  const job = await service.client.createJob({
    import: { operation: 'import/base64', file: dataUri(file), filename: 'a.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  });
  return service.client.waitForTask(taskOf(job, 'convert').id);
}

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

async function storedBy(task: TaskView): Promise<string[]> {
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
    'two reports of barriers',
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
    'a line without an end': { text: 'x'.repeat(100_000), times: 20 },
    'an unknown barrier': { text: line({ type: 'isolation', barriers: { wall: { stands: true } } }) },
    'two reports of barriers': {
      text: line({ type: 'isolation', barriers: { files: { stands: false, reason: 'none' } } }).repeat(2),
    },
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

  for (const [what, script] of Object.entries(forged))
    test(`fails its task at once by ${what}`, usual.includes(what) ? {} : onlyInBreadth, async ({ expect }) => {
      const task = await run(script);

      expect(task).toMatchObject({
        status: 'failed',
        result: { errorCode: 'processing_failed', msg: expect.stringContaining("The engine's response was not valid") },
      });
      expect(Object.keys(task.result).sort()).toEqual(['conversionSeconds', 'errorCode', 'msg']);
      const log = await until('the run has ended', async () => {
        const entries = await logLines(service.dataDirectory, task.id);
        return entries.some((entry) => entry.includes('the run ended')) ? entries : undefined;
      });
      expect(log.find((entry) => entry.includes('the task failed'))).toMatch(/"detail":"(?:Expected|Received|Output)/);
      expect(await storedBy(task)).toEqual([]);
    });

  test('writes a refusal within limits', async ({ expect }) => {
    const msg = `\u001b[31m${'x'.repeat(100_000)}`;
    const task = await run({ text: line({ type: 'refused', msg, detail: msg, engineMs: 1 }) });

    expect(task.result.msg).toBe(` [31m${'x'.repeat(responseLimits.msgCharacters - 5)}`);
    expect((await logLines(service.dataDirectory, task.id)).every((entry) => entry.length < 20_000)).toBe(true);
  });

  test('says nothing after its end', async ({ expect }) => {
    const task = await run({ text: done() + done({ details: { note: 'second' } }) + 'x'.repeat(500_000) });

    expect(task.status).toBe('completed');
    expect(task.result).not.toHaveProperty('note');
  });

  test.for([
    ['refused', { type: 'refused', msg: 'Not hunter2.', detail: '7zz -phunter2', engineMs: 1 }],
    ['broken', { type: 'broken', message: 'Error: spawn 7zz -phunter2' }],
  ] as const)("does not write a file's password to the worker's log: %s", async ([, response], { expect }) => {
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from('a'), 'a.txt');
    zip.end();
    const script = Buffer.from(`\n${JSON.stringify({ text: line(response) })}`);
    const file = Buffer.concat([await buffer(zip.outputStream), script]);
    const job = await service.client.createJob({
      import: { operation: 'import/base64', file: dataUri(file), filename: 'a.zip' },
      convert: { operation: 'convert', input: 'import', output_format: 'tar', options: { password: 'hunter2' } },
    });
    const task = taskOf(job, 'convert');
    const log = await until('the run has ended', async () => {
      const entries = await logLines(service.dataDirectory, task.id);
      return entries.some((entry) => /the task failed|the run broke off/.test(entry)) ? entries : undefined;
    });

    expect(log.join('\n')).toContain('-p***');
    expect(log.join('\n')).not.toContain('hunter2');
    await service.client.call('POST', `/v1/process/tasks/${task.id}/cancel`);
  });
});
