import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type Body, call, createJob, importedTask, importPng, madeKey, unknownId } from './api.ts';

interface Row {
  method: string;
  path: string;
  scope: string;
}

/** Every endpoint that takes a key, as the service itself describes them. */
let rows: Row[];
/** Keys that must be refused, by what is wrong with them. */
let refused: [what: string, key: string | undefined][];
/** For each scope a key that has all the others. */
let without: Record<string, string>;
/** Resources of the user, by the names that paths have for them. */
let owned: Record<string, string>;

beforeAll(async () => {
  const { body: document } = await call('/v1/openapi.json', { as: 'nobody' });
  rows = Object.entries<Body>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).flatMap(([method, { security }]) =>
      security.map(({ key: [scope] }: Body) => ({ method: method.toUpperCase(), path, scope })),
    ),
  );
  const [deleted, expiring, kept] = await Promise.all([
    madeKey({ scopes: ['read', 'process', 'account'] }),
    madeKey({ scopes: ['read', 'process', 'account'], expires_in: 1 }),
    madeKey({ scopes: ['read'] }),
  ]);
  expect((await call(`/v1/account/keys/${deleted.id}`, { method: 'DELETE' })).status).toBe(200);
  await until('the key has expired', async () => Date.now() > Date.parse(expiring.expiresAt) || undefined);
  refused = [
    ['no key', undefined],
    ['an unknown key', `lathe_${'x'.repeat(43)}`],
    ['a deleted key', deleted.key],
    ['an expired key', expiring.key],
  ];
  const [noRead, noProcess, noAccount] = await Promise.all([
    madeKey({ scopes: ['process', 'account'] }),
    madeKey({ scopes: ['read', 'account'] }),
    madeKey({ scopes: ['read', 'process'] }),
  ]);
  without = { read: noRead.key, process: noProcess.key, account: noAccount.key };
  const webhook = await call('/v1/account/webhooks', { body: { url: 'https://example.com/hook' } });
  owned = {
    taskId: await importedTask(),
    jobId: (await createJob({ import: importPng })).id,
    webhookId: webhook.body.id,
    keyId: kept.id,
    imageKeyId: unknownId,
    deliveryId: 'none',
    memberId: unknownId,
  };
});

/** Calls an endpoint with ids in its path, and with a body that has nothing where it takes one. */
function send({ method, path }: Row, ids: Record<string, string>, key: string | undefined, body: unknown = {}) {
  return call(
    path.replace(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? unknownId),
    {
      method,
      as: 'nobody',
      ...(method === 'POST' ? { body } : {}),
      ...(key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }),
    },
  );
}

/** Calls all endpoints, a few at a time: each has a function of its own to start. */
async function ofEach<T>(each: (row: Row) => Promise<T>, chosen = rows): Promise<[string, T][]> {
  const results: [string, T][] = [];
  const left = [...chosen];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let row = left.shift(); row; row = left.shift())
        results.push([`${row.method} ${row.path}`, await each(row)]);
    }),
  );
  return results;
}

describe('Every endpoint that takes a key', () => {
  it('is described with the scope that it needs', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(new Set(rows.map(({ scope }) => scope))).toEqual(new Set(['read', 'process', 'account']));
  });

  it('responds with 401 without a key, and to one that is unknown, deleted or expired', async () => {
    const results = await ofEach(async (row) =>
      Promise.all(refused.map(async ([what, key]) => [what, (await send(row, {}, key)).status])),
    );
    for (const [name, statuses] of results) expect(statuses, name).toEqual(refused.map(([what]) => [what, 401]));
  });

  it('responds with 403 to a key without its scope, and names that, for nobody else to be shown', async () => {
    const results = await ofEach(async (row) => {
      const { status, headers, body } = await send(row, owned, without[row.scope]);
      const isNamed = body?.msg?.includes(`needs the scope ${row.scope},`);
      return { status, code: body?.errorCode, isNamed, kept: headers.get('cache-control') };
    });
    for (const [name, result] of results)
      expect(result, name).toEqual({ status: 403, code: 'insufficient_permission', isNamed: true, kept: 'no-store' });
  });

  it('responds with 404 to the key of another account for what belongs to this one', async () => {
    const results = await ofEach(
      async (row) => {
        const { status } = await call(
          row.path.replace(/\{(\w+)\}/g, (_match, name: string) => owned[name] ?? ''),
          { method: row.method, as: 'other', ...(row.method === 'POST' ? { body: { role: 'viewer' } } : {}) },
        );
        return status;
      },
      rows.filter(({ path }) => path.includes('{')),
    );
    expect(results.length).toBeGreaterThan(10);
    for (const [name, status] of results) expect(status, name).toBe(404);
    expect((await call(`/v1/process/tasks/${owned.taskId}`)).status).toBe(200);
    expect((await call('/v1/account/keys')).body.docs.map(({ id }: Body) => id)).toContain(owned.keyId);
  });
});
