import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '../../support/chromium.ts';
import { type RunningService, startService } from '../../support/running-stack.ts';
import { TestBrowser } from './browser.ts';

let service: RunningService;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
  browser = await startChromium();
});

afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** Returns the Lathe-CSRF value of a session. */
async function csrfOf(session: string): Promise<string> {
  const { client, stack } = await service.as('functions/api/jobs/list-jobs.ts');
  const pk = `signin#${createHash('sha256').update(session).digest('hex')}`;
  const { Item } = await new DynamoDBClient(client('dynamodb')).send(
    new GetItemCommand({ TableName: stack.tables[0]?.name, Key: { pk: { S: pk }, sk: { S: 'session' } } }),
  );
  return Item?.csrf?.S ?? '';
}

test('the development user signs in with a click, sees what the key sees, and signs out here and at the issuer', async () => {
  const page = await browser.newPage();
  const shown = () => page.$eval('body', (body) => body.textContent);
  const { user } = await service.client.createTask('import/upload');

  await page.goto(`${service.url}/auth/sign-in?return_to=/health`);
  expect(new URL(page.url()).pathname).toMatch(/^\/_oidc\/interaction\//);
  expect(await shown()).toContain('Continue as development@localhost');
  expect(await page.$('input[type=password]')).toBeNull();
  await Promise.all([page.waitForNavigation(), page.click('button')]);
  expect(page.url()).toBe(`${service.url}/health`);

  const session = (await browser.cookies()).find(({ name }) => name === 'lathe_session');
  expect(session).toMatchObject({ domain: 'localhost', path: '/', httpOnly: true, sameSite: 'Lax', secure: false });
  expect(await page.evaluate('document.cookie')).not.toContain('lathe_session');
  const post = (headers: Record<string, string>) =>
    page.evaluate(async (sent) => {
      const response = await fetch('/v1/process/import/upload', { method: 'POST', headers: sent });
      return { status: response.status, body: (await response.json()) as object };
    }, headers);
  expect(await post({})).toMatchObject({ status: 403 });
  const csrf = await csrfOf(session?.value ?? '');
  expect(await post({ 'Lathe-CSRF': csrf })).toMatchObject({ status: 201, body: { user } });

  // The issuer still knows the person, and asks nothing.
  await page.goto(`${service.url}/auth/sign-in?return_to=/v1/query/formats`);
  expect(page.url()).toBe(`${service.url}/v1/query/formats`);

  await page.goto(`${service.url}/health`);
  const next = await csrfOf((await browser.cookies()).find(({ name }) => name === 'lathe_session')?.value ?? '');
  const url = await page.evaluate(async (sent) => {
    const response = await fetch('/auth/sign-out', { method: 'POST', headers: { 'Lathe-CSRF': sent } });
    return ((await response.json()) as { url: string }).url;
  }, next);
  expect((await browser.cookies()).map(({ name }) => name)).not.toContain('lathe_session');
  await page.goto(url);
  expect(await shown()).toContain('Sign out');
  // The next page would sign in again automatically.
  await page.setJavaScriptEnabled(false);
  await Promise.all([page.waitForNavigation(), page.click('button')]);
  expect(page.url()).toBe(`${service.url}/`);
  await page.goto(`${service.url}/auth/sign-in`);
  expect(await shown()).toContain('Continue as development@localhost');
});

test('the embedded issuer refuses other host names of this machine', async () => {
  const { port } = new URL(service.url);
  const statusFor = (host: string, path: string) =>
    new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .once('error', reject)
        .end();
    });
  const path = '/_oidc/.well-known/openid-configuration';
  expect(await statusFor(`localhost:${port}`, path)).toBe(200);
  for (const host of ['bad.example', `bad.example:${port}`, `localhost.bad.example:${port}`, 'localhost:1', ''])
    expect(await statusFor(host, path), host).toBe(421);
  expect(await statusFor(`bad.example:${port}`, '/_oidc/interaction/x')).toBe(421);
  expect(await statusFor(`localhost:${port}`, '/_oidc/interaction/x')).toBe(400);
});

test('the embedded issuer sends codes only to the callback, and none without PKCE', async () => {
  const { searchParams, origin, pathname } = new URL(
    (await fetch(`${service.url}/auth/sign-in`, { redirect: 'manual' })).headers.get('location') ?? '',
  );
  const ask = async (change: Record<string, string | undefined>) => {
    const url = new URL(pathname, origin);
    for (const [name, value] of Object.entries({ ...Object.fromEntries(searchParams), ...change }))
      if (value !== undefined) url.searchParams.set(name, value);
    const response = await fetch(url, { redirect: 'manual' });
    return { status: response.status, location: response.headers.get('location') };
  };
  expect((await ask({})).location).toMatch(/^\/_oidc\/interaction\//);
  expect(await ask({ redirect_uri: 'https://bad.example/' })).toEqual({ status: 400, location: null });
  const plain = await ask({ code_challenge: undefined, code_challenge_method: undefined });
  expect(new URL(plain.location ?? '').searchParams.get('error')).toBe('invalid_request');
});

test('the embedded issuer asks unless a script of the same origin began the sign-in', async () => {
  const interaction = async (headers: Record<string, string>) => {
    const visitor = new TestBrowser(service.url);
    const next = async (path: string) => (await visitor.call('GET', path)).headers.get('location') ?? '';
    const response = await visitor.call('GET', await next(await next('/auth/sign-in')), headers);
    return response.status;
  };
  const script = { 'sec-fetch-dest': 'empty' };
  expect(await interaction({ ...script, 'sec-fetch-site': 'same-origin' })).toBe(303);
  for (const site of ['cross-site', 'same-site', 'none'])
    expect(await interaction({ ...script, 'sec-fetch-site': site }), site).toBe(200);
  expect(await interaction({ 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'document' })).toBe(200);
  expect(await interaction({})).toBe(200);
});

test('the output of the service contains no notices of the provider', () => {
  expect(service.reports.join('')).not.toMatch(/oidc-provider/);
});
