import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LargeOutput } from '../../../functions/engines/runtime/protocol.ts';
import { contentOf, putParts } from '../../../functions/engines/runtime/remote-files.ts';
import { Folder } from '../../../functions/engines/runtime/sandbox/folder.ts';
import { keepOutputs } from '../../../functions/invocation/keep-outputs.ts';
import { LargeUpload } from '../../../functions/invocation/large-upload.ts';
import { largeKey } from '../../../shared/files/keys.ts';
import { noise, type OwnBucket, startOwnBucket } from '../../transfers/own-bucket.ts';
import { makeRun } from '../../transfers/run.ts';

const mebibyte = 1024 ** 2;
/** As small as S3 allows. */
const partBytes = 5 * mebibyte;
const maxOutputBytes = 3 * partBytes + 7;
const content = noise(2 * partBytes + 1);
const Bucket = 'lathe-files';

let own: OwnBucket;
let folder: string;
beforeAll(async () => {
  [own, folder] = await Promise.all([startOwnBucket(), mkdtemp(join(tmpdir(), 'lathe-test-'))]);
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('an output that is too large for a form', () => {
  let run: ReturnType<typeof makeRun>;
  let large: LargeUpload;
  let urls: LargeOutput;
  beforeEach(async () => {
    run = makeRun('convert', { output_format: 'webp' });
    large = await LargeUpload.start(largeKey(run.task.id, 1), { outputFormat: 'webp', maxOutputBytes }, partBytes);
    urls = await large.sign(run.deadline);
  });

  /** Stores content as an engine does, and returns its tags. */
  async function put(given: Buffer): Promise<string[]> {
    await writeFile(join(folder, 'out'), given);
    const { size, slice } = contentOf(Folder.open(folder).openFile(['out']));
    if (!slice) throw new Error('Expected the content of a file.');
    return putParts({ size, slice }, urls, run.signal);
  }

  const keep = (parts: string[], max = maxOutputBytes) =>
    keepOutputs(run, [{ name: 'a.webp', format: 'webp', parts }], max, { large });
  const putPart = (url = '', body: Buffer = Buffer.from('x')) =>
    fetch(url, { method: 'PUT', body: new Uint8Array(body) });
  const incomplete = async () =>
    (await own.client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.map(({ Key }) => Key) ?? [];

  test.for([
    ['and a rest', content.length],
    ['and no rest', 2 * partBytes],
  ] as const)('is kept in full parts %s, under a key to which nothing writes any more', async ([, size]) => {
    const [file] = await keep(await put(content.subarray(0, size)));
    await large.end();

    expect(file).toMatchObject({ key: largeKey(run.task.id, 1), size, name: 'a.webp', mediaType: 'image/webp' });
    const Key = String(file?.key);
    const { Body, ContentType } = await own.client.send(new GetObjectCommand({ Bucket, Key }));
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(content.subarray(0, size))).toBe(true);
    expect(ContentType).toBe('image/webp');
    expect((await putPart(urls.rest)).status).toBe(404);
    expect(await incomplete()).toEqual([]);
  });

  test('has full parts whose length is signed', async () => {
    expect(urls.parts).toHaveLength(3);
    expect((await putPart(urls.parts[0])).status).toBe(403);
    expect((await putPart(urls.parts[0], content.subarray(0, partBytes + 1))).status).toBe(403);
    expect((await putPart(urls.parts[0], content.subarray(0, partBytes))).status).toBe(200);
    await large.end();
  });

  test.for<[name: string, hostile: (tags: string[]) => Promise<unknown>, detail: RegExp]>([
    ['fewer tags than parts', (tags) => keep(tags.slice(0, 2)), /^Expected 2 stored parts but found 3\.$/],
    ['more tags than parts', (tags) => keep([...tags, '"0"']), /^Expected 4 stored parts but found 3\.$/],
    ['another tag', ([, ...tags]) => keep(['"0"', ...tags]), /^Part 1 was not stored, or replaced\.$/],
    [
      'a part that is replaced after the response',
      async (tags) => {
        await putPart(urls.rest, content.subarray(0, 9));
        return keep(tags);
      },
      /^Part 4 was not stored, or replaced\.$/,
    ],
    [
      'more than the maximum',
      (tags) => keep(tags, content.length - 1),
      /^Parts of 10485761 bytes were stored; the maximum is 10485760\.$/,
    ],
  ])('fails the run and leaves nothing if the engine has %s', async ([, hostile, detail]) => {
    const tags = await put(content);

    await expect(hostile(tags)).rejects.toMatchObject({ name: 'EngineError', detail: expect.stringMatching(detail) });
    await large.end();

    expect(await incomplete()).toEqual([]);
    expect(await own.keys()).not.toContain(largeKey(run.task.id, 1));
  });

  test('fails the run if a part before others is missing', async () => {
    const second = await putPart(urls.parts[1], content.subarray(0, partBytes));
    const rest = await putPart(urls.rest);

    await expect(keep([second, rest].map(({ headers }) => String(headers.get('etag'))))).rejects.toMatchObject({
      detail: 'Found part 2 of 5242880 bytes at place 1.',
    });
    await large.end();
  });

  test('fails the run if nothing was stored', async () => {
    await expect(keep([])).rejects.toMatchObject({ detail: 'Expected one or more parts but received none.' });
    await large.end();
  });

  test('fails the run if there is no upload for it', async () => {
    const outputs = [{ name: 'a.webp', format: 'webp', parts: await put(content) }];
    await expect(keepOutputs(run, outputs, maxOutputBytes)).rejects.toMatchObject({
      detail: 'Received an output in parts without an upload for it.',
    });
    await large.end();
  });
});

describe('an output that is stored while it is written', () => {
  let run: ReturnType<typeof makeRun>;
  let large: LargeUpload;
  let urls: LargeOutput;
  beforeEach(async () => {
    run = makeRun('convert', { output_format: 'webp' });
    const plan = { outputFormat: 'webp', maxOutputBytes: 4 * partBytes };
    large = await LargeUpload.start(largeKey(run.task.id, 1), plan, 100 * mebibyte, partBytes + 1);
    urls = await large.sign(run.deadline);
  });

  async function put(url = '', bytes: Buffer = content): Promise<string> {
    const response = await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) });
    expect(response.status).toBe(200);
    return String(response.headers.get('etag'));
  }

  const keep = (parts: string[], max = 4 * partBytes) =>
    keepOutputs(run, [{ name: 'a.webp', format: 'webp', parts }], max, { large });
  const full = content.subarray(0, partBytes);

  test('has a first part of any length, and ignores parts of a run that broke off', async () => {
    const second = await put(urls.parts[1], full);
    await put(urls.parts[2], full);
    const rest = await put(urls.rest, content.subarray(0, 3));
    const front = await put(urls.front, content.subarray(0, partBytes + 9));

    const [file] = await keep([front, second, rest]);

    expect(file?.size).toBe(2 * partBytes + 12);
    const { Body } = await own.client.send(new GetObjectCommand({ Bucket, Key: String(file?.key) }));
    const stored = Buffer.from((await Body?.transformToByteArray()) ?? []);
    expect(stored.equals(Buffer.concat([content.subarray(0, partBytes + 9), full, content.subarray(0, 3)]))).toBe(true);
  });

  test.for<[name: string, hostile: () => Promise<unknown>, detail: string]>([
    ['no tag', () => keep([]), 'Expected one or more parts but received none.'],
    ['a tag of nothing', () => keep(['"0"']), 'Part 1 was not stored, or replaced.'],
    [
      'a short part before others',
      async () => keep([await put(urls.front, content.subarray(0, 9)), await put(urls.parts[1], full)]),
      'Found part 1 of 9 bytes before others.',
    ],
    [
      'a rest before others',
      async () => keep([await put(urls.front, full), await put(urls.rest, full), await put(urls.parts[2], full)]),
      'Part 2 was not stored, or replaced.',
    ],
    [
      'a part at another place',
      async () => keep([await put(urls.front, full), await put(urls.parts[2], full)]),
      'Part 2 was not stored, or replaced.',
    ],
    [
      'more than the maximum',
      async () => keep([await put(urls.front, full)], partBytes - 1),
      `Parts of ${partBytes} bytes were stored; the maximum is ${partBytes - 1}.`,
    ],
  ])('fails the run and leaves nothing if the engine has %s', async ([, hostile, detail]) => {
    await expect(hostile()).rejects.toMatchObject({ name: 'EngineError', detail });
    await large.end();

    expect(await own.keys()).not.toContain(largeKey(run.task.id, 1));
  });

  test('signs the lengths of all other parts but the rest', async () => {
    expect(urls.partBytes).toBe(partBytes);
    const response = await fetch(urls.parts[1] ?? '', { method: 'PUT', body: 'x' });
    expect(response.status).toBe(403);
    await large.end();
  });
});

test('the URLs for 200 GB take less than 200 KB of a request', async () => {
  const plan = { outputFormat: 'webp', maxOutputBytes: 200 * 1024 ** 3 };
  const large = await LargeUpload.start('files/200', plan, 5 * 1024 ** 3);
  const urls = await large.sign(Date.now() + 900_000);
  await large.end();

  expect(urls.parts.length * urls.partBytes).toBeGreaterThan(plan.maxOutputBytes - urls.partBytes);
  expect(JSON.stringify(urls).length).toBeLessThan(200_000);
});
