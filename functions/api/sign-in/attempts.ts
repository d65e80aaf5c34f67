import { type Key, put, take } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { randomSecret, sha256 } from '../../../shared/crypto.ts';

/** The state of a sign-in, kept until the issuer redirects the browser back. */
export interface Attempt {
  /** Secret in a cookie of the browser that started it. */
  browser: string;
  /** PKCE code verifier. */
  verifier: string;
  /** Expected in the ID token, so that tokens of other sign-ins are refused. */
  nonce: string;
  /** Path of the page to return to. */
  returnTo: string;
}

/** Time that a person has to sign in at the issuer. */
export const attemptSeconds = 600;

/** Stores a sign-in and returns its `state` parameter. Only a hash of it is stored. */
export async function storeAttempt({ browser, ...attempt }: Attempt, now: number = Date.now()): Promise<string> {
  const state = randomSecret();
  const expires = now + attemptSeconds * 1000;
  await put({
    ...keyOf(state),
    ...attempt,
    browser: sha256(browser),
    expiresAt: new Date(expires).toISOString(),
    ttl: Math.ceil(expires / 1000),
  });
  return state;
}

/** Returns the sign-in that a browser started with this state, only once and within ten minutes. */
export async function takeAttempt(
  state: string,
  browser: string,
  now: number = Date.now(),
): Promise<Attempt | undefined> {
  const { browser: hash, verifier, nonce, returnTo, expiresAt } = (await take(keyOf(state))) ?? {};
  if (hash !== sha256(browser) || Date.parse(String(expiresAt)) <= now) return undefined;
  return { browser, verifier: String(verifier), nonce: String(nonce), returnTo: String(returnTo) };
}

function keyOf(state: string): Key {
  return { pk: `${partitions.attempt}${sha256(state)}`, sk: 'attempt' };
}
