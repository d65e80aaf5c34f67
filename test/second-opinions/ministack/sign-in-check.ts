import './resolve-localhost.mjs';
import { TestBrowser } from '../../stack/sign-in/browser.ts';
import { callJson } from './json-call.ts';

const email = 'ada@example.com';
const password = 'Correct-Horse-1';

/** Signs in a person of the user pool by the pool's own page, and returns whether the service knows them. */
export async function checkSignIn(endpoint: string, url: string, UserPoolId: string): Promise<Map<string, boolean>> {
  const call = (operation: string, more: object) =>
    callJson(endpoint, 'cognito-idp', `AWSCognitoIdentityProviderService.${operation}`, { UserPoolId, ...more });
  const UserAttributes = Object.entries({ email, email_verified: 'true' }).map(([Name, Value]) => ({ Name, Value }));
  await call('AdminCreateUser', { Username: email, UserAttributes, MessageAction: 'SUPPRESS' });
  await call('AdminSetUserPassword', { Username: email, Password: password, Permanent: true });
  const browser = new TestBrowser(url);
  const page = await fetch(await locationOf(browser.call('GET', '/auth/sign-in')));
  const callback = fetch(new URL('/login', page.url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...hiddenFields(await page.text()), username: email, password }),
  });
  // The browser already has this host; ministack's APIs have no TLS.
  const { pathname, search } = new URL(await locationOf(callback));
  await locationOf(browser.call('GET', `${pathname}${search}`));
  const response = await browser.call('GET', '/v1/account/me');
  const text = await response.text();
  const isKnown = response.ok && text.includes(email);
  if (!isKnown) process.stdout.write(`/v1/account/me responded with status ${response.status}: ${text}\n`);
  return new Map([['sign-in: a person of the user pool signs in by its page', isKnown]]);
}

async function locationOf(request: Promise<Response>): Promise<string> {
  const response = await request;
  const location = response.headers.get('location');
  if (location !== null) return location;
  throw new Error(`${response.url} responded with status ${response.status}, not a redirect: ${await response.text()}`);
}

function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]));
}
