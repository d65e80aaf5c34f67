import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { combineChecksums } from '../../src/s3/checksums.ts';
import { everything, type LocalAws, startLocalAws } from './fixture.ts';

const Bucket = 'lathe-files';

function crcOf(content: Uint8Array | string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(content));
  return bytes.toString('base64');
}

const sha256Of = (content: Uint8Array | string) => createHash('sha256').update(content).digest('base64');

describe('checksums of S3', () => {
  let aws: LocalAws;
  /** Sends a checksum only on request, as for stores other than AWS. */
  let plain: S3Client;
  beforeAll(async () => {
    aws = await startLocalAws();
    plain = new S3Client({
      endpoint: `${aws.origin}/_aws/s3`,
      region: aws.stack.region,
      credentials: aws.credentials(everything),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: 1,
    });
  });
  afterAll(() => aws[Symbol.asyncDispose]());

  const head = (Key: string) => aws.s3().send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
  /** Starts an upload of one part, and returns the responses. */
  const upload = async (
    Key: string,
    start: Partial<CreateMultipartUploadCommandInput>,
    { client = aws.s3(), Body = 'part' }: { client?: S3Client; Body?: string | Buffer } = {},
  ) => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...start }));
    const { ChecksumAlgorithm } = start;
    const part = await client.send(
      new UploadPartCommand({
        Bucket,
        Key,
        UploadId,
        PartNumber: 1,
        Body,
        ...(ChecksumAlgorithm && { ChecksumAlgorithm }),
      }),
    );
    const complete = (named: CompletedPart = {}, extra: Partial<CompleteMultipartUploadCommandInput> = {}) =>
      client.send(
        new CompleteMultipartUploadCommand({
          Bucket,
          Key,
          UploadId,
          MultipartUpload: { Parts: [{ PartNumber: 1, ETag: part.ETag, ...named }] },
          ...extra,
        }),
      );
    return { UploadId, part, complete };
  };

  it('returns the checksum of an object on request, but not for a range', async () => {
    const put = await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'hello' }));
    const url = await getSignedUrl(aws.s3(), new GetObjectCommand({ Bucket, Key: 'kept', ChecksumMode: 'ENABLED' }));

    const range = await aws.s3().send(new GetObjectCommand({ Bucket, Key: 'kept', Range: 'bytes=0-1' }));
    const unasked = await plain.send(new HeadObjectCommand({ Bucket, Key: 'kept' }));

    const expected = { ChecksumCRC32: crcOf('hello'), ChecksumType: 'FULL_OBJECT' };
    expect(put).toMatchObject(expected);
    expect(await head('kept')).toMatchObject(expected);
    expect((await fetch(url)).headers.get('x-amz-checksum-crc32')).toBe(crcOf('hello'));
    expect([range.ChecksumCRC32, unasked.ChecksumCRC32]).toEqual([undefined, undefined]);
  });

  it('does not store an object with a wrong checksum, even if a presigned URL has it in the query', async () => {
    const Key = 'refused';
    // The library signs the checksum of an empty body into the URL; see aws-sdk-js-v3 issue 6810.
    const url = await getSignedUrl(aws.s3(), new PutObjectCommand({ Bucket, Key }));
    const wrong = new PutObjectCommand({ Bucket, Key, Body: 'hello', ChecksumSHA256: sha256Of('other') });

    await expect(aws.s3().send(wrong)).rejects.toMatchObject({ name: 'BadDigest' });
    expect(url).toContain('x-amz-checksum-crc32=AAAAAA');
    const response = await fetch(url, { method: 'PUT', body: 'hello' });

    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('<Code>BadDigest</Code>')]);
    await expect(head(Key)).rejects.toMatchObject({ name: 'NotFound' });
  });

  it('applies other headers in the query of a presigned URL', async () => {
    const command = new PutObjectCommand({ Bucket, Key: 'hoisted', Metadata: { colour: 'blue' } });
    const stored = new PutObjectCommand({ Bucket, Key: 'hoisted', StorageClass: 'GLACIER' });

    const put = await fetch(await getSignedUrl(plain, command), { method: 'PUT', body: 'x' });
    const refused = await fetch(await getSignedUrl(plain, stored), { method: 'PUT', body: 'y' });

    expect([put.status, refused.status]).toEqual([200, 501]);
    expect((await head('hoisted')).Metadata).toEqual({ colour: 'blue' });
  });

  it('keeps the checksum of the content in a copy', async () => {
    await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'source', Body: 'hello' }));

    const copy = await aws.s3().send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/source` }));

    expect(copy.CopyObjectResult?.ChecksumCRC32).toBe(crcOf('hello'));
    expect((await head('copy')).ChecksumCRC32).toBe(crcOf('hello'));
  });

  it('refuses to complete an upload that was started without the checksum its parts are named with', async () => {
    const { part, complete } = await upload('undeclared', {});

    expect(part.ChecksumCRC32).toBe(crcOf('part'));
    await expect(complete({ ChecksumCRC32: part.ChecksumCRC32 })).rejects.toMatchObject({ name: 'InvalidPart' });
    await expect(complete()).resolves.toMatchObject({ $metadata: { httpStatusCode: 200 } });
    expect((await head('undeclared')).ChecksumCRC32).toBeUndefined();
  });

  it.each([
    ['none', { ChecksumCRC32: undefined }, 'InvalidRequest'],
    ['another', { ChecksumCRC32: crcOf('other') }, 'InvalidPart'],
    ['one of another algorithm', { ChecksumSHA256: sha256Of('part') }, 'InvalidPart'],
    ['what is no checksum', { ChecksumCRC32: 'part' }, 'InvalidRequest'],
    ['two', { ChecksumCRC32: crcOf('part'), ChecksumSHA256: sha256Of('part') }, 'MalformedXML'],
  ])('refuses to complete an upload with checksums when a part is named with %s', async (_what, named, name) => {
    const { complete } = await upload('named', { ChecksumAlgorithm: 'CRC32' });

    await expect(complete(named)).rejects.toMatchObject({ name });
  });

  it('refuses a part without a checksum of the algorithm that its upload was started with', async () => {
    const target = { Bucket, Key: 'mismatch' };
    const { UploadId } = await plain.send(new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'SHA256' }));
    const part = { ...target, UploadId, PartNumber: 1, Body: 'part' };

    await expect(plain.send(new UploadPartCommand(part))).rejects.toThrow(
      'Checksum Type mismatch occurred, expected checksum Type: sha256, actual checksum Type: null',
    );
    await expect(aws.s3().send(new UploadPartCommand(part))).rejects.toThrow(
      'expected checksum Type: sha256, actual checksum Type: crc32',
    );
    const { Parts, ChecksumAlgorithm } = await plain.send(new ListPartsCommand({ ...target, UploadId }));
    expect([Parts, ChecksumAlgorithm]).toEqual([undefined, 'SHA256']);
  });

  it('combines the checksums of parts to that of the object', async () => {
    const { part, complete } = await upload('composite', { ChecksumAlgorithm: 'SHA256' });

    const value = `${sha256Of(Buffer.from(sha256Of('part'), 'base64'))}-1`;
    const named = { ChecksumSHA256: part.ChecksumSHA256 };

    await expect(complete(named, { ChecksumSHA256: value.replace('-1', '-2') })).rejects.toMatchObject({
      name: 'BadDigest',
    });
    const done = await complete(named, { ChecksumType: 'COMPOSITE', ChecksumSHA256: value });

    expect(done).toMatchObject({ ChecksumSHA256: value, ChecksumType: 'COMPOSITE' });
    expect(await head('composite')).toMatchObject({ ChecksumSHA256: value, ChecksumType: 'COMPOSITE' });
    const { Body } = await aws.s3().send(new GetObjectCommand({ Bucket, Key: 'composite' }));
    expect(await Body?.transformToString()).toBe('part');
  });

  it('checks the type and the whole checksum in the request to complete an upload', async () => {
    const start = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
    const { complete } = await upload('full', start);

    await expect(complete({}, { ChecksumType: 'COMPOSITE' })).rejects.toMatchObject({ name: 'InvalidRequest' });
    await expect(complete({}, { ChecksumCRC32: crcOf('other') })).rejects.toMatchObject({ name: 'BadDigest' });
    await expect(complete({}, { ChecksumCRC32: crcOf('part'), ChecksumType: 'FULL_OBJECT' })).resolves.toMatchObject({
      ChecksumCRC32: crcOf('part'),
      ChecksumType: 'FULL_OBJECT',
    });
  });

  it('combines the CRCs of parts to that of the whole', () => {
    const parts = [
      Buffer.alloc(70_000, 'first'),
      Buffer.alloc(65_536, 'second'),
      Buffer.alloc(1, 'x'),
      Buffer.alloc(0),
    ];

    const { value } = combineChecksums(
      { algorithm: 'CRC32', type: 'FULL_OBJECT' },
      parts.map((part) => ({ size: part.length, checksum: crcOf(part) })),
    );

    expect(value).toBe(crcOf(Buffer.concat(parts)));
  });

  it.each([
    ['a type without an algorithm', { ChecksumType: 'COMPOSITE' }, 'InvalidRequest'],
    [
      'a full checksum that parts do not add up to',
      { ChecksumAlgorithm: 'SHA1', ChecksumType: 'FULL_OBJECT' },
      'InvalidRequest',
    ],
    ['an algorithm that only S3 has', { ChecksumAlgorithm: 'CRC64NVME' }, 'NotImplemented'],
  ] as const)('does not start an upload with %s', async (_what, start, name) => {
    const command = new CreateMultipartUploadCommand({ Bucket, Key: 'unstarted', ...start });

    await expect(aws.s3().send(command)).rejects.toMatchObject({ name });
  });

  it('has had no internal error', () => {
    expect(aws.errors).toEqual([]);
  });
});
