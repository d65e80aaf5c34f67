import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { objectPrefixes, revokedKey } from '../../shared/files/keys.ts';
import { off } from '../engines/ebook/harness.ts';
import type { EngineMatrix } from '../engines/matrix.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { type Client, formOf, postForm, type TaskDefinition, type TaskView, taskOf } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import {
  clientAs,
  denialsOf,
  exports,
  fileOf,
  pauseConsumers,
  processings,
  roleOf,
  takeAway,
} from '../support/roles.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { skipBecause } from '../support/skip.ts';
import { until } from '../support/until.ts';
import { startFileServer } from '../transfers/file-server.ts';

type Service = Awaited<ReturnType<typeof startAlteredStack>>;

/** Formats that each engine converts within seconds, and of those that take passwords some for which one is an option. */
const quick: Record<string, [from: string, to: string]> = {
  image: ['png', 'webp'],
  media: ['wav', 'mp3'],
  webpage: ['html', 'pdf'],
  document: ['docx', 'pdf'],
  ebook: ['epub', 'mobi'],
  archive: ['zip', 'tar'],
};
const takesPasswords = ['document', 'archive'];

/**
 * The roles of all workers are made from the same statements: `npm test` looks at the engine of most tasks, at the one that
 * takes passwords and whose tasks are canceled, and at the worker that is none of an engine.
 */
const usual = ['image', 'archive', 'transfer'];

function optionsOf(engine: string) {
  if (engine === 'ebook' && off !== undefined) return skipBecause(off);
  return usual.includes(engine) ? {} : onlyInBreadth;
}

/** The engines that have a worker of their own. */
const names = engineCatalogues.flatMap(({ engine, worker }) => (worker === undefined ? [engine] : []));

test('there is a quick conversion of every engine', () => {
  expect([...Object.keys(quick), 'transfer'].sort()).toEqual([...names].sort());
});

/** Starts a stack in which the workers of one engine alone consume their queue. */
function startWith(engine: string): Promise<Service> {
  return startAlteredStack((stack) => {
    pauseConsumers(stack, new RegExp(`^Engine(?!${engine}Worker)`));
    // A deletion gets no further than the tombstone of the job.
    takeAway(roleOf(stack, 'HttpDeleteJob'), 'dynamodb:Query', 'group#*');
  });
}

/** Returns a task of an engine that waits for another. */
function taskFor(engine: string, input: string, options?: Record<string, string>): TaskDefinition {
  if (engine === 'transfer') return { operation: 'export/url', input };
  return { operation: 'convert', input, output_format: quick[engine]?.[1], ...(options ? { options } : {}) };
}

/** Returns a file that an engine converts in more than a second, after which it reports progress; of transfers, any. */
async function sampleFor(engine: string): Promise<{ name: string; content: Buffer }> {
  if (engine === 'archive') return { name: 'a.zip', content: await zipOf(randomBytes(40_000_000)) };
  if (engine === 'image') return { name: 'a.png', content: await photograph(3_000, 2_000) };
  const [from] = quick[engine] ?? ['png'];
  const { matrix }: { matrix: EngineMatrix } = await import(
    `../engines/${engine === 'transfer' ? 'image' : engine}/matrix.ts`
  );
  const folder = await mkdtemp(join(tmpdir(), 'lathe-sample-'));
  try {
    const path = await matrix.sample(from, folder);
    return { name: basename(path), content: await readFile(path) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function zipOf(content: Buffer): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(content, 'a.bin', { compress: false });
  zip.end();
  return buffer(zip.outputStream);
}

async function post(task: TaskView, { name, content }: { name: string; content: Uint8Array }): Promise<void> {
  expect((await postForm(formOf(task), name, content)).status).toBe(204);
}

/** Returns a file that an engine cannot convert, or of web pages, which are never wrong, one that takes long enough to be canceled. */
function brokenFor(engine: string): { name: string; content: Buffer } {
  const [from = 'png'] = quick[engine] ?? [];
  const endless = Buffer.from('<!doctype html><script>for (;;);</script>');
  return { name: `a.${from}`, content: engine === 'webpage' ? endless : Buffer.from([1, 2, 3]) };
}

/**
 * Files that engines convert for longer than a worker takes to notice that a task is canceled. Tasks of the other engines
 * are canceled by other tests.
 */
const slow: Record<string, () => Promise<Slow>> = {
  archive: async () => ({
    name: 'a.zip',
    content: await zipOf(randomBytes(10_000_000)),
    to: 'tar.zst',
    options: { compression_level: 9 },
  }),
  document: async () => ({ name: 'a.txt', content: Buffer.from('One line of many.\n'.repeat(300_000)), to: 'pdf' }),
  ebook: async () => ({ name: 'a.txt', content: Buffer.from('One line of many.\n\n'.repeat(50_000)), to: 'mobi' }),
};

interface Slow {
  name: string;
  content: Buffer;
  to: string;
  options?: Record<string, unknown>;
}

function untilBegun(client: Client, id: string): Promise<true> {
  return until('it has begun', async () => (await client.showTask(id)).status === 'processing');
}

/** Waits until the workers of an engine have done all that follows from their tasks, and their messages are deleted. */
async function untilIdle(service: Service, engine: string): Promise<void> {
  const role = `Engine${engine}Worker`;
  const sqs = new SQSClient(await clientAs(service, role, 'sqs'));
  const source = service.stack.queueSources.find((each) => each.function.logicalId.startsWith(role));
  const request = new GetQueueAttributesCommand({ QueueUrl: source?.queue.url, AttributeNames: ['All'] });
  await until(`the queue of ${engine} is empty`, async () => {
    const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } =
      (await sqs.send(request)).Attributes ?? {};
    return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible) === 0;
  });
}

for (const engine of names)
  describe(`a worker of ${engine}`, optionsOf(engine), () => {
    let service: Service;
    beforeAll(async () => {
      service = await startWith(engine);
    });
    afterAll(() => service[Symbol.asyncDispose]());

    test('queues what waits for its task for any engine', async () => {
      const { client } = service;
      const upload = await client.createTask('import/upload');
      const job = await client.createJob({ task: taskFor(engine, upload.id) });
      const { id } = taskOf(job, 'task');
      for (const { engine: next, from, to } of processings().filter(({ operation }) => operation === 'convert')) {
        // The first input decides which engine processes them all; this one is given a file that it can read.
        const file = next === engine ? upload : await client.createTask('import/base64', fileOf(from));
        const output_format = next === engine ? quick[engine]?.[1] : to;
        await client.createTask('convert', { input: [file.id, id], output_format });
      }
      await client.createTask('export/url', { input: [id] });
      await post(upload, await sampleFor(engine));
      expect((await client.waitForJob(job.id)).status).toBe('completed');
      await untilIdle(service, engine);
      expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
    });

    test('reads and deletes secrets, and deletes what a failed run stored', async () => {
      const { client } = service;
      const upload = await client.createTask('import/upload');
      const sftp = (input: string) => exports(input).find(({ operation }) => operation === 'export/sftp');
      const options = takesPasswords.includes(engine) ? { password: 'secret' } : undefined;
      const job = await client.createJob({
        task:
          engine === 'transfer'
            ? { ...sftp(upload.id), operation: 'export/sftp', host: '127.0.0.1' }
            : taskFor(engine, upload.id, options),
      });
      const { id } = taskOf(job, 'task');
      await client.createTask('export/sftp', { ...sftp(id), operation: undefined });
      await client.createTask('convert', { input: [id], output_format: 'pdf', options: { password: 'secret' } });
      const creator = new S3Client(await clientAs(service, 'HttpCreateJob', 's3'));
      const sweep = new S3Client(await clientAs(service, 'LifecycleSweep', 's3'));
      const Bucket = service.stack.buckets[0]?.name;
      await creator.send(new PutObjectCommand({ Bucket, Key: `${objectPrefixes.files}${id}/1/0`, Body: 'x' }));

      await post(upload, brokenFor(engine));
      if (engine === 'webpage') {
        await untilBegun(client, id);
        expect((await client.call('POST', `/v1/process/tasks/${id}/cancel`)).status).toBe(200);
        const refused = await client.createJob({
          page: { operation: 'import/webpage', url: 'http://127.0.0.1/' },
          export: { ...sftp('page'), operation: 'export/sftp' },
          convert: { operation: 'convert', input: 'page', output_format: 'pdf', options: { password: 'secret' } },
        });
        expect((await client.waitForJob(refused.id)).status).toBe('failed');
      }
      expect((await client.waitForJob(job.id)).status).toBe('failed');
      for (const prefix of [`${objectPrefixes.files}${id}/`, objectPrefixes.secrets, objectPrefixes.passwords])
        await until(`nothing is left under ${prefix}`, async () => {
          const { KeyCount } = await sweep.send(new ListObjectsV2Command({ Bucket, Prefix: prefix }));
          return KeyCount === 0;
        });
      await untilIdle(service, engine);
      expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
    });

    const sample = slow[engine];
    if (sample)
      test('revokes a run whose task is canceled', async () => {
        const { client } = service;
        const { to, options = {}, ...file } = await sample();
        const job = await client.createJob({
          upload: { operation: 'import/upload' },
          task: { operation: 'convert', input: 'upload', output_format: to, options },
        });
        const { id } = taskOf(job, 'task');
        await post(taskOf(job, 'upload'), file);
        await untilBegun(client, id);
        expect((await client.call('POST', `/v1/process/tasks/${id}/cancel`)).status).toBe(200);
        await untilIdle(service, engine);
        expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
        const worker = new S3Client(await clientAs(service, `Engine${engine}Worker`, 's3'));
        const Bucket = service.stack.buckets[0]?.name;
        await expect(worker.send(new HeadObjectCommand({ Bucket, Key: revokedKey(id, 1) }))).resolves.toBeDefined();
      });

    test('deletes a task whose job was deleted before it started', async () => {
      const job = await service.client.createJob({
        upload: { operation: 'import/upload' },
        task: taskFor(engine, 'upload'),
      });
      expect((await service.client.call('DELETE', `/v1/process/jobs/${job.id}`)).status).toBe(200);
      expect((await service.client.showTask(taskOf(job, 'task').id)).status).toBe('created');
      await post(taskOf(job, 'upload'), brokenFor(engine));
      await until('the task is gone', async () => {
        const { status } = await service.client.call('GET', `/v1/process/tasks/${taskOf(job, 'task').id}`);
        return status === 404;
      });
      await untilIdle(service, engine);
      expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
    });
  });

function uploadsInParts(dataDirectory: string): number {
  using database = new DatabaseSync(join(dataDirectory, 's3', 'objects.db'), { readOnly: true });
  return Number(database.prepare('SELECT count(*) AS number FROM uploads').get()?.number);
}

test('a worker of transfer gives up the parts it has stored when its task is canceled', async () => {
  await using server = await startFileServer((_req, res) => {
    res.writeHead(200, { 'content-length': '80000000', 'content-type': 'application/octet-stream' });
    res.write(Buffer.alloc(40_000_000));
  });
  await using service = await startAlteredStack(() => {}, { LATHE_ALLOW_HOSTS: '127.0.0.1' });
  const task = await service.client.createTask('import/url', { url: `${server.url}/a.bin` });
  await until('parts are stored', () => uploadsInParts(service.dataDirectory) === 1);
  expect((await service.client.call('POST', `/v1/process/tasks/${task.id}/cancel`)).status).toBe(200);
  await until('the upload in parts is gone', () => uploadsInParts(service.dataDirectory) === 0);
  expect(denialsOf(service, /HttpDeleteJob/)).toEqual([]);
});
