import { randomBytes } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  paginateListObjectsV2,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireObjects } from '../../src/gate/expiry.ts';
import { makeDirectoryOfTest } from './directory-of-test.ts';
import { allow, bucketArn, type LocalAws, nothing, role, startLocalAws } from './fixture.ts';

const Bucket = 'lathe-files';
const oneFolder = role('OneFolder', [
  allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], [`${bucketArn}/mine/*`]),
  allow(['s3:ListBucket'], [bucketArn], { conditions: { StringLike: { 's3:prefix': ['mine/*'] } } }),
]);

describe('S3 behind the gate', () => {
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws({ roles: [oneFolder] });
  });
  afterAll(() => aws[Symbol.asyncDispose]());

  const put = (Key: string, Body: string | Buffer | Readable = 'content', extra: object = {}) =>
    aws.s3().send(new PutObjectCommand({ Bucket, Key, Body, ...extra }));
  const get = async (Key: string, extra: object = {}) => {
    const response = await aws.s3().send(new GetObjectCommand({ Bucket, Key, ...extra }));
    return { ...response, bytes: Buffer.from((await response.Body?.transformToByteArray()) ?? []) };
  };

  it('stores a buffer with its type and metadata', async () => {
    await put('put/buffer', Buffer.from('hello'), { ContentType: 'text/plain', Metadata: { colour: 'blue' } });

    const found = await get('put/buffer');

    expect(found.bytes.toString()).toBe('hello');
    expect(found).toMatchObject({ ContentType: 'text/plain', Metadata: { colour: 'blue' }, ContentLength: 5 });
  });

  it('stores the decoded bytes of a stream, which the SDK sends in signed or checked chunks', async () => {
    const content = randomBytes(300_000);
    const chunks = [content.subarray(0, 100_000), content.subarray(100_000, 108_192), content.subarray(108_192)];

    await put('put/stream', Readable.from(chunks), { ContentLength: content.length });

    const found = await get('put/stream');
    expect(found.bytes.equals(content)).toBe(true);
    expect(found.ContentEncoding).toBeUndefined();
  });

  it('refuses a stream whose chunks are smaller than 8 KiB, except the last', async () => {
    const content = randomBytes(30_000);
    const inChunksOf = (...ends: number[]) =>
      Readable.from(ends.map((end, index) => content.subarray(ends[index - 1] ?? 0, end)));
    const ContentLength = content.length;

    const refused = put('put/small', inChunksOf(10_000, 18_191, 30_000), { ContentLength });
    await expect(refused).rejects.toMatchObject({
      name: 'InvalidChunkSizeError',
      $metadata: { httpStatusCode: 403 },
    });
    await expect(get('put/small')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await put('put/small', inChunksOf(29_999, 30_000), { ContentLength });
    expect((await get('put/small')).bytes.equals(content)).toBe(true);
  });

  it.each(['plain', 'with space', 'plus+sign', 'per%cent', 'ünï/cödé ☃', 'a//b', 'quo"te\'s(1)!*', 'trailing/', '123'])(
    'keeps the key %s separate from others',
    async (name) => {
      const key = `keys/${name}`;
      await put(key, name);

      const found = await get(key);
      const { Contents = [] } = await aws.s3().send(new ListObjectsV2Command({ Bucket, Prefix: key }));
      await aws.s3().send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: key }] } }));

      expect(found.bytes.toString()).toBe(name);
      expect(Contents.map((object) => object.Key)).toEqual([key]);
      await expect(get(key)).rejects.toMatchObject({ name: 'NoSuchKey' });
    },
  );

  it.each([
    ['the first byte', 'bytes=0-0', '0', 'bytes 0-0/10'],
    ['the middle', 'bytes=2-4', '234', 'bytes 2-4/10'],
    ['the rest', 'bytes=7-', '789', 'bytes 7-9/10'],
    ['the end', 'bytes=-3', '789', 'bytes 7-9/10'],
    ['more than there is at the end', 'bytes=-500', '0123456789', 'bytes 0-9/10'],
    ['beyond the end', 'bytes=8-100', '89', 'bytes 8-9/10'],
  ])('returns a range of %s', async (_what, Range, text, ContentRange) => {
    await put('range', '0123456789');

    const found = await get('range', { Range });

    expect(found.bytes.toString()).toBe(text);
    expect(found).toMatchObject({ ContentRange, ContentLength: text.length });
  });

  it('refuses a range that the object does not have', async () => {
    await put('range', '0123456789');

    await expect(get('range', { Range: 'bytes=10-' })).rejects.toMatchObject({
      name: 'InvalidRange',
      $metadata: { httpStatusCode: 416 },
    });
  });

  it('responds to HEAD with length and type, and 404 if there is no object', async () => {
    await put('head', 'four', { ContentType: 'image/png' });

    const head = await aws.s3().send(new HeadObjectCommand({ Bucket, Key: 'head' }));

    expect(head).toMatchObject({ ContentLength: 4, ContentType: 'image/png' });
    await expect(aws.s3().send(new HeadObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({
      name: 'NotFound',
    });
  });

  it('keeps an empty object', async () => {
    await put('empty', '');

    const found = await get('empty');

    expect(found.bytes).toHaveLength(0);
    expect(found.ContentLength).toBe(0);
  });

  it('copies an object with its metadata, or with new', async () => {
    await put('copy/from me+1', 'copied', { Metadata: { a: 'old' } });
    const copy = (Key: string, extra: object = {}) =>
      aws.s3().send(
        new CopyObjectCommand({
          Bucket,
          Key,
          CopySource: `${Bucket}/${encodeURIComponent('copy/from me+1')}`,
          ...extra,
        }),
      );

    await copy('copy/same');
    await copy('copy/new', { MetadataDirective: 'REPLACE', Metadata: { a: 'new' } });
    await aws.s3().send(new DeleteObjectCommand({ Bucket, Key: 'copy/from me+1' }));

    expect(await get('copy/same')).toMatchObject({ Metadata: { a: 'old' } });
    const replaced = await get('copy/new');
    expect(replaced.Metadata).toEqual({ a: 'new' });
    expect(replaced.bytes.toString()).toBe('copied');
  });

  it('copies an object only if the conditions of the copy hold', async () => {
    const { ETag: first } = await put('condition/from', 'first');
    const { LastModified } = await get('condition/from');
    const past = new Date(0);
    const copy = (conditions: object) =>
      aws
        .s3()
        .send(
          new CopyObjectCommand({ Bucket, Key: 'condition/to', CopySource: `${Bucket}/condition/from`, ...conditions }),
        );

    for (const conditions of [
      { CopySourceIfMatch: first },
      { CopySourceIfMatch: first?.replaceAll('"', '') },
      { CopySourceIfMatch: first, CopySourceIfUnmodifiedSince: past },
      { CopySourceIfNoneMatch: '"other"' },
      { CopySourceIfModifiedSince: past },
      { CopySourceIfUnmodifiedSince: LastModified },
    ])
      expect((await copy(conditions)).CopyObjectResult?.ETag, JSON.stringify(conditions)).toBe(first);
    await put('condition/from', 'second');

    for (const conditions of [
      { CopySourceIfMatch: first },
      { CopySourceIfUnmodifiedSince: past },
      { CopySourceIfModifiedSince: new Date(Date.now() + 60_000) },
      { CopySourceIfNoneMatch: (await get('condition/from')).ETag, CopySourceIfModifiedSince: past },
    ])
      await expect(copy(conditions), JSON.stringify(conditions)).rejects.toMatchObject({
        name: 'PreconditionFailed',
        $metadata: { httpStatusCode: 412 },
      });
    expect((await get('condition/to')).bytes.toString()).toBe('first');
  });

  it('refuses a copy of a missing object, onto itself, and from or to a forbidden prefix', async () => {
    const client = aws.s3(oneFolder);
    await put('mine/copied');
    const copy = (Key: string, from: string, by = aws.s3()) =>
      by.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}` }));

    await expect(copy('mine/new', 'mine/none')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(copy('mine/copied', 'mine/copied')).rejects.toMatchObject({ name: 'InvalidRequest' });
    await expect(copy('theirs/new', 'mine/copied', client)).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(copy('mine/new', 'mine/copied', client)).resolves.toMatchObject({
      $metadata: { httpStatusCode: 200 },
    });
    for (const Key of ['mine/copied', 'mine/new']) await aws.s3().send(new DeleteObjectCommand({ Bucket, Key }));
  });

  it('assembles a multipart upload and reads ranges across its parts', async () => {
    const content = randomBytes(12 * 1024 * 1024);
    const upload = new Upload({
      client: aws.s3(),
      params: { Bucket, Key: 'multipart', Body: Readable.from([content]), ContentType: 'video/mp4' },
    });

    const { ETag } = await upload.done();

    const found = await get('multipart');
    const edge = 5 * 1024 * 1024;
    const across = await get('multipart', { Range: `bytes=${edge - 10}-${edge + 9}` });
    expect(ETag).toMatch(/^"[0-9a-f]{32}-3"$/);
    expect(found.ContentType).toBe('video/mp4');
    expect(found.bytes.equals(content)).toBe(true);
    expect(across.bytes.equals(content.subarray(edge - 10, edge + 10))).toBe(true);
  });

  it('copies ranges of an object as parts of an upload', async () => {
    const client = aws.s3(oneFolder);
    const content = randomBytes(11 * 1024 * 1024);
    const edge = 5 * 1024 * 1024;
    const { ETag } = await put('mine/from', content);
    const Key = 'mine/assembled';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const copy = (PartNumber: number, range: string | undefined, extra: object = {}) =>
      client.send(
        new UploadPartCopyCommand({
          ...{ Bucket, Key, UploadId, PartNumber, CopySource: `${Bucket}/mine/from` },
          ...{ CopySourceRange: range, ...extra },
        }),
      );
    const first = await copy(1, `bytes=${edge + 1}-${2 * edge}`, { CopySourceIfMatch: ETag });
    const second = await copy(2, `bytes=0-${edge}`);
    const Parts = [first, second].map(({ CopyPartResult }, index) => ({
      PartNumber: index + 1,
      ETag: CopyPartResult?.ETag,
    }));

    for (const [range, extra, name] of [
      [`bytes=0-${content.length}`, {}, 'InvalidArgument'],
      ['bytes=5-', {}, 'InvalidArgument'],
      ['bytes=0-1', { CopySourceIfMatch: '"other"' }, 'PreconditionFailed'],
      ['bytes=0-1', { CopySource: `${Bucket}/mine/none` }, 'NoSuchKey'],
      ['bytes=0-1', { CopySource: `${Bucket}/theirs/a` }, 'AccessDenied'],
      ['bytes=0-1', { UploadId: 'none' }, 'NoSuchUpload'],
      ['bytes=0-1', { PartNumber: 10_001 }, 'InvalidArgument'],
    ] as const)
      await expect(copy(3, range, extra), `${range} ${name}`).rejects.toMatchObject({
        name: name === 'NoSuchKey' ? expect.stringMatching(/^(?:NoSuchKey|AccessDenied)$/) : name,
      });
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));

    const expected = Buffer.concat([content.subarray(edge + 1, 2 * edge + 1), content.subarray(0, edge + 1)]);
    expect((await get(Key)).bytes.equals(expected)).toBe(true);
    for (const key of ['mine/from', Key]) await aws.s3().send(new DeleteObjectCommand({ Bucket, Key: key }));
  });

  it('copies up to 5 GiB in one request', async () => {
    const folder = await makeDirectoryOfTest();
    await using own = await startLocalAws({ dataDirectory: folder });
    const client = own.s3();
    const limit = 5 * 1024 ** 3;
    const database = new DatabaseSync(join(folder, 's3', 'objects.db'));
    /** Stores an object of holes, which takes no space. */
    const store = async (Key: string, size: number) => {
      await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
      const { segments } = database.prepare('SELECT segments FROM objects WHERE key = ?').get(Key) ?? {};
      const [{ file }] = JSON.parse(String(segments));
      await truncate(join(folder, 's3', 'blobs', file), size);
      const row = database.prepare('UPDATE objects SET size = ?, segments = ? WHERE key = ?');
      row.run(size, JSON.stringify([{ file, size }]), Key);
    };
    await store('largest', limit);
    await store('larger', limit + 1);
    const copy = (from: string) =>
      client.send(new CopyObjectCommand({ Bucket, Key: `${from}/copy`, CopySource: `${Bucket}/${from}` }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
    const part = { Bucket, Key: 'parts', UploadId, PartNumber: 1, CopySource: `${Bucket}/larger` };

    await copy('largest');
    await expect(copy('larger')).rejects.toMatchObject({ name: 'InvalidRequest' });
    await expect(client.send(new UploadPartCopyCommand(part))).rejects.toMatchObject({ name: 'InvalidRequest' });
    await client.send(new UploadPartCopyCommand({ ...part, CopySourceRange: `bytes=${limit - 1}-${limit}` }));

    const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key: 'parts', UploadId }));
    expect(Parts).toMatchObject([{ PartNumber: 1, Size: 2 }]);
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'largest/copy' }))).ContentLength).toBe(limit);
    database.close();
  });

  it('lists the parts of an upload and forgets them when it is aborted', async () => {
    const client = aws.s3();
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'aborted' }));
    await client.send(new UploadPartCommand({ Bucket, Key: 'aborted', UploadId, PartNumber: 1, Body: 'part' }));
    const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key: 'aborted', UploadId }));

    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'aborted', UploadId }));

    expect(Parts).toMatchObject([{ PartNumber: 1, Size: 4 }]);
    await expect(client.send(new ListPartsCommand({ Bucket, Key: 'aborted', UploadId }))).rejects.toMatchObject({
      name: 'NoSuchUpload',
    });
  });

  it('lists incomplete uploads page by page, to those who may see the whole bucket', async () => {
    const client = aws.s3();
    const begin = async (Key: string) =>
      (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId;
    const first = await begin('listed/b');
    const second = await begin('listed/b');
    const other = await begin('listed/a');
    const found: (string | undefined)[] = [];
    let next: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
    while (next) {
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: 'listed/', MaxUploads: 1, ...next }),
      );
      found.push(...(page.Uploads ?? []).map(({ UploadId }) => UploadId));
      next = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
    }
    expect(found[0]).toBe(other);
    expect(found.slice(1).sort()).toEqual([first, second].sort());

    const forbidden = aws.s3(oneFolder).send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'mine/' }));
    await expect(forbidden).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('refuses parts that S3 would refuse', async () => {
    const client = aws.s3();
    const Key = 'strict';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const send = (PartNumber: number, Body: string) =>
      client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    const complete = (...Parts: CompletedPart[]) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    const [one, last] = [await send(1, 'one'), await send(10_000, 'last')];
    const first = { PartNumber: 1, ETag: one.ETag };
    const second = { PartNumber: 10_000, ETag: last.ETag };

    for (const number of [0, 10_001])
      await expect(send(number, 'x')).rejects.toMatchObject({ name: 'InvalidArgument' });
    await expect(complete({ ...first, ETag: last.ETag })).rejects.toMatchObject({ name: 'InvalidPart' });
    await expect(complete(second, first)).rejects.toMatchObject({ name: 'InvalidPartOrder' });
    await expect(complete(first, second)).rejects.toMatchObject({ name: 'EntityTooSmall' });
    const url = new URL(
      await getSignedUrl(aws.s3(), new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 2 }), {
        unhoistableHeaders: new Set(),
      }),
    );
    expect(await rawStatus(aws.origin, `PUT ${url.pathname}${url.search} HTTP/1.1`, 5 * 1024 ** 3 + 1)).toBe(400);
    const { ETag } = await complete(second);
    expect(ETag).toMatch(/^"[0-9a-f]{32}-1"$/);
    await expect(send(1, 'late')).rejects.toMatchObject({ name: 'NoSuchUpload' });
  });

  it('does not complete an upload under a key other than its own', async () => {
    const client = aws.s3();
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'theirs' }));
    const part = await client.send(
      new UploadPartCommand({ Bucket, Key: 'theirs', UploadId, PartNumber: 1, Body: 'x' }),
    );

    const complete = client.send(
      new CompleteMultipartUploadCommand({
        Bucket,
        Key: 'mine/theirs',
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag: part.ETag }] },
      }),
    );

    await expect(complete).rejects.toMatchObject({ name: 'NoSuchUpload' });
  });

  it('lists page by page in order, with common prefixes', async () => {
    const names = ['a.txt', 'a/1', 'a/2', 'b/1', 'c'];
    for (const name of names) await put(`list/${name}`);
    const keys: string[] = [];

    for await (const page of paginateListObjectsV2({ client: aws.s3(), pageSize: 2 }, { Bucket, Prefix: 'list/' })) {
      for (const object of page.Contents ?? []) keys.push(object.Key ?? '');
    }
    const top = await aws.s3().send(new ListObjectsV2Command({ Bucket, Prefix: 'list/', Delimiter: '/' }));

    expect(keys).toEqual(names.map((name) => `list/${name}`));
    expect(top.Contents?.map((object) => object.Key)).toEqual(['list/a.txt', 'list/c']);
    expect(top.CommonPrefixes).toEqual([{ Prefix: 'list/a/' }, { Prefix: 'list/b/' }]);
  });

  it('keeps tags', async () => {
    await put('tagged');
    const TagSet = [{ Key: 'kind', Value: 'ä + b@c.d/e' }];

    await aws.s3().send(new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging: { TagSet } }));

    const found = await aws.s3().send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged' }));
    expect(found.TagSet).toEqual(TagSet);
  });

  it.each(['a & b', 'a,b', 'a;b', '"a"'])('refuses the tag %s, whose characters S3 does not take', async (Value) => {
    await put('tagged');

    const Tagging = { TagSet: [{ Key: 'kind', Value }] };
    const refused = aws.s3().send(new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging }));
    await expect(refused).rejects.toMatchObject({ name: 'InvalidTag' });
  });

  it('sends an object only if the conditions of the request hold', async () => {
    const { ETag } = await put('conditional', '0123456789');
    const { LastModified } = await get('conditional');
    const past = new Date(0);

    for (const [conditions, status] of [
      [{ IfMatch: ETag }, 200],
      [{ IfMatch: '*' }, 200],
      [{ IfMatch: ETag, IfUnmodifiedSince: past }, 200],
      [{ IfMatch: '"other"' }, 412],
      [{ IfUnmodifiedSince: past }, 412],
      [{ IfMatch: '"other"', IfNoneMatch: ETag }, 412],
      [{ IfNoneMatch: '"other"' }, 200],
      [{ IfNoneMatch: ETag }, 304],
      [{ IfModifiedSince: LastModified }, 304],
      [{ IfModifiedSince: past }, 200],
      [{ IfNoneMatch: '"other"', IfModifiedSince: LastModified }, 200],
    ] as const) {
      const outcome = await get('conditional', conditions).catch((error: unknown) => error);
      expect(outcome, JSON.stringify(conditions)).toMatchObject({ $metadata: { httpStatusCode: status } });
    }
    const url = await getSignedUrl(aws.s3(), new GetObjectCommand({ Bucket, Key: 'conditional' }));
    const resume = (tag: string) => fetch(url, { headers: { range: 'bytes=5-', 'if-range': tag } });
    expect([(await resume(ETag ?? '')).status, (await resume('"other"')).status]).toEqual([206, 200]);
  });

  it('refuses unsupported S3 features as not implemented', async () => {
    await put('plain');
    const target = { Bucket, Key: 'plain' };

    for (const call of [
      () => get('plain', { VersionId: '1' }),
      () => get('plain', { PartNumber: 1 }),
      () => put('plain', 'x', { StorageClass: 'GLACIER' }),
      () => put('plain', 'x', { Tagging: 'a=b' }),
      () => put('plain', 'x', { IfMatch: '"tag"' }),
      () => put('plain', 'x', { ChecksumCRC32C: 'AAAAAA==' }),
      () => aws.s3().send(new DeleteObjectCommand({ ...target, IfMatch: '"tag"' })),
    ])
      await expect(call(), String(call)).rejects.toMatchObject({
        name: 'NotImplemented',
        $metadata: { httpStatusCode: 501 },
      });
    expect((await get('plain')).bytes.toString()).toBe('content');
  });

  it.each([
    ['not XML', '<CompleteMultipartUpload><Part>'],
    ['an unknown entity', '<CompleteMultipartUpload><Part>&any;</Part></CompleteMultipartUpload>'],
    ['another document', '<Delete></Delete>'],
    ['no part', '<CompleteMultipartUpload></CompleteMultipartUpload>'],
    [
      'a part without tag',
      '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>',
    ],
  ])('refuses to complete an upload with %s', async (_what, body) => {
    const { UploadId } = await aws.s3().send(new CreateMultipartUploadCommand({ Bucket, Key: 'malformed' }));
    const command = new CompleteMultipartUploadCommand({ Bucket, Key: 'malformed', UploadId });
    const url = await getSignedUrl(aws.s3(), command);

    const response = await fetch(url, { method: 'POST', body });

    expect(response.status).toBe(400);
    expect(await response.text()).toContain('<Code>MalformedXML</Code>');
  });

  it('refuses an object without a length', async () => {
    const url = new URL(await getSignedUrl(aws.s3(), new PutObjectCommand({ Bucket, Key: 'endless' })));

    expect(await rawStatus(aws.origin, `PUT ${url.pathname}${url.search} HTTP/1.1`)).toBe(411);
  });

  it('does not replace an object that must not exist yet', async () => {
    await put('once', 'first');

    await expect(put('once', 'second', { IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' });
    expect((await get('once')).bytes.toString()).toBe('first');
  });

  it('does not store content other than what was signed', async () => {
    const client = aws.s3();
    client.middlewareStack.add(
      (next) => (args) => {
        if (typeof args.request === 'object' && args.request && 'body' in args.request) args.request.body = 'altered!';
        return next(args);
      },
      { step: 'deserialize', priority: 'low' },
    );

    const call = client.send(new PutObjectCommand({ Bucket, Key: 'tampered', Body: 'original' }));

    await expect(call).rejects.toMatchObject({ name: 'XAmzContentSHA256Mismatch' });
    await expect(get('tampered')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('keeps the old object if an upload over it is aborted', async () => {
    await put('replaced', 'whole and old');
    const url = new URL(await getSignedUrl(aws.s3(), new PutObjectCommand({ Bucket, Key: 'replaced' })));
    const socket = connect(Number(url.port), url.hostname);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-length: 1000\r\n\r\nshort`);
    socket.end();
    socket.resume();
    await closed;

    const found = await get('replaced');

    expect(found.bytes.toString()).toBe('whole and old');
  });

  it('continues to read an object that is being replaced', async () => {
    const old = randomBytes(4 * 1024 * 1024);
    await put('reading', old);
    const { Body } = await aws.s3().send(new GetObjectCommand({ Bucket, Key: 'reading' }));

    await put('reading', 'new');

    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(old)).toBe(true);
    expect((await get('reading')).bytes.toString()).toBe('new');
  });

  it('limits a role to its prefix for reading, writing, listing and deleting', async () => {
    const client = aws.s3(oneFolder);
    await put('theirs/a', 'secret');
    await client.send(new PutObjectCommand({ Bucket, Key: 'mine/a', Body: 'x' }));
    const denied = [
      client.send(new GetObjectCommand({ Bucket, Key: 'theirs/a' })),
      client.send(new PutObjectCommand({ Bucket, Key: 'theirs/b', Body: 'x' })),
      client.send(new CopyObjectCommand({ Bucket, Key: 'mine/stolen', CopySource: `${Bucket}/theirs/a` })),
      client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'mine/a' }, { Key: 'theirs/a' }] } })),
      client.send(new ListObjectsV2Command({ Bucket, Prefix: 'theirs/' })),
      client.send(new ListObjectsV2Command({ Bucket })),
      client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'theirs/c' })),
    ];

    for (const outcome of await Promise.allSettled(denied)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AccessDenied' } });
    }
    await expect(client.send(new ListObjectsV2Command({ Bucket, Prefix: 'mine/' }))).resolves.toMatchObject({
      KeyCount: 1,
    });
    expect((await get('theirs/a')).bytes.toString()).toBe('secret');
  });

  it('names role, action and resource in the refusal', async () => {
    const call = aws.s3(nothing).send(new GetObjectCommand({ Bucket, Key: 'a' }));

    await expect(call).rejects.toThrow(
      `User: ${nothing.arn} is not authorized to perform: s3:GetObject on resource: ${bucketArn}/a`,
    );
  });

  it.each(['../escape', 'a/../../escape', './a', `long/${'x'.repeat(1100)}`, 'nul\0'])(
    'refuses the key %j with 400',
    async (key) => {
      const client = aws.s3();
      const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'KEY' }));
      const path = new URL(url).pathname.replace('KEY', encodeURIComponent(key));

      const status = await rawStatus(aws.origin, `GET ${path}${new URL(url).search} HTTP/1.1`);

      expect(status).toBe(400);
    },
  );

  it('notifies the queue of a new object before the writer gets its response', async () => {
    await put('uploads/my file+1.txt', 'five5');

    const queue = aws.stack.queues.find(({ name }) => name === 'uploads');
    const { Messages: [message] = [] } = await aws
      .sqs()
      .send(new ReceiveMessageCommand({ QueueUrl: queue?.url, WaitTimeSeconds: 0 }));
    expect(JSON.parse(message?.Body ?? '')).toMatchObject({
      Records: [
        {
          eventSource: 'aws:s3',
          eventName: 'ObjectCreated:Put',
          s3: {
            bucket: { name: Bucket, arn: bucketArn },
            object: { key: 'uploads/my+file%2B1.txt', size: 5, eTag: expect.stringMatching(/^[0-9a-f]{32}$/) },
          },
        },
      ],
    });
  });

  it('does not acknowledge an object if the queue does not allow S3 to notify it', async () => {
    await using strict = await startLocalAws({
      change: (stack) => {
        for (const queue of stack.queues) queue.policy = [];
      },
    });

    const call = strict.s3().send(new PutObjectCommand({ Bucket, Key: 'uploads/a', Body: 'x' }));

    await expect(call).rejects.toMatchObject({ name: 'InternalError' });
  });

  it('does not reveal missing objects to a role that may list only one prefix', async () => {
    const missing = { Bucket, Key: 'mine/missing' };
    const client = aws.s3(oneFolder);

    await expect(client.send(new GetObjectCommand(missing))).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(client.send(new HeadObjectCommand(missing))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 403 },
    });
    await expect(aws.s3().send(new GetObjectCommand(missing))).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('expires old objects under the prefix of the rule', async () => {
    await put('old/a');
    await put('new/a');

    const { objects } = aws.servers;
    if (!objects) throw new Error('The fixture has the embedded S3.');
    const startedAt = (Key: string) => aws.s3().send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const [old, recent] = [await startedAt('old/upload'), await startedAt('new/upload')];
    expireObjects(aws.stack.buckets, objects, Date.now() + 2 * 24 * 60 * 60 * 1000);

    await expect(get('old/a')).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(get('new/a')).resolves.toBeDefined();
    const partsOf = (Key: string, UploadId: string | undefined) =>
      aws.s3().send(new ListPartsCommand({ Bucket, Key, UploadId }));
    await expect(partsOf('old/upload', old.UploadId)).rejects.toMatchObject({ name: 'NoSuchUpload' });
    await expect(partsOf('new/upload', recent.UploadId)).resolves.toBeDefined();
  });

  it('has had no internal error', () => {
    expect(aws.errors).toEqual([]);
  });
});

function rawStatus(origin: string, requestLine: string, length?: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname, () => {
    const declared = length === undefined ? '' : `content-length: ${length}\r\n`;
    socket.write(`${requestLine}\r\nhost: ${host}\r\n${declared}connection: close\r\n\r\n`);
  });
  socket.once('data', (data) => {
    resolve(Number(data.toString().split(' ')[1]));
    socket.destroy();
  });
  socket.once('error', reject);
  return promise;
}
