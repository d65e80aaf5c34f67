import { createHash } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountItem } from '../../../shared/aws/stores/accounts.ts';
import { newId } from '../../../shared/ids.ts';
import { ApiDocument } from '../../support/api-document.ts';
import { startAlteredStack } from '../../support/running-stack.ts';
import { TestBrowser } from './browser.ts';
import { type Asked, clientId, TestIssuer } from './issuer.ts';
import { openTable, tableOf } from './table.ts';

interface Me {
  account: object;
  person: { accounts: { name: string; role: string }[] };
}

type Stack = Awaited<ReturnType<typeof startAlteredStack>>;
let issuer: TestIssuer;
let service: Stack;

beforeAll(async () => {
  issuer = await TestIssuer.start();
  service = await startAlteredStack(openTable, {
    LATHE_OIDC_ISSUER: issuer.url,
    LATHE_OIDC_CLIENT_ID: clientId,
    LATHE_OIDC_EMAIL_DOMAINS: 'example.com, Example.org',
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Makes an ID token for a sign-in. */
type Forge = (asked: Asked) => Promise<string | undefined> | string | undefined;

/** Completes a sign-in with a token and returns the response, and what its session can do. */
async function attempt(forge: Forge) {
  const browser = new TestBrowser(service.url);
  const asked = await browser.begin();
  const response = await browser.complete(asked, issuer.codeFor(asked, await forge(asked)));
  return { status: response.status, body: await response.text(), session: browser.session };
}

/** Signs in a person and returns the final location. */
async function locationAfter(returnTo?: string): Promise<string | null> {
  const response = await new TestBrowser(service.url).signIn(issuer, {}, returnTo);
  return response.headers.get('location');
}

test('a valid token signs in, by the verifier of this sign-in, and leads to the page', async () => {
  const browser = new TestBrowser(service.url);
  const response = await browser.signIn(issuer, {}, '/docs?a=1#jobs');
  expect([response.status, response.headers.get('location')]).toEqual([302, `${service.url}/docs?a=1#jobs`]);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(issuer.problems).toEqual([]);
  expect((await browser.call('GET', '/v1/process/jobs')).status).toBe(200);
  expect(await locationAfter()).toBe(`${service.url}/`);
});

describe('refuses a token that', () => {
  const signedWith = async (alg: string, key: CryptoKey | Uint8Array, claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: 'first' }).sign(key);
  const past = Math.floor(Date.now() / 1000) - 3_600;
  const forged: [string, Forge][] = [
    [
      'another key has signed',
      async (asked) => issuer.sign(issuer.claims(asked), (await generateKeyPair('RS256')).privateKey),
    ],
    ['nobody has signed', (asked) => new UnsecuredJWT(issuer.claims(asked)).encode()],
    [
      'says none, with the kid of the key',
      (asked) => {
        const header = Buffer.from('{"alg":"none","kid":"first"}').toString('base64url');
        return `${header}.${Buffer.from(JSON.stringify(issuer.claims(asked))).toString('base64url')}.`;
      },
    ],
    [
      'is signed by HS256 with the public key as PEM',
      async (asked) =>
        signedWith('HS256', new TextEncoder().encode(await exportSPKI(issuer.publicKey)), issuer.claims(asked)),
    ],
    [
      'is signed by HS256 with the public key as JWK',
      async (asked) => {
        const key = new TextEncoder().encode(JSON.stringify(await exportJWK(issuer.publicKey)));
        return signedWith('HS256', key, issuer.claims(asked));
      },
    ],
    [
      'was changed after it was signed',
      async (asked) => {
        const [header, , signature] = (await issuer.sign(issuer.claims(asked))).split('.');
        const claims = issuer.claims(asked, { sub: 'grace' });
        return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
      },
    ],
    ['has expired', (asked) => issuer.sign(issuer.claims(asked, { iat: past - 300, exp: past }))],
    ['never expires', (asked) => issuer.sign(issuer.claims(asked, { exp: undefined }))],
    ['is for another client', (asked) => issuer.sign(issuer.claims(asked, { aud: 'another' }))],
    ['is for another client too', (asked) => issuer.sign(issuer.claims(asked, { aud: [clientId, 'another'] }))],
    ['is of another issuer', (asked) => issuer.sign(issuer.claims(asked, { iss: 'https://accounts.example.com' }))],
    ['is of another sign-in', async () => issuer.sign(issuer.claims(await new TestBrowser(service.url).begin()))],
    ['is of no sign-in', (asked) => issuer.sign(issuer.claims(asked, { nonce: undefined }))],
    ['names nobody', (asked) => issuer.sign(issuer.claims(asked, { sub: undefined }))],
    ['is none', () => 'ada'],
    ['is missing', () => undefined],
  ];

  test.for(forged)('%s', async ([, forge]) => {
    const { status, body, session } = await attempt(forge);
    expect({ status, session }).toEqual({ status: 403, session: '' });
    expect(JSON.parse(body)).toMatchObject({ errorCode: 'sign_in_refused' });
  });

  test.for<[string, Record<string, unknown>, RegExp]>([
    ['has an address that is not verified', { email_verified: false }, /not verified/],
    ['does not say that the address is verified', { email_verified: undefined }, /not verified/],
    ['says so as a text', { email_verified: 'false' }, /not verified/],
    ['has no address', { email: undefined }, /did not provide your e-mail address/],
    ['has none that could be one', { email: 'example.com' }, /did not provide your e-mail address/],
    ['has two in one', { email: 'ada@example.net@example.com' }, /did not provide your e-mail address/],
    ['has an address of another domain', { email: 'ada@example.net' }, /example\.net are not allowed to sign in/],
    ['has one of a domain that ends alike', { email: 'ada@bad-example.com' }, /bad-example\.com are not allowed/],
    ['has one of a domain that begins alike', { email: 'ada@example.com.bad.net' }, /bad\.net are not allowed/],
    ['has one of a domain below', { email: 'ada@mail.example.com' }, /mail\.example\.com are not allowed/],
  ])('%s', async ([, claims, message]) => {
    const { status, body, session } = await attempt((asked) => issuer.sign(issuer.claims(asked, claims)));
    expect({ status, session }).toEqual({ status: 403, session: '' });
    expect(JSON.parse(body).msg).toMatch(message);
  });
});

test('domains are compared without regard to case', async () => {
  const { status } = await attempt((asked) => issuer.sign(issuer.claims(asked, { email: 'ada@EXAMPLE.ORG' })));
  expect(status).toBe(302);
});

describe('a callback is refused', () => {
  const refused = { errorCode: 'bad_request', reason: 'unknown_sign_in' };

  test('the second time', async () => {
    const browser = new TestBrowser(service.url);
    const asked = await browser.begin();
    const code = issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
    expect((await browser.complete(asked, code)).status).toBe(302);
    const again = await browser.complete(asked, code);
    expect([again.status, await again.json()]).toMatchObject([400, refused]);
  });

  test('the second time, even if both arrive at once', async () => {
    const browser = new TestBrowser(service.url);
    const asked = await browser.begin();
    const code = issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
    const responses = await Promise.all([1, 2, 3].map(() => browser.complete(asked, code)));
    expect(responses.map(({ status }) => status).sort()).toEqual([302, 400, 400]);
  });

  test('in a browser other than the one that began', async () => {
    const [browser, other] = [new TestBrowser(service.url), new TestBrowser(service.url)];
    const asked = await browser.begin();
    await other.begin();
    const code = issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
    expect((await other.complete(asked, code)).status).toBe(400);
    expect((await new TestBrowser(service.url).complete(asked, code)).status).toBe(400);
  });

  test('with an unknown state, or none', async () => {
    const browser = new TestBrowser(service.url);
    const asked = await browser.begin();
    const code = issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
    expect((await browser.complete({ state: 'x'.repeat(43) }, code)).status).toBe(400);
    const without = await browser.call('GET', `/auth/callback?code=${code}`);
    expect([without.status, await without.json()]).toMatchObject([400, refused]);
  });

  test('after ten minutes', async () => {
    const table = await tableOf(service);
    const browser = new TestBrowser(service.url);
    const asked = await browser.begin();
    const key = { pk: `attempt#${sha256(asked.state)}`, sk: 'attempt' };
    const item = await table.get(key);
    const remaining = Date.parse(String(item?.expiresAt)) - Date.now();
    expect(remaining).toBeGreaterThan(500_000);
    expect(remaining).toBeLessThanOrEqual(600_000);
    await table.put({ ...item, ...key, expiresAt: new Date().toISOString() });
    const code = issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
    expect((await browser.complete(asked, code)).status).toBe(400);
  });

  test('if the issuer refuses the person or the code', async () => {
    const browser = new TestBrowser(service.url);
    const { state } = await browser.begin();
    const query = new URLSearchParams({ error: 'access_denied', error_description: 'No.', state });
    const denied = await browser.call('GET', `/auth/callback?${query}`);
    expect(denied.status).toBe(403);
    expect(await denied.json()).toMatchObject({ msg: 'The issuer refused the sign-in (access_denied).' });
    const unknown = await browser.complete(await browser.begin(), 'never-issued');
    expect([unknown.status, browser.session]).toEqual([403, '']);
  });
});

test('two tabs of a browser complete their sign-ins in any order', async () => {
  const browser = new TestBrowser(service.url);
  const [first, second] = [await browser.begin('/docs'), await browser.begin('/health')];
  const code = async (asked: Asked) => issuer.codeFor(asked, await issuer.sign(issuer.claims(asked)));
  expect((await browser.complete(second, await code(second))).headers.get('location')).toBe(`${service.url}/health`);
  expect((await browser.complete(first, await code(first))).headers.get('location')).toBe(`${service.url}/docs`);
});

test.for([
  'https://bad.example',
  '//bad.example',
  '/\\bad.example',
  '\\/bad.example',
  '/\t/bad.example',
  ' //bad.example',
  'javascript:alert(1)',
  'docs',
  '',
  '/docs\r\nSet-Cookie: a=b',
])('a sign-in does not return to %j', async (returnTo) => {
  const browser = new TestBrowser(service.url);
  const response = await browser.call('GET', `/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: { return_to: [expect.any(String)] } });
  expect(browser.received).toEqual([]);
});

test('the address may come from the UserInfo endpoint, if it is of the same subject', async () => {
  const thin: Forge = (asked) => issuer.sign(issuer.claims(asked, { email: undefined, sub: 'thin' }));
  issuer.userInfo = { sub: 'thin', email: 'thin@example.com', email_verified: true };
  expect((await attempt(thin)).status).toBe(302);
  issuer.userInfo = { sub: 'another', email: 'thin@example.com', email_verified: true };
  expect((await attempt(thin)).status).toBe(403);
  issuer.userInfo = { sub: 'thin', email: 'thin@example.com' };
  expect((await attempt(thin)).status).toBe(403);
});

describe('a person', () => {
  const personKey = (sub: string) => ({ pk: `person#${sha256(`${issuer.url}\n${sub}`)}`, sk: 'person' });

  test('has one account from the first sign-in on, even with concurrent sign-ins', async () => {
    const table = await tableOf(service);
    const claims = { sub: 'joan', email: 'joan@example.com', name: 'Joan' };
    const signIns = [1, 2, 3].map(() => new TestBrowser(service.url).signIn(issuer, claims));
    expect((await Promise.all(signIns)).map(({ status }) => status)).toEqual([302, 302, 302]);
    const { id, account, email } = (await table.get(personKey('joan'))) ?? {};
    expect([account, email]).toEqual([id, 'joan@example.com']);
    expect(await table.query(`membership#${id}`)).toMatchObject([{ sk: id }]);
    expect(await table.query(`account#${id}`)).toMatchObject([
      { sk: 'account', kind: 'personal', name: 'Joan', members: { [String(id)]: { role: 'owner' } } },
      { sk: `member#${id}`, email: 'joan@example.com', name: 'Joan' },
    ]);
  });

  test('has the current address and name from the issuer', async () => {
    const table = await tableOf(service);
    const claims = { sub: 'mary', email: 'mary@example.com', name: 'Mary' };
    await new TestBrowser(service.url).signIn(issuer, claims);
    const { id } = (await table.get(personKey('mary'))) ?? {};
    await new TestBrowser(service.url).signIn(issuer, { ...claims, email: 'keller@example.org', name: 'Sister Mary' });
    const changed = { email: 'keller@example.org', name: 'Sister Mary' };
    expect(await table.get(personKey('mary'))).toMatchObject({ id, ...changed });
    expect(await table.get({ pk: `account#${id}`, sk: `member#${id}` })).toMatchObject(changed);
  });

  test('becomes a member of the teams that have invited the address, in any case, until the invitation expires', async () => {
    const table = await tableOf(service);
    const [team, late, gone] = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
    const now = Math.floor(Date.now() / 1000);
    const createdAt = new Date().toISOString();
    const pk = `invite#${sha256('edith@example.com')}`;
    const invite = (account: string | undefined, ttl: number) =>
      table.put({ pk, sk: String(account), id: newId(), role: 'developer', email: 'edith@example.com', ttl });
    for (const account of [team, late])
      await table.put(accountItem({ id: String(account), kind: 'team', name: `Team ${account?.[0]}`, createdAt }));
    await invite(team, now + 3_600);
    await invite(late, now - 1);
    await invite(gone, now + 3_600);

    const browser = new TestBrowser(service.url);
    await browser.signIn(issuer, { sub: 'edith', email: 'Edith@Example.com', name: 'Edith' });

    const me = await browser.call('GET', '/v1/account/me', { 'lathe-account': String(team) });
    const { account, person } = (await me.json()) as Me;
    expect(account).toEqual({ id: team, kind: 'team', name: 'Team a' });
    expect(person).toMatchObject({ email: 'Edith@Example.com', role: 'developer' });
    const roles = person.accounts.map(({ name, role }) => `${role} of ${name}`);
    expect(roles.sort()).toEqual(['developer of Team a', 'owner of Edith']);
    // Expired items are left to the table's expiry.
    expect((await table.query(pk)).map(({ sk }) => sk)).toEqual([late]);
    const { status } = await browser.call('GET', '/v1/process/jobs', { 'lathe-account': String(late) });
    expect(status).toBe(403);
  });
});

test('an unresponsive issuer is not reported as a fault of the person', async () => {
  await using away = await TestIssuer.start();
  await using other = await startAlteredStack(() => {}, {
    LATHE_OIDC_ISSUER: away.url,
    LATHE_OIDC_CLIENT_ID: clientId,
  });
  await away[Symbol.asyncDispose]();
  const api = await ApiDocument.of(other.client);

  const { response, problems } = await api.judge(api.operation('GET /auth/sign-in'), {});

  expect(response).toMatchObject({ status: 503, body: { errorCode: 'sign_in_unavailable' } });
  expect(problems).toEqual(['a server error']);
});
