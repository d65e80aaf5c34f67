import { randomBytes } from 'node:crypto';
import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from 'vitest';
import { uploadKey } from '../../shared/files/keys.ts';
import { type Client, download, formOf, postForm, taskOf } from '../support/client.ts';
import { blue, colourAt, distance, twoHalves } from '../support/images.ts';
import type { Caller } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { messagesInOwnQueue, storedFiles } from '../support/stored-files.ts';
import { until } from '../support/until.ts';

let client: Client;
let uploaded: Caller;
let sweep: Caller;
let s3: S3Client;

beforeAll(async () => {
  const service = await joinService();
  client = service.client;
  uploaded = await service.as('functions/lifecycle/uploaded.ts');
  sweep = await service.as('functions/lifecycle/sweep.ts');
  s3 = new S3Client(uploaded.client('s3'));
});

const bucket = () => uploaded.fn.environment.LATHE_BUCKET;

/** Waits until what was posted to a form has been taken from where forms write. */
function posted(taskId: string): Promise<true> {
  return until('the posted object is gone and its event handled', async () => {
    if ((await messagesInOwnQueue(uploaded)) > 0) return undefined;
    const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket: bucket(), Prefix: uploadKey(taskId) }));
    return KeyCount === 0;
  });
}

test('a second post to a form changes nothing once its task has completed', async () => {
  const first = await twoHalves(40, 20);
  const task = await client.createTask('import/upload');
  const form = formOf(task);
  expect((await postForm(form, 'first.png', first)).status).toBe(204);
  const done = await client.waitForTask(task.id);
  const url = done.result.url ?? '';

  expect((await postForm(form, 'second.txt', Buffer.from('another file'))).status).toBe(204);
  await posted(task.id);

  expect(await download(url)).toEqual(first);
  expect(await client.showTask(task.id)).toEqual(done);
  expect(done.result.files).toMatchObject([{ filename: 'first.png', size: first.length, format: 'png' }]);
  expect(await storedFiles(sweep, task.id)).toHaveLength(1);
});

test('a task that takes the file of an upload is given the one that was checked', async () => {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: 'png' },
    export: { operation: 'export/url', input: 'convert' },
  });
  const { id } = taskOf(job, 'upload');
  const form = formOf(taskOf(job, 'upload'));
  await postForm(form, 'a.webp', await twoHalves(30, 10, 'webp'));
  await client.waitForTask(id);
  await postForm(form, 'b.webp', randomBytes(500));

  const done = await client.waitForJob(job.id);

  expect(done.status).toBe('completed');
  const content = await download(taskOf(done, 'export').result.url ?? '');
  expect(distance(await colourAt(content, 0.8, 0.5), blue)).toBeLessThan(12);
  await posted(id);
});

test('of two posts at once one is kept, and the record describes it', async () => {
  const contents = [Buffer.from('one '.repeat(10)), Buffer.from('another '.repeat(1000)), await twoHalves(8, 8)];
  const tasks = await Promise.all(Array.from({ length: 6 }, () => client.createTask('import/upload')));

  for (const task of tasks) {
    await Promise.all(contents.map((content, index) => postForm(formOf(task), `${index}`, content)));
    const { result } = await client.waitForTask(task.id);
    await posted(task.id);

    const [file] = result.files ?? [];
    expect(await download(file?.url ?? '')).toEqual(contents[Number(file?.filename)]);
    expect(file?.size).toBe(contents[Number(file?.filename)]?.length);
    expect(await storedFiles(sweep, task.id)).toHaveLength(1);
  }
});

test('a post after the task is gone leaves nothing behind', async () => {
  const task = await client.createTask('import/upload');
  await postForm(formOf(task), 'a.txt', Buffer.from('a'));
  await client.waitForTask(task.id);
  await client.call('DELETE', `/v1/process/tasks/${task.id}`);

  await postForm(formOf(task), 'a.txt', Buffer.from('b'));
  await posted(task.id);

  expect(await storedFiles(sweep, task.id)).toEqual([]);
});

test('an empty file and one posted to a canceled task are dealt with as any other', async () => {
  const [empty, canceled] = await Promise.all([1, 2].map(() => client.createTask('import/upload')));
  if (!empty || !canceled) throw new Error('There are no tasks.');
  await postForm(formOf(empty), 'empty.txt', Buffer.alloc(0));
  await client.call('POST', `/v1/process/tasks/${canceled.id}/cancel`);
  await postForm(formOf(canceled), 'late.txt', Buffer.from('late'));

  expect((await client.waitForTask(empty.id)).result.files).toMatchObject([{ filename: 'empty.txt', size: 0 }]);
  await Promise.all([posted(empty.id), posted(canceled.id)]);
  expect(await client.showTask(canceled.id)).toMatchObject({ status: 'canceled' });
});

test('the function that takes files in cannot write where forms do', async () => {
  const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket: bucket(), Key, Body: 'x' }));
  await expect(put('uploads/0123456789abcdef01234567')).rejects.toMatchObject({ name: 'AccessDenied' });
});
