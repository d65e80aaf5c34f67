import { signal } from '@preact/signals';
import { messageOf, RequestError, request, sent } from './request.ts';
import type { Me, SignedOut } from './types.ts';

export type Session =
  | { state: 'starting' }
  | { state: 'in'; me: Me }
  | { state: 'out' }
  | { state: 'failed'; problem: string };

export const session = signal<Session>({ state: 'starting' });

const signedOutKey = 'lathe-signed-out';
const accountKey = 'lathe-account';

/** Loads the session. On localhost, signs in the development user automatically. */
export async function startSession(): Promise<void> {
  const account = sessionStorage.getItem(accountKey);
  if (account !== null) sent.account = account;
  try {
    session.value = (await findMe()) ?? (mayStartOne() ? await startOne() : undefined) ?? { state: 'out' };
  } catch (error) {
    session.value = { state: 'failed', problem: messageOf(error) };
  }
}

async function findMe(): Promise<Session | undefined> {
  try {
    const me = await request<Me>('GET', '/v1/account/me');
    if (me.person?.csrf !== undefined) sent.csrf = me.person.csrf;
    return { state: 'in', me };
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) return undefined;
    if (error instanceof RequestError && error.status === 403 && sent.account !== undefined) {
      // No longer a member of the account chosen in this tab.
      chooseAccount(undefined);
      return findMe();
    }
    throw error;
  }
}

function mayStartOne(): boolean {
  return location.hostname === 'localhost' && sessionStorage.getItem(signedOutKey) === null;
}

/** Follows the redirects of a sign-in in the background: the local issuer has the same origin and needs no input. */
async function startOne(): Promise<Session | undefined> {
  const response = await fetch('/auth/sign-in?return_to=/favicon.svg', { mode: 'same-origin' }).catch(() => undefined);
  return response?.ok ? findMe() : undefined;
}

/** Switches to another account of the person. */
export function chooseAccount(id: string | undefined): void {
  if (id === undefined) {
    delete sent.account;
    sessionStorage.removeItem(accountKey);
  } else {
    sent.account = id;
    sessionStorage.setItem(accountKey, id);
  }
}

/** Redirects to the issuer to sign in, and back to this page. */
export function signIn(): void {
  sessionStorage.removeItem(signedOutKey);
  location.assign(`/auth/sign-in?return_to=${encodeURIComponent(location.pathname)}`);
}

/** Ends the session here and at the issuer. */
export async function signOut(): Promise<void> {
  try {
    const { url } = await request<SignedOut>('POST', '/auth/sign-out');
    chooseAccount(undefined);
    // The next person in this tab must not see drafts of this one.
    sessionStorage.clear();
    sessionStorage.setItem(signedOutKey, 'yes');
    location.assign(url);
  } catch (error) {
    session.value = { state: 'failed', problem: messageOf(error) };
  }
}
