import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { synthesize } from '../../infra/build/synth.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { dataUri, type JobView, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { logLines } from '../support/log-lines.ts';
import { functionOf, startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

/** What a new account has. */
const quota = '10';
const jobs = 200;

let folder: string;
let service: Awaited<ReturnType<typeof startAlteredStack>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const template = await synthesize(folder, { preset: 'small' });
  const settings = { LATHE_LAMBDA_CONCURRENCY: quota, LATHE_RATE_PER_MINUTE: '100000' };
  service = await startAlteredStack(() => {}, settings, { template });
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('200 jobs on three engines complete within a quota of ten, and the API responds throughout', {
  timeout: 600_000,
}, async () => {
  const statuses: number[] = [];
  const call = async <T>(method: string, path: string, body?: object) => {
    const { status, body: received } = await service.client.call<T>(method, path, body);
    statuses.push(status);
    return received;
  };
  const picture = dataUri(await twoHalves(16, 16));
  const sources = [
    { file: picture, filename: 'a.png', output_format: 'webp' },
    { file: dataUri(Buffer.from('text'), 'text/plain'), filename: 'a.txt', output_format: 'pdf' },
    { file: picture, filename: 'b.png', output_format: 'jpg' },
    { file: dataUri(Buffer.from('# Title'), 'text/markdown'), filename: 'a.md', output_format: 'html' },
  ];

  // One request at a time: two places are for requests.
  const created = await mapAtOnce(Array.from({ length: jobs }), 1, async (_, index) => {
    const { output_format, ...file } = sources[index % sources.length] ?? sources[0] ?? {};
    return await call<JobView>('POST', '/v1/process/jobs', {
      tasks: {
        import: { operation: 'import/base64', ...file },
        convert: { operation: 'convert', input: 'import', output_format },
        export: { operation: 'export/url', input: 'convert' },
      },
    });
  });
  const ended: JobView[] = [];
  for (const { id } of created)
    ended.push(
      await until(
        `job ${id} has ended`,
        async () => {
          const job = await call<JobView>('GET', `/v1/process/jobs/${id}/wait`);
          return job.endedAt === null ? undefined : job;
        },
        { seconds: 500, everyMs: 200 },
      ),
    );

  expect(ended.map(({ status }) => status)).toEqual(Array.from({ length: jobs }, () => 'completed'));
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
});

test('a task whose engine Lambda refuses is given back, again and again, and completes once there is room', {
  timeout: 120_000,
}, async () => {
  const engine = functionOf(service.stack, 'functions/engines/image/handler.ts');
  engine.reservedConcurrency = 0;
  const job = await service.client.createJob({
    import: { operation: 'import/base64', file: dataUri(await twoHalves(16, 16)), filename: 'a.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  });
  const { id } = taskOf(job, 'convert');
  await until(
    'the task was given back twice',
    async () =>
      (await logLines(service.dataDirectory, id)).filter((line) => line.includes('given back')).length >= 2 ||
      undefined,
    { seconds: 60 },
  );
  expect((await service.client.showTask(id)).endedAt).toBeNull();
  engine.reservedConcurrency = undefined;

  expect(await service.client.waitForTask(id)).toMatchObject({ status: 'completed' });
});
