import { connect } from 'node:net';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { createPresignedPost, type PresignedPostOptions } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { allow, bucketArn, type LocalAws, role, startLocalAws } from './fixture.ts';

const Bucket = 'lathe-files';
const uploader = role('Uploader', [allow(['s3:PutObject'], [`${bucketArn}/uploads/*`])]);
/** S3 replaces it by the name of the file. */
const filenameVariable = '$'.concat('{filename}');
const hour = 60 * 60 * 1000;

describe('presigned requests', () => {
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws({ roles: [uploader] });
  });
  afterAll(() => aws[Symbol.asyncDispose]());
  afterEach(() => vi.useRealTimers());

  const read = (Key: string) => aws.s3().send(new GetObjectCommand({ Bucket, Key }));
  const text = async (Key: string) => (await read(Key)).Body?.transformToString();
  const isAbsent = (Key: string) => expect(read(Key)).rejects.toMatchObject({ name: 'NoSuchKey' });

  const presign = (options: Partial<PresignedPostOptions> = {}, signer = uploader) =>
    createPresignedPost(aws.s3(signer), { Bucket, Key: 'uploads/file', ...options });

  function formOf(post: { fields: Record<string, string> }, file?: Blob, name = 'my file.txt'): FormData {
    const form = new FormData();
    for (const [field, value] of Object.entries(post.fields)) form.append(field, value);
    if (file) form.append('file', file, name);
    return form;
  }

  const send = (url: string, body: FormData, init: RequestInit = {}) =>
    fetch(url, { method: 'POST', body, redirect: 'manual', ...init });

  describe('GET', () => {
    beforeAll(async () => {
      await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'got', Body: '0123456789', ContentType: 'text/css' }));
    });

    it('responds with the file name and type that were signed', async () => {
      const command = new GetObjectCommand({
        Bucket,
        Key: 'got',
        ResponseContentDisposition: `attachment; filename="a b.pdf"; filename*=UTF-8''%C3%A4.pdf`,
        ResponseContentType: 'application/pdf',
      });

      const response = await fetch(await getSignedUrl(aws.s3(), command));

      expect(response.status).toBe(200);
      expect(response.headers.get('content-disposition')).toBe(
        `attachment; filename="a b.pdf"; filename*=UTF-8''%C3%A4.pdf`,
      );
      expect(response.headers.get('content-type')).toBe('application/pdf');
      expect(response.headers.get('content-length')).toBe('10');
      expect(await response.text()).toBe('0123456789');
    });

    it('responds with ranges', async () => {
      const url = await getSignedUrl(aws.s3(), new GetObjectCommand({ Bucket, Key: 'got' }));

      const response = await fetch(url, { headers: { range: 'bytes=-4' } });

      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe('bytes 6-9/10');
      expect(await response.text()).toBe('6789');
    });

    it('refuses a URL for another key, after its expiry, or with unsigned parameters', async () => {
      const url = await getSignedUrl(aws.s3(), new GetObjectCommand({ Bucket, Key: 'got' }), { expiresIn: 60 });
      const late = await getSignedUrl(aws.s3(), new GetObjectCommand({ Bucket, Key: 'got' }), {
        expiresIn: 60,
        signingDate: new Date(Date.now() - hour),
      });

      const other = await fetch(url.replace('/got', '/got2'));
      const expired = await fetch(late);
      const extended = await fetch(late.replace('X-Amz-Expires=60', 'X-Amz-Expires=6000'));
      const unsigned = await fetch(url, { headers: { 'x-amz-copy-source': 'a/b' } });

      expect([other.status, expired.status, extended.status, unsigned.status]).toEqual([403, 403, 403, 403]);
      expect(await other.text()).toContain('<Code>SignatureDoesNotMatch</Code>');
      expect(await expired.text()).toContain('Request has expired');
    });
  });

  describe('POST', () => {
    it('stores the file under its base name with the fields and the file name', async () => {
      const post = await presign({
        Key: `uploads/${filenameVariable}`,
        Fields: { 'content-type': 'text/plain' },
        Conditions: [
          ['starts-with', '$x-amz-meta-filename', ''],
          ['content-length-range', 1, 100],
        ],
      });
      const fields = { ...post.fields, 'x-amz-meta-filename': filenameVariable };

      const response = await send(post.url, formOf({ fields }, new Blob(['hello']), 'C:\\dir\\Ünï cödé.txt'));

      expect(response.status).toBe(204);
      expect(response.headers.get('etag')).toBe('"5d41402abc4b2a76b9719d911017c592"');
      const stored = await read('uploads/Ünï cödé.txt');
      expect(await stored.Body?.transformToString()).toBe('hello');
      expect(stored.ContentType).toBe('text/plain');
      expect(stored.Metadata).toEqual({
        filename: `=?UTF-8?B?${Buffer.from('Ünï cödé.txt').toString('base64')}?=`,
      });
    });

    const refusals: [string, () => Promise<[string, FormData]>, number, string][] = [
      [
        'too large a file',
        async () => {
          const post = await presign({ Conditions: [['content-length-range', 0, 4]] });
          return [post.url, formOf(post, new Blob(['hello']))];
        },
        400,
        'EntityTooLarge',
      ],
      [
        'too small a file',
        async () => {
          const post = await presign({ Conditions: [['content-length-range', 6, 10]] });
          return [post.url, formOf(post, new Blob(['hello']))];
        },
        400,
        'EntityTooSmall',
      ],
      [
        'another key',
        async () => {
          const post = await presign();
          return [post.url, formOf({ fields: { ...post.fields, key: 'uploads/other' } }, new Blob(['x']))];
        },
        403,
        'Policy Condition failed',
      ],
      [
        'a field that the policy does not mention',
        async () => {
          const post = await presign();
          return [post.url, formOf({ fields: { ...post.fields, 'x-amz-meta-extra': '1' } }, new Blob(['x']))];
        },
        403,
        'Extra input fields: x-amz-meta-extra',
      ],
      [
        'a changed policy',
        async () => {
          const post = await presign();
          const policy = Buffer.from('{"expiration":"2999-01-01T00:00:00Z","conditions":[]}').toString('base64');
          return [post.url, formOf({ fields: { ...post.fields, Policy: policy } }, new Blob(['x']))];
        },
        403,
        'SignatureDoesNotMatch',
      ],
      [
        'an unknown key id',
        async () => {
          const post = await presign();
          const credential = (post.fields['X-Amz-Credential'] ?? '').replace(/^[^/]+/, 'ASIAUNKNOWN');
          return [post.url, formOf({ fields: { ...post.fields, 'X-Amz-Credential': credential } }, new Blob(['x']))];
        },
        403,
        'InvalidAccessKeyId',
      ],
      [
        'no session token',
        async () => {
          const post = await presign();
          const fields = { ...post.fields };
          delete fields['X-Amz-Security-Token'];
          return [post.url, formOf({ fields }, new Blob(['x']))];
        },
        400,
        'InvalidToken',
      ],
      [
        'no policy',
        async () => {
          const post = await presign();
          return [post.url, formOf({ fields: { key: 'uploads/file' } }, new Blob(['x']))];
        },
        403,
        'AccessDenied',
      ],
      [
        'no signature',
        async () => {
          const post = await presign();
          const fields = { ...post.fields };
          delete fields['X-Amz-Signature'];
          return [post.url, formOf({ fields }, new Blob(['x']))];
        },
        400,
        "must contain a field named 'x-amz-signature'",
      ],
      [
        'more fields ahead of the file than S3 takes, in parts that have file names',
        async () => {
          const post = await presign();
          const form = new FormData();
          for (const name of ['x-ignore-a', 'x-ignore-b'])
            form.append(name, new Blob(['x'.repeat(12_000)]), `${name}.txt`);
          for (const [name, value] of formOf(post, new Blob(['x']))) form.append(name, value);
          return [post.url, form];
        },
        400,
        'MaxPostPreDataLengthExceeded',
      ],
      [
        'a field that would do what is not implemented',
        async () => {
          const post = await presign({ Fields: { 'x-amz-storage-class': 'GLACIER' } });
          return [post.url, formOf(post, new Blob(['x']))];
        },
        501,
        'NotImplemented',
      ],
      [
        'a role that may not put the key',
        async () => {
          const post = await presign({ Key: 'elsewhere/file' });
          return [post.url, formOf(post, new Blob(['x']))];
        },
        403,
        'is not authorized to perform: s3:PutObject',
      ],
      [
        'no file',
        async () => {
          const post = await presign();
          return [post.url, formOf(post)];
        },
        400,
        'POST requires exactly one file upload per request',
      ],
      [
        'two files',
        async () => {
          const post = await presign();
          const form = formOf(post, new Blob(['x']));
          form.append('file', new Blob(['y']), 'second');
          return [post.url, form];
        },
        400,
        'POST requires exactly one file upload per request',
      ],
      [
        'a key that climbs out',
        async () => {
          const post = await presign({ Key: `uploads/${filenameVariable}` });
          return [post.url, formOf(post, new Blob(['x']), '..')];
        },
        400,
        'InvalidURI',
      ],
    ];

    it.each(refusals)('refuses %s and stores nothing', async (_what, make, status, message) => {
      const [url, form] = await make();

      const response = await send(url, form);

      expect(response.status).toBe(status);
      expect(await response.text()).toContain(message);
      await isAbsent('uploads/file');
    });

    it('accepts fields that come with file names, as some clients send them', async () => {
      const post = await presign({ Key: 'uploads/named' });
      const form = new FormData();
      for (const [name, value] of Object.entries(post.fields)) form.append(name, new Blob([value]), name);
      form.append('file', new Blob(['hello']), 'file.txt');

      const response = await send(post.url, form);

      expect(response.status).toBe(204);
      expect(await (await read('uploads/named')).Body?.transformToString()).toBe('hello');
    });

    it('refuses an expired form', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * hour });
      const post = await presign({ Expires: 60 });
      vi.useRealTimers();

      const response = await send(post.url, formOf(post, new Blob(['x'])));

      expect(response.status).toBe(403);
      expect(await response.text()).toContain('Invalid according to Policy: Policy expired.');
    });

    it('accepts a file of exactly the maximum and the minimum size', async () => {
      const post = await presign({ Key: 'uploads/exact', Conditions: [['content-length-range', 5, 5]] });

      const response = await send(post.url, formOf(post, new Blob(['hello'])));

      expect(response.status).toBe(204);
      expect(await text('uploads/exact')).toBe('hello');
    });

    it('accepts fields that begin with x-ignore-', async () => {
      const post = await presign({ Key: 'uploads/ignored' });

      const response = await send(
        post.url,
        formOf({ fields: { ...post.fields, 'x-ignore-me': '1' } }, new Blob(['hello'])),
      );

      expect(response.status).toBe(204);
    });

    it('responds with 201 and a document or 200 without, as requested by the form', async () => {
      const created = await presign({ Key: 'uploads/201', Fields: { success_action_status: '201' } });
      const ok = await presign({ Key: 'uploads/200', Fields: { success_action_status: '200' } });

      const first = await send(created.url, formOf(created, new Blob(['x'])));
      const second = await send(ok.url, formOf(ok, new Blob(['x'])));

      expect(first.status).toBe(201);
      expect(await first.text()).toMatch(/<Key>uploads\/201<\/Key>/);
      expect(second.status).toBe(200);
    });

    it('redirects to the URL in the form', async () => {
      const post = await presign({
        Key: 'uploads/redirected',
        Fields: { success_action_redirect: 'https://page.example/done?a=1' },
      });

      const response = await send(post.url, formOf(post, new Blob(['x'])));

      expect(response.status).toBe(303);
      const location = new URL(response.headers.get('location') ?? '');
      expect(Object.fromEntries(location.searchParams)).toMatchObject({
        a: '1',
        bucket: Bucket,
        key: 'uploads/redirected',
      });
    });

    it('returns non-ASCII metadata in the encoding of S3', async () => {
      const post = await presign({ Key: 'uploads/meta', Fields: { 'x-amz-meta-name': 'naïve' } });

      await send(post.url, formOf(post, new Blob(['x'])));

      const head = await aws.s3().send(new HeadObjectCommand({ Bucket, Key: 'uploads/meta' }));
      expect(head.Metadata).toEqual({ name: `=?UTF-8?B?${Buffer.from('naïve').toString('base64')}?=` });
    });

    it('notifies the queue of a posted object', async () => {
      const queue = aws.stack.queues.find(({ name }) => name === 'uploads');
      const post = await presign({ Key: 'uploads/notified' });
      await send(post.url, formOf(post, new Blob(['x'])));
      const names: string[] = [];

      for (let batch = 0; batch < 5; batch++) {
        const { Messages = [] } = await aws
          .sqs()
          .send(new ReceiveMessageCommand({ QueueUrl: queue?.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }));
        for (const { Body = '' } of Messages) {
          const [record] = JSON.parse(Body).Records;
          names.push(`${record.eventName} ${record.s3.object.key}`);
        }
      }

      expect(names).toContain('ObjectCreated:Post uploads/notified');
    });

    it('stores nothing if the client disconnects during the upload', async () => {
      const post = await presign({ Key: 'uploads/broken' });
      const { url: formUrl } = { url: new URL(post.url) };
      const encoded = new Response(formOf(post, new Blob(['x'.repeat(100_000)])));
      const body = Buffer.from(await encoded.arrayBuffer());
      const socket = connect(Number(formUrl.port), formUrl.hostname);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(
        `POST ${formUrl.pathname} HTTP/1.1\r\nhost: ${formUrl.host}\r\ncontent-type: ${encoded.headers.get('content-type')}\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      socket.write(body.subarray(0, 50_000));
      socket.end();
      socket.resume();
      await closed;

      await isAbsent('uploads/broken');
    });
  });

  describe('from a page of another origin', () => {
    const preflight = (origin: string, method: string) =>
      fetch(`${aws.origin}/_aws/s3/${Bucket}`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': 'x-amz-date, content-type',
        },
      });

    it('responds to a preflight by the rules of the bucket', async () => {
      const allowed = await preflight('https://page.example', 'POST');
      const origin = await preflight('https://other.example', 'POST');
      const method = await preflight('https://page.example', 'DELETE');

      expect(allowed.status).toBe(200);
      expect(allowed.headers.get('access-control-allow-origin')).toBe('https://page.example');
      expect(allowed.headers.get('access-control-allow-headers')).toBe('x-amz-date, content-type');
      expect(allowed.headers.get('access-control-max-age')).toBe('600');
      expect([origin.status, method.status]).toEqual([403, 403]);
      const none = await fetch(`${aws.origin}/_aws/s3/${Bucket}`, { method: 'OPTIONS' });
      expect([none.status, await none.text()]).toEqual([400, expect.stringContaining('<Code>BadRequest</Code>')]);
    });

    it('lets the page read successes and refusals', async () => {
      const post = await presign({ Key: 'uploads/cors' });
      const headers = { origin: 'https://page.example' };

      const stored = await send(post.url, formOf(post, new Blob(['x'])), { headers });
      const refused = await send(post.url, formOf({ fields: {} }, new Blob(['x'])), { headers });

      expect(stored.headers.get('access-control-allow-origin')).toBe('https://page.example');
      expect(stored.headers.get('access-control-expose-headers')).toBe('ETag');
      expect(refused.headers.get('access-control-allow-origin')).toBe('https://page.example');
    });
  });

  it('has had no internal error', () => {
    expect(aws.errors).toEqual([]);
  });
});
