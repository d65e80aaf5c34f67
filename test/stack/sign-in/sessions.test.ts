import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../../functions/api/http/route.ts';
import { routes } from '../../../functions/api/routes.ts';
import { CapacityMeter } from '../../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { accountItem, itemsOfMember } from '../../../shared/aws/stores/accounts.ts';
import { newId } from '../../../shared/ids.ts';
import { addUser, functionOf, startAlteredStack } from '../../support/running-stack.ts';
import { until } from '../../support/until.ts';
import { TestBrowser } from './browser.ts';
import { openTable, tableOf } from './table.ts';

const hour = 3_600_000;
const meter = new CapacityMeter();
let service: Awaited<ReturnType<typeof startAlteredStack>>;
let table: Awaited<ReturnType<typeof tableOf>>;

beforeAll(async () => {
  service = await startAlteredStack(
    (stack) => {
      openTable(stack);
      // On a busy machine a waiting request may start another instance, which reads the session itself.
      functionOf(stack, 'functions/api/jobs/list-jobs.ts').reservedConcurrency = 1;
    },
    {},
    { capacityMeter: meter },
  );
  table = await tableOf(service);
});

afterAll(() => service[Symbol.asyncDispose]());

interface Times {
  /** Age of the session, and its remaining validity. */
  age?: number;
  left?: number;
}

/** Gives a browser a session, like a sign-in. */
async function signedIn(person: string = newId(), { age = 0, left = 12 * hour }: Times = {}) {
  const browser = new TestBrowser(service.url);
  const id = randomBytes(32).toString('base64url');
  const key = { pk: `signin#${createHash('sha256').update(id).digest('hex')}`, sk: 'session' };
  const csrf = randomBytes(32).toString('base64url');
  const times = {
    createdAt: new Date(Date.now() - age).toISOString(),
    expiresAt: new Date(Date.now() + left).toISOString(),
  };
  await table.put({ ...key, person, account: person, csrf, ...times, ttl: Math.ceil((Date.now() + left) / 1000) });
  browser.cookies.set('lathe_session', id);
  return {
    browser,
    csrf,
    person,
    leftNow: async () => Date.parse(String((await table.get(key))?.expiresAt)) - Date.now(),
  };
}

/** Makes a person a member of a team. */
async function joined(person: string, role: string): Promise<string> {
  const team = newId();
  const addedAt = new Date().toISOString();
  const account = accountItem({ id: team, kind: 'team', name: 'Team', createdAt: addedAt });
  await table.put({ ...account, members: { [person]: { role, addedAt } } });
  const member = { id: person, email: 'member@example.com', name: 'Member' };
  for (const item of itemsOfMember(team, member, addedAt)) await table.put(item);
  return team;
}

const upload = '/v1/process/import/upload';

describe('a request with a session that changes something', () => {
  test('needs the header Lathe-CSRF of the session', async () => {
    const { browser, csrf, person } = await signedIn();
    const other = await signedIn();
    const without = await browser.call('POST', upload);
    expect([without.status, await without.json()]).toMatchObject([
      403,
      { errorCode: 'forbidden', msg: expect.stringContaining('Lathe-CSRF') },
    ]);
    for (const wrong of ['', 'x', other.csrf, `${csrf}x`])
      expect((await browser.call('POST', upload, { 'lathe-csrf': wrong })).status).toBe(403);
    expect((await browser.call('DELETE', `/v1/process/tasks/${newId()}`)).status).toBe(403);
    const created = await browser.call('POST', upload, { 'lathe-csrf': csrf });
    expect([created.status, await created.json()]).toMatchObject([201, { user: person }]);
  });

  test('comes from a page of the service, if the browser sends its origin', async () => {
    const { browser, csrf } = await signedIn();
    const headers = { 'lathe-csrf': csrf };
    for (const origin of ['https://bad.example', 'null', service.url.replace('http:', 'https:'), `${service.url}0`]) {
      const response = await browser.call('POST', upload, { ...headers, origin });
      expect([response.status, await response.json()]).toMatchObject([403, { msg: expect.stringContaining(origin) }]);
    }
    expect((await browser.call('POST', upload, { ...headers, origin: service.url })).status).toBe(201);
  });

  test('is equivalent to a reading one if both methods are allowed', async () => {
    const { browser } = await signedIn();
    expect((await browser.call('GET', '/v1/process/jobs', { origin: 'https://bad.example' })).status).toBe(200);
  });
});

describe('an API key', () => {
  test('takes precedence over a session, even an invalid one', async () => {
    const { browser } = await signedIn();
    const user = newId();
    const authorization = `Bearer ${await addUser(service, user)}`;
    const created = await browser.call('POST', upload, { authorization });
    expect([created.status, await created.json()]).toMatchObject([201, { user }]);
    expect((await browser.call('GET', '/v1/process/jobs', { authorization: 'Bearer wrong' })).status).toBe(401);
  });
});

describe('the header Lathe-Account', () => {
  test('selects an account that the person is a member of, and no other', async () => {
    const { browser, csrf, person } = await signedIn();
    const team = await joined(person, 'developer');
    const create = (account: string) => browser.call('POST', upload, { 'lathe-csrf': csrf, 'lathe-account': account });
    const [inTeam, own] = [await create(team), await create(person)];
    expect([inTeam.status, await inTeam.json()]).toMatchObject([201, { user: team }]);
    expect([own.status, await own.json()]).toMatchObject([201, { user: person }]);
    const stranger = await create(newId());
    expect([stranger.status, await stranger.json()]).toMatchObject([
      403,
      { errorCode: 'insufficient_permission', msg: expect.stringContaining('not a member') },
    ]);
    expect((await create('team')).status).toBe(400);
    expect((await create(`${team} ${team}`)).status).toBe(400);
  });
});

describe('a session', () => {
  const list = (browser: TestBrowser) => browser.call('GET', '/v1/process/jobs');

  test('that has ended, or never existed, is refused', async () => {
    const ended = await signedIn(undefined, { left: -1 });
    const response = await list(ended.browser);
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { errorCode: 'unauthorized', msg: `The session has ended. Sign in again at ${service.url}/auth/sign-in.` },
    ]);
    const browser = new TestBrowser(service.url);
    browser.cookies.set('lathe_session', 'x'.repeat(43));
    expect((await list(browser)).status).toBe(401);
  });

  test('is extended to 12 hours by a use, once an hour', async () => {
    const { browser, leftNow } = await signedIn(undefined, { age: 5 * hour, left: 7 * hour });
    expect((await list(browser)).status).toBe(200);
    expect(await leftNow()).toBeGreaterThan(11.9 * hour);
    const fresh = await signedIn(undefined, { age: hour / 2, left: 11.5 * hour });
    expect((await list(fresh.browser)).status).toBe(200);
    expect(await fresh.leftNow()).toBeLessThanOrEqual(11.5 * hour);
  });

  test('ends after seven days, however often it is used', async () => {
    const { browser, leftNow } = await signedIn(undefined, { age: 7 * 24 * hour - 2 * hour, left: hour / 2 });
    expect((await list(browser)).status).toBe(200);
    expect(await leftNow()).toBeGreaterThan(1.9 * hour);
    expect(await leftNow()).toBeLessThanOrEqual(2 * hour);
  });

  test('costs the same as a key: no read in a warm function, and half a unit in a new one', async () => {
    const { browser } = await signedIn();
    const read = () =>
      meter.keys().filter(({ kind, key }) => kind === 'read' && /^(?:signin|membership|person|account)#/.test(key));
    // A list reads only its counts and index, which it did before.
    await list((await signedIn()).browser);
    meter.reset();
    for (let request = 0; request < 20; request++) expect((await list(browser)).status).toBe(200);
    expect(read().map(({ key, units }) => [key.split('#')[0], units])).toEqual([['signin', 0.5]]);
  });

  test('ends with the sign-out: at once in functions that did not know it, within ten seconds in others', async () => {
    const { browser, csrf } = await signedIn();
    const before = { ...Object.fromEntries(browser.cookies) };
    expect((await list(browser)).status).toBe(200);
    expect((await browser.call('POST', '/auth/sign-out')).status).toBe(403);
    expect((await list(browser)).status).toBe(200);

    const response = await browser.call('POST', '/auth/sign-out', { 'lathe-csrf': csrf });
    const { url } = (await response.json()) as { url: string };

    expect(response.status).toBe(200);
    const { origin, pathname, searchParams } = new URL(url);
    expect([origin, pathname]).toEqual([service.url, '/_oidc/session/end']);
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/`);
    expect(searchParams.get('logout_uri')).toBe(`${service.url}/`);
    expect(browser.received).toEqual(['lathe_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0']);
    const thief = new TestBrowser(service.url);
    thief.cookies.set('lathe_session', String(before.lathe_session));
    expect((await thief.call('GET', '/v1/process/tasks')).status).toBe(401);
    const signedOut = Date.now();
    await until('the session has ended', async () => (await list(thief)).status === 401);
    // Ten seconds, plus the time of the detecting request on a busy machine.
    expect(Date.now() - signedOut).toBeLessThan(15_000);
  });

  test('may end twice', async () => {
    expect((await new TestBrowser(service.url).call('POST', '/auth/sign-out')).status).toBe(200);
  });
});

test("every endpoint except the agents' accepts a session, in every account of the person, and extends it", async () => {
  const person = newId();
  const team = await joined(person, 'owner');
  const rows = Object.values<Route>(routes).filter(({ access }) => access === 'key');
  expect(rows.length).toBeGreaterThan(20);
  const problems: string[] = [];
  for (const { method, path, keyOnly } of rows) {
    const { browser, csrf, leftNow } = await signedIn(person, { age: 2 * hour, left: 10 * hour });
    const filled = path.replaceAll(/\{\w+\}/g, newId());
    const headers = { 'lathe-csrf': csrf, 'lathe-account': team, accept: 'application/json' };
    const { status } = await browser.call(method, filled, headers, method === 'POST' ? '{}' : undefined);
    if (keyOnly) {
      if (status !== 401) problems.push(`${method} ${path} responded with ${status} to a session`);
      continue;
    }
    if (![200, 201, 400, 404].includes(status) || (await leftNow()) < 11.9 * hour)
      problems.push(`${method} ${path} responded with ${status}`);
  }
  expect(problems).toEqual([]);
  expect(service.reports.filter((line) => line.startsWith('refused:'))).toEqual([]);
});
