import { type Key, put, take } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { randomSecret, sha256 } from '../../../shared/crypto.ts';

/** What a sign-in needs to know when the issuer sends the browser back. */
export interface Attempt {
  /** What the browser that began it has in a cookie. */
  browser: string;
  /** Proves to the issuer that who exchanges the code is who asked for it (PKCE). */
  verifier: string;
  /** What the ID token must hold, so that one of another sign-in is not taken. */
  nonce: string;
  /** Path of the page to return to. */
  returnTo: string;
}

/** How long a person may take at the issuer. */
export const attemptSeconds = 600;

/** Stores a sign-in that begins and returns its state, of which only a hash is stored. */
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

/** Returns the sign-in that a browser began with a state, once and for ten minutes. */
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
