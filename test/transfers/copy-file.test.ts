import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { copyFile } from '../../functions/transfers/copy-file.ts';
import { putObject } from '../../shared/aws/objects.ts';
import { noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';

const mebibyte = 1024 ** 2;
/** As small as S3 allows. */
const limits = { maxBytes: 6 * mebibyte, partBytes: 5 * mebibyte };
const Bucket = 'lathe-files';
const mediaType = 'video/mp4';

describe('a copy of a stored file', () => {
  let own: OwnBucket;
  beforeAll(async () => {
    own = await startOwnBucket();
  });
  afterAll(() => own[Symbol.asyncDispose]());
  afterEach(() => vi.restoreAllMocks());

  const store = async (key: string, size: number) => {
    const content = noise(size);
    await putObject(key, content, mediaType);
    return { content, file: { key, size, mediaType } };
  };
  const incomplete = async () =>
    (await own.client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.map(({ Key }) => Key) ?? [];

  /** Does something when the copy of the second part begins. */
  function atSecondPart(act: () => void): void {
    const send = S3Client.prototype.send;
    vi.spyOn(S3Client.prototype, 'send').mockImplementation(function (this: S3Client, ...given) {
      const [command] = given;
      if (command instanceof UploadPartCopyCommand && command.input.PartNumber === 2) act();
      return send.apply(this, given);
    });
  }

  test.each([
    ['of as much as one request may copy is one request', limits.maxBytes, /^"[0-9a-f]{32}"$/],
    ['that is one byte larger has parts', limits.maxBytes + 1, /^"[0-9a-f]{32}-2"$/],
    ['has a last part of any size', 10 * mebibyte + 1, /^"[0-9a-f]{32}-3"$/],
  ])('%s', async (name, size, tag) => {
    const { content, file } = await store(`files/from ${name}`, size);

    await copyFile(file, `files/to/${name}`, new AbortController().signal, limits);

    const { Body, ETag, ContentType } = await own.client.send(
      new GetObjectCommand({ Bucket, Key: `files/to/${name}` }),
    );
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(content)).toBe(true);
    expect([ETag, ContentType]).toEqual([expect.stringMatching(tag), mediaType]);
  });

  test('that is aborted leaves nothing behind', async () => {
    const { file } = await store('files/aborted', 3 * limits.partBytes);
    const controller = new AbortController();
    atSecondPart(() => controller.abort(new Error('The task was canceled.')));

    await expect(copyFile(file, 'files/none', controller.signal, limits)).rejects.toThrow();

    vi.restoreAllMocks();
    expect(await incomplete()).toEqual([]);
    const head = own.client.send(new HeadObjectCommand({ Bucket, Key: 'files/none' }));
    await expect(head).rejects.toMatchObject({ name: 'NotFound' });
  });

  test('that fails leaves nothing behind', async () => {
    const { file } = await store('files/replaced', 3 * limits.partBytes);
    atSecondPart(() => {
      throw new Error('The connection was lost.');
    });

    const copy = copyFile(file, 'files/none', new AbortController().signal, limits);

    await expect(copy).rejects.toThrow('The connection was lost.');
    vi.restoreAllMocks();
    expect(await incomplete()).toEqual([]);
  });
});
