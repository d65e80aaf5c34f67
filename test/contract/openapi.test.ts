import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, call } from './api.ts';

let document: Body;
beforeAll(async () => {
  document = (await call('/v1/openapi.json', { as: 'nobody' })).body;
});

interface Operation {
  path: string;
  method: string;
  parameters: Body[];
  body: Body;
}

function operations(): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Body).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      parameters: (operation as Body).parameters ?? [],
      body: (operation as Body).requestBody?.content['application/json'].schema,
    })),
  );
}

describe('The OpenAPI document', () => {
  it('is version 3.1 and describes version 1.0.5 of the interface', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.5');
  });

  it.each([
    '/v1/query/formats',
    '/v1/query/formats/{operation}',
    '/v1/query/options/{operation}',
    '/v1/process/tasks',
    '/v1/process/tasks/{taskId}',
    '/v1/process/tasks/{taskId}/cancel',
    '/v1/process/jobs',
    '/v1/process/jobs/{jobId}',
    ...['upload', 'url', 'objstore_b', 'blobstore', 'objstore_a', 'sftp', 'base64', 'webpage'].map(
      (source) => `/v1/process/import/${source}`,
    ),
    ...['convert', 'compress', 'merge', 'crop', 'trim'].map((operation) => `/v1/process/${operation}`),
    '/v1/process/export/url',
  ])('describes %s', (path) => expect(document.paths).toHaveProperty([path]));
});

/** Values that are wrong for any field, and some that are right for some. */
const anything = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      '',
      ' ',
      '\u0000',
      '\ud800',
      '💥',
      '../..',
      '__proto__',
      '%',
      [],
      {},
      [[]],
      { a: { b: 1 } },
      'x'.repeat(5_000),
      '6af9126cc0830000f25c62d1',
      'http://[::1',
      'data:,x',
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 50 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
);

function malformed(operation: Operation) {
  const names = [...Object.keys(operation.body?.properties ?? {}), 'tasks', 'input', 'options', 'nonsense'];
  const body = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .dictionary(fc.constantFrom(...names), anything, { maxKeys: 6 })
        .map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
    { weight: 1, arbitrary: anything.map((value) => JSON.stringify(value) ?? '') },
  );
  const query = fc.dictionary(
    fc.constantFrom(
      ...operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      'x',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
    { maxKeys: 3 },
  );
  const id = fc.oneof(
    fc.constant('6af9126cc0830000f25c62d1'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  );
  return fc.record({ body, query, id });
}

describe('Bad input costs a client error, never a 500', () => {
  // All 5,200 of them are `npm run test:contract`.
  const requests = Number(process.env.LATHE_TEST_REQUESTS ?? 600);

  it(`for ${requests} malformed requests over every endpoint`, { timeout: 600_000 }, async () => {
    const all = operations();
    const each = Math.ceil(requests / all.length);
    const unexpected: string[] = [];
    let sent = 0;
    for (const operation of all) {
      // A wait is answered after 25 seconds where it is not refused, which it is for every id here.
      const samples = fc.sample(malformed(operation), { numRuns: each, seed: 20_261 });
      // Each lane has the service start another environment of every function.
      const lanes = [0, 1].map((lane) => samples.filter((_sample, index) => index % 2 === lane));
      await Promise.all(
        lanes.map(async (lane) => {
          for (const { body, query, id } of lane) {
            const search = new URLSearchParams(query).toString();
            const path = operation.path.replace(/\{\w+\}/g, () =>
              encodeURIComponent(id.toWellFormed()).replace(/^\.{1,2}$/, '%2E'),
            );
            const answer = await call(search ? `${path}?${search}` : path, {
              method: operation.method,
              ...(operation.method === 'GET' ? {} : { raw: body.toWellFormed() }),
            });
            sent += 1;
            if (answer.status >= 500)
              unexpected.push(
                `${operation.method} ${path}?${search} ${body.slice(0, 200)} → ${answer.status} ${answer.text.slice(0, 200)}`,
              );
            else if (answer.status >= 400 && !(answer.body?.errorCode && answer.body?.msg))
              unexpected.push(`${operation.method} ${path} → ${answer.status} ${answer.text.slice(0, 200)}`);
          }
        }),
      );
    }
    expect(unexpected.slice(0, 10)).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(requests);
  });
});
