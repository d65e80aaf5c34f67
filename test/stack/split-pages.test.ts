import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pageTexts } from '../engines/pdf/harness.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { download, formOf, postForm, taskOf } from '../support/client.ts';
import { longPdf, scannedPdf } from '../support/long-pdf.ts';
import { inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { allGone, descendantsOf } from '../support/processes.ts';
import { actAs, functionOf } from '../support/running-stack.ts';
import { storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 120_000 });

const pages = 30;
let service: TestStack;
let source: Buffer;

beforeAll(async () => {
  [service, source] = await Promise.all([
    startStack({ LATHE_SPLIT_SECONDS: '1', LATHE_SWEEP_SECONDS: '5' }),
    longPdf(pages).then((bytes) => Buffer.from(bytes)),
  ]);
});

afterAll(() => service[Symbol.asyncDispose]());

async function draw(format = 'png', options: object = { image_dpi: 150 }) {
  const job = await service.client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: format, options },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'long.pdf', source);
  return { job: job.id, task: taskOf(job, 'convert').id };
}

const worker = () => actAs(service, { worker: 'document' });
const isDrawing = ({ command }: { command: string }) => command.startsWith('pdftocairo ');

test('The pages of a PDF are drawn in parts although the worker and an engine are killed, and count once', async () => {
  const { job: id, task } = await draw();
  const percents: number[] = [];
  for (const kind of ['engine', 'worker'] as const) {
    await until(
      'parts are running',
      async () => {
        const { progress, result } = await service.client.showTask(task);
        percents.push(progress ?? 0);
        return (result.parts?.done ?? 0) > 0 && (result.parts?.running ?? 0) > 0;
      },
      { seconds: 120, everyMs: 100 },
    );
    const killed = kind === 'worker' ? { worker: 'document' } : 'functions/engines/document/handler.ts';
    service.killFunction(functionOf(service.stack, killed));
  }
  const job = await service.client.waitForJob(id, { seconds: 200 });
  const { status, result } = taskOf(job, 'convert');

  expect(status, JSON.stringify(result)).toBe('completed');
  expect(result.estimate?.parts).toBeGreaterThan(2);
  expect(result.files?.map(({ filename }) => filename)).toEqual(
    Array.from({ length: pages }, (_, index) => `long-${String(index + 1).padStart(2, '0')}.png`),
  );
  expect(percents).toEqual(percents.toSorted((one, other) => one - other));
  const caller = await worker();
  const stored = await until('only the outputs are left', async () => {
    const keys = await storedFiles(caller, task);
    return keys.length === pages ? keys : undefined;
  });
  expect(stored.filter((key) => key.includes('/parts/') || key.includes('/posted/'))).toEqual([]);
  const usage = await usageOf(service.client);
  expect(usage.tasks).toBe(1);
  expect(inMilliseconds(usage.conversionSeconds)).toBe(usedBy([job]));
});

// Repeated if the machine was busy with something else for the two seconds.
test('Canceling ends the programs of all parts within two seconds, and leaves nothing in the bucket', {
  retry: 2,
}, async () => {
  const { task } = await draw();
  const programs = await until('parts are running', async () => {
    const { result } = await service.client.showTask(task);
    if (!result.parts?.done) return undefined;
    const found = (await descendantsOf(process.pid)).filter(isDrawing);
    return found.length > 0 ? found : undefined;
  });
  await service.client.call('POST', `/v1/process/tasks/${task}/cancel`);
  const canceledAt = Date.now();
  await allGone(programs);
  expect(Date.now() - canceledAt).toBeLessThan(2_000);
  const caller = await worker();
  await until('nothing is left', async () => (await storedFiles(caller, task)).length === 0);
});

test('A long TIFF is made by one engine, and the result says why', async () => {
  const { job: id } = await draw('tiff');
  const { status, result } = taskOf(await service.client.waitForJob(id, { seconds: 200 }), 'convert');

  expect(status, JSON.stringify(result)).toBe('completed');
  expect(result).toMatchObject({ split_reason: 'A TIFF file holds all pages.' });
  expect(result.estimate?.parts).toBeUndefined();
});

test('The text of a long document is recognised in parts, and added to it by one engine', async () => {
  const lines = ['Apples', 'Bananas', 'Cherries', 'Damsons', 'Elderberries', 'Figs'].map(
    (fruit) => `${fruit} of summer`,
  );
  const job = await service.client.createJob({
    upload: { operation: 'import/upload' },
    ocr: { operation: 'pdf/ocr', input: 'upload', options: { languages: 'eng' } },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'scans.pdf', Buffer.from(await scannedPdf(lines)));
  const { id, status, result } = taskOf(await service.client.waitForJob(job.id, { seconds: 200 }), 'ocr');

  expect(status, JSON.stringify(result)).toBe('completed');
  expect(result.estimate?.parts).toBeGreaterThan(2);
  expect(result).toMatchObject({ pages: lines.length, recognised_pages: lines.length, languages: ['eng'] });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'lathe-test-'));
  const path = join(folder.path, 'scans.pdf');
  await writeFile(path, await download(result.url ?? ''));
  expect((await pageTexts(path)).map((text) => text.trim())).toEqual(lines);
  const caller = await worker();
  await until('only the output is left', async () => (await storedFiles(caller, id)).length === 1);
});
