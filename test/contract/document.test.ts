import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiDocument, type Request } from '../support/api-document.ts';
import { call, importedTask, unknownId } from './api.ts';

let api: ApiDocument;
beforeAll(async () => {
  api = new ApiDocument((await call('/v1/openapi.json', { as: 'nobody' })).body, call);
});

const post = (path: string) => `POST /v1/process/${path}`;
const input = unknownId;
const objstore = { bucket: 'b', region: 'r' };
const blobstore = { container: 'c', storage_account: 'abc' };
const sftp = { host: 'h', username: 'u' };
const convert = { input, output_format: 'png' };
const job = (tag: string, task: object) => ({ body: { tag, tasks: { a: task } } });

/** What a fuzzer found that an earlier document allowed and the service refuses, and their like. */
const refused: [string, string, Request][] = [
  ['an unknown include of a list of jobs', 'GET /v1/process/jobs', { query: { include: 'üë' } }],
  ['an unknown include of a job', 'GET /v1/process/jobs/{jobId}', { path: { jobId: input }, query: { include: 'x' } }],
  ['an unknown include of a list of tasks', 'GET /v1/process/tasks', { query: { include: 'payload,x' } }],
  [
    'an unknown include of a task',
    'GET /v1/process/tasks/{taskId}',
    { path: { taskId: input }, query: { include: 'é' } },
  ],
  ['a webhook at no URL', 'POST /v1/account/webhooks', { body: { url: '0' } }],
  ['a webhook at a URL with a password', 'POST /v1/account/webhooks', { body: { url: 'https://a:b@c.d/' } }],
  ['a token without a body', 'POST /v1/account/token', {}],
  ['an input that is no id', post('convert'), { body: { ...convert, input: '0' } }],
  ['a format that nobody writes', post('convert'), { body: { ...convert, output_format: '0' } }],
  ['a format that nobody reads', post('compress'), { body: { input, input_format: '0' } }],
  ['an input of crop that is no id', post('crop'), { body: { input: '0' } }],
  ['an output of trim that is none', post('trim'), { body: { input, output_format: '0' } }],
  ['an option that nobody knows', post('convert'), { body: { ...convert, input_format: 'jpg', options: { x: 1 } } }],
  [
    'an option outside its range',
    post('convert'),
    { body: { ...convert, input_format: 'jpg', options: { width: -1 } } },
  ],
  [
    '101 options',
    post('convert'),
    { body: { ...convert, options: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, 1])) } },
  ],
  ['a merge of one', post('merge'), { body: { input: [input], output_format: 'pdf' } }],
  ['a merge of a name', post('merge'), { body: { input: '0', output_format: 'pdf' } }],
  ['an export of no id', post('export/url'), { body: { input: ['0'] } }],
  ['an export of neither key', post('export/objstore_a'), { body: { input, ...objstore } }],
  ['an export of both keys', post('export/objstore_a'), { body: { input, ...objstore, key: 'a', key_prefix: 'b' } }],
  ['half of the credentials', post('import/objstore_a'), { body: { ...objstore, key: 'a', access_key_id: 'a' } }],
  ['an endpoint that is no URL', post('import/objstore_a'), { body: { ...objstore, key: 'a', endpoint: '0' } }],
  ['a prefix outside a job', post('import/objstore_a'), { body: { ...objstore, key_prefix: 'a' } }],
  [
    'both objects',
    post('export/objstore_b'),
    { body: { input, project_id: 'p', bucket: 'b', client_email: 'c', private_key: 'k', file: 'a', file_prefix: 'b' } },
  ],
  ['no credentials for a blob', post('import/blobstore'), { body: { ...blobstore, blob: 'b' } }],
  [
    'both blobs',
    post('export/blobstore'),
    { body: { input, ...blobstore, sas_token: 's', blob: 'a', blob_prefix: 'b' } },
  ],
  ['no password', post('import/sftp'), { body: { ...sftp, file_string: 'f' } }],
  ['both paths', post('export/sftp'), { body: { input, ...sftp, password: 'p', file_string: 'a', path_prefix: 'b' } }],
  ['port 65536', post('import/sftp'), { body: { ...sftp, password: 'p', file_string: 'f', port: '65536' } }],
  ['content that is no data URI', post('import/base64'), { body: { file: '0', filename: '0' } }],
  ['content that is empty', post('import/base64'), { body: { file: 'data:;base64,', filename: '0' } }],
  ['an import from no URL', post('import/url'), { body: { url: '0' } }],
  ['a header of the transfer', post('import/url'), { body: { url: 'https://example.com/', headers: { hOsT: 'a' } } }],
  [
    '51 headers',
    post('import/url'),
    {
      body: {
        url: 'https://example.com/',
        headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`h${i}`, ''])),
      },
    },
  ],
  ['a page at no URL', post('import/webpage'), { body: { url: 'ftp://example.com/' } }],
  ['an empty idempotency key', post('import/upload'), { headers: { 'Idempotency-Key': '' } }],
  ['a job without tasks', post('jobs'), { body: { tasks: {} } }],
  [
    'a job with a webhook at no URL',
    post('jobs'),
    { body: { tasks: { a: { operation: 'import/upload' } }, webhook_url: '0' } },
  ],
  ['a task with a bad name', post('jobs'), { body: { tasks: { 'a b': { operation: 'import/upload' } } } }],
  ['a task that is no object', post('jobs'), job('', [])],
  ['a task of an unknown operation', post('jobs'), job('', { operation: 'explode' })],
  ['a task without its fields', post('jobs'), job('', { operation: 'import/url' })],
  ['a task with an unknown format', post('jobs'), job('', { operation: 'convert', input: 'a', output_format: '0' })],
];

describe('The document does not allow', () => {
  it.each(refused)('%s', async (_what, name, request) => {
    const operation = api.operation(name);

    const { response, problems } = await api.judge(operation, request);

    expect({ status: response.status, problems }).toEqual({ status: 400, problems: [] });
    expect(api.fits(operation, request)).toBe(false);
  });
});

describe('The document names as reason what no schema can say', () => {
  it.each<[string, string, Request]>([
    ['invalid_input', post('convert'), { body: convert }],
    ['invalid_input', post('jobs'), job('', { operation: 'convert', input: 'b', output_format: 'png' })],
    [
      'unsupported_format',
      'GET /v1/query/options/{operation}',
      { path: { operation: 'convert' }, query: { input_format: 'png', output_format: 'mp3' } },
    ],
    [
      'conflicting_parameters',
      'GET /v1/query/formats/{operation}',
      { path: { operation: 'convert' }, query: { input_format: 'png', output_format: 'jpg' } },
    ],
    ['conflicting_parameters', 'GET /v1/account/usage', { query: { from: '2026-11-02', to: '2026-11-01' } }],
    ['conflicting_parameters', 'GET /v1/account/usage', { query: { from: '9999-01-01' } }],
    ['conflicting_parameters', 'GET /v1/account/usage', { query: { to: '2026-01-01' } }],
    ['invalid_url', post('import/url'), { body: { url: 'https://example.com:99999/' } }],
    ['address_refused', 'POST /v1/account/webhooks', { body: { url: 'http://169.254.169.254/' } }],
  ])('%s: %s', async (reason, name, request) => {
    const operation = api.operation(name);

    const { response, problems } = await api.judge(operation, request);

    expect({ status: response.status, reason: response.body.reason, problems }).toEqual({
      status: 400,
      reason,
      problems: [],
    });
    expect(api.fits(operation, request)).toBe(true);
  });

  it.each(['{"tag":"","__proto__":1}', '{"a":[{"constructor":{"prototype":1}}]}'])(
    'forbidden_name: %s',
    async (raw) => {
      const { status, body } = await call('/v1/process/jobs', { raw });
      expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'forbidden_name' });
    },
  );

  it('invalid_options: options of another pair', async () => {
    const body = { input: await importedTask(), output_format: 'jpg', options: { audio_bitrate: 128 } };
    const { response } = await api.judge(api.operation(post('convert')), { body });
    expect(response.body).toMatchObject({ errorCode: 'bad_request', reason: 'invalid_options' });
  });
});

describe('The document has the statuses that occur', () => {
  it.each<[number, string, () => Promise<Request>]>([
    [404, 'POST /v1/account/token', async () => ({ body: { job: unknownId } })],
    [409, 'POST /v1/process/tasks/{taskId}/cancel', async () => ({ path: { taskId: await importedTask() } })],
    [404, 'GET /v1/query/formats/{operation}', async () => ({ path: { operation: 'explode' } })],
    [413, 'GET /v1/process/jobs', async () => ({ query: { tag: 'x'.repeat(8_200) } })],
    [431, 'GET /v1/process/jobs', async () => ({ headers: { 'x-long': 'x'.repeat(10_300) } })],
    [413, post('import/base64'), async () => ({ body: { file: 'A'.repeat(5_600_000), filename: 'a' } })],
    [413, post('import/base64'), async () => ({ body: { file: 'A'.repeat(7_000_000), filename: 'a' } })],
    [413, post('import/base64'), async () => ({ body: { file: 'A'.repeat(11_000_000), filename: 'a' } })],
  ])('%s on %s', async (status, name, prepare) => {
    const { response, problems } = await api.judge(api.operation(name), await prepare());
    expect({ status: response.status, problems }).toEqual({ status, problems: [] });
  });
});

describe('Requests generated from the document', () => {
  /** A wait takes 25 seconds; the others call addresses that a generator made up, and are left to npm run test:fuzz. */
  const leftOut = /\/wait$|\/import\/(?!upload|base64)|^POST .*\/(?:jobs|webhooks)$/;

  it('are accepted, or refused for a documented reason, with the documented responses', async () => {
    const operations = api.operations.filter(({ name }) => !leftOut.test(name));
    const generated = operations.flatMap((operation) =>
      fc.sample(api.requests(operation), { numRuns: 8, seed: 20_261 }).map((request) => ({ operation, request })),
    );
    // Generating takes long on a busy machine; the client is to notice which connections were closed meanwhile.
    await new Promise(setImmediate);
    const problems: string[] = [];
    for (const { operation, request } of generated) {
      const { response, problems: found } = await api.judge(operation, request);
      for (const problem of found)
        problems.push(
          `${operation.name} ${JSON.stringify(request).slice(0, 500)} → ${response.status} ${JSON.stringify(response.body)?.slice(0, 300)}: ${problem}`,
        );
    }
    const fitting = generated.filter(({ operation, request }) => api.fits(operation, request));

    expect(problems.slice(0, 10)).toEqual([]);
    expect(generated.length).toBeGreaterThan(200);
    expect(fitting.length).toBeGreaterThan(generated.length / 2);
  }, 300_000);
});
