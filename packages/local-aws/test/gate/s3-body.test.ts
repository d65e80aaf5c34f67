import { createHmac, createSecretKey } from 'node:crypto';
import { Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeCredentials } from '../../src/iam/credentials.ts';
import type { Verified } from '../../src/iam/signature.ts';
import { openBody } from '../../src/s3/body.ts';
import { ForwardedRequest } from '../../src/wire/forwarded-request.ts';
import { nothing } from './fixture.ts';

/** The example of the S3 documentation: 66560 bytes in two chunks and the empty one. */
const exampleKey = ['20130524', 'us-east-1', 's3', 'aws4_request'].reduce<Buffer>(
  (key, part) => createHmac('sha256', key).update(part).digest(),
  Buffer.from('AWS4wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
);
const exampleChunks = [
  `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${'a'.repeat(65536)}\r\n`,
  `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${'a'.repeat(1024)}\r\n`,
  '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n',
];

const verified = (payloadHash: string): Verified => ({
  credentials: makeCredentials('master secret', nothing),
  payloadHash,
  presigned: false,
  signature: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  signingKey: createSecretKey(exampleKey),
  scope: '20130524/us-east-1/s3/aws4_request',
  timestamp: '20130524T000000Z',
});

async function read(content: string, payloadHash: string, headers: Record<string, string>): Promise<string> {
  const original = { method: 'PUT', socket: new Socket() };
  const request = new ForwardedRequest(original, '/', headers, Buffer.from(content));
  const chunks: Buffer[] = [];
  for await (const chunk of openBody(request, verified(payloadHash)).body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a body in signed chunks', () => {
  const signedChunks = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
  const length = { 'x-amz-decoded-content-length': '66560' };

  it('is decoded when every chunk is signed after the one before', async () => {
    expect(await read(exampleChunks.join(''), signedChunks, length)).toBe('a'.repeat(66560));
  });

  it.each([
    ['a changed byte', exampleChunks.join('').replace('aaa', 'aab'), 'SignatureDoesNotMatch'],
    ['a chunk left out', `${exampleChunks[0]}${exampleChunks[2]}`, 'SignatureDoesNotMatch'],
    ['no last chunk', `${exampleChunks[0]}${exampleChunks[1]}`, 'IncompleteBody'],
    ['no sizes', 'hello', 'IncompleteBody'],
    ['a line without end', 'f'.repeat(20_000), 'IncompleteBody'],
  ])('fails for %s', async (_what, content, code) => {
    await expect(read(content, signedChunks, length)).rejects.toMatchObject({ code });
  });
});

describe('a body in chunks with a trailing checksum', () => {
  const unsignedTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
  const checksum = (text: string) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(crc32(text));
    return bytes.toString('base64');
  };
  const headers = { 'x-amz-decoded-content-length': '5', 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const body = (trailer: string) => `5\r\nhello\r\n0\r\n${trailer}\r\n`;

  it('is decoded when the checksum is that of the content', async () => {
    const content = body(`x-amz-checksum-crc32:${checksum('hello')}\r\n`);

    expect(await read(content, unsignedTrailer, headers)).toBe('hello');
  });

  it.each([
    ['another checksum', body(`x-amz-checksum-crc32:${checksum('other')}\r\n`), 'BadDigest'],
    ['no checksum though announced', body(''), 'MalformedTrailerError'],
    [
      'a checksum that was not announced',
      body(`x-amz-checksum-sha1:${checksum('hello')}\r\n`),
      'MalformedTrailerError',
    ],
    ['a checksum that is none', body('x-amz-checksum-crc32:hello\r\n'), 'InvalidRequest'],
    [
      'another length than announced',
      `4\r\nhell\r\n0\r\nx-amz-checksum-crc32:${checksum('hell')}\r\n\r\n`,
      'IncompleteBody',
    ],
  ])('fails for %s', async (_what, content, code) => {
    await expect(read(content, unsignedTrailer, headers)).rejects.toMatchObject({ code });
  });
});

describe('a plain body', () => {
  it('is read as it is when it has no signed hash', async () => {
    expect(await read('hello', 'UNSIGNED-PAYLOAD', { 'content-length': '5' })).toBe('hello');
  });

  it.each([
    ['is not of the signed hash', 'a'.repeat(64), { 'content-length': '5' }, 'XAmzContentSHA256Mismatch'],
    [
      'has another MD5',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
      'BadDigest',
    ],
    ['has what is no MD5', 'UNSIGNED-PAYLOAD', { 'content-length': '5', 'content-md5': 'AAAA' }, 'InvalidDigest'],
    [
      'has another checksum',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'x-amz-checksum-sha1': 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' },
      'BadDigest',
    ],
    [
      'has a checksum of another length',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'x-amz-checksum-sha256': 'AAAAAA==' },
      'InvalidRequest',
    ],
    [
      'has two checksums',
      'UNSIGNED-PAYLOAD',
      {
        'content-length': '5',
        'x-amz-checksum-crc32': 'NhCmhg==',
        'x-amz-checksum-sha1': 'qvTGHdzF6KLavt4PO0gs2a6pQ00=',
      },
      'InvalidRequest',
    ],
    [
      'names an algorithm and has no checksum of it',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'x-amz-sdk-checksum-algorithm': 'CRC32' },
      'InvalidRequest',
    ],
    [
      'has a checksum that S3 does not know',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'x-amz-checksum-crc16': 'AAA=' },
      'InvalidRequest',
    ],
    [
      'has a checksum that only S3 computes',
      'UNSIGNED-PAYLOAD',
      { 'content-length': '5', 'x-amz-checksum-xxhash3': 'AAAAAAAAAAA=' },
      'NotImplemented',
    ],
    ['is shorter than announced', 'UNSIGNED-PAYLOAD', { 'content-length': '6' }, 'IncompleteBody'],
    ['has no length', 'UNSIGNED-PAYLOAD', { 'transfer-encoding': 'chunked' }, 'MissingContentLength'],
  ])('fails when it %s', async (_what, hash, headers, code) => {
    await expect(read('hello', hash, headers)).rejects.toMatchObject({ code });
  });
});
