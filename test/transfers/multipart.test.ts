import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { multipartUpload } from '../../functions/transfers/multipart.ts';
import { storeInParts } from '../../functions/transfers/parts.ts';
import { everything, type LocalAws, startLocalAws } from '../../packages/local-aws/test/gate/fixture.ts';

const partBytes = 5 * 1024 * 1024;

describe('an upload of more than one part', () => {
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws();
  });
  afterAll(() => aws[Symbol.asyncDispose]());

  it.each([
    ['to S3, which checks each part', {}, 'COMPOSITE'],
    [
      'to a store that knows no checksums',
      { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
      undefined,
    ],
  ] satisfies [string, S3ClientConfig, string | undefined][])('is completed %s', async (_where, config, type) => {
    const client = new S3Client({
      endpoint: `${aws.origin}/_aws/s3`,
      region: aws.stack.region,
      credentials: aws.credentials(everything),
      ...config,
    });
    const target = { Bucket: 'lathe-files', Key: 'large' };
    const content = randomBytes(partBytes + 1);
    const { signal } = new AbortController();
    const upload = multipartUpload(client, { ...target, ContentType: 'video/mp4' }, signal);

    await storeInParts(upload, Readable.from([content]), { partBytes, partsAtOnce: 2, signal });

    const found = await client.send(new GetObjectCommand(target));
    expect(Buffer.from((await found.Body?.transformToByteArray()) ?? []).equals(content)).toBe(true);
    expect(found.ContentType).toBe('video/mp4');
    const { ChecksumType } = await client.send(new HeadObjectCommand({ ...target, ChecksumMode: 'ENABLED' }));
    expect(ChecksumType).toBe(type);
  });
});
