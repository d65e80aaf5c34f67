import type { Person as MemberPerson } from '../../accounts/account.ts';
import { randomSecret, sha256 } from '../../crypto.ts';
import { newId } from '../../ids.ts';
import { get, type Item, itemExists, itemIsAbsent, type Key, put, putIf, remove, storedIn, update } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** A person's identity and profile at an OpenID Connect issuer. */
export interface Identity extends Omit<MemberPerson, 'id'> {
  issuer: string;
  subject: string;
}

export interface Person extends MemberPerson {
  /** The personal account. */
  account: string;
}

/** A signed-in browser. */
export interface Session {
  person: string;
  /** The person's personal account, which requests act for by default. */
  account: string;
  /** Sent by our pages with requests that change something. Other sites cannot know it. */
  csrf: string;
  createdAt: string;
  expiresAt: string;
}

const hourMs = 3_600_000;
/** A session ends after 12 hours without use, and after 7 days in any case. */
const maxIdleMs = 12 * hourMs;
const maxAgeMs = 7 * 24 * hourMs;
/** How long a browser keeps a session id. */
export const sessionSeconds = maxAgeMs / 1000;
/** Idle time before a use extends the session: one write an hour instead of one per request. */
const extensionMs = hourMs;

/** Returns the item of a person. */
export function personItem({ issuer, subject, email, name }: Identity, id: string): Key & Item {
  return { ...personKey(issuer, subject), id, email, name, account: id, createdAt: new Date().toISOString() };
}

/** Returns the person of an identity with its current profile, creating the person at the first sign-in. */
export async function findOrCreatePerson(identity: Identity): Promise<{ person: Person; isChanged: boolean }> {
  const { issuer, subject, email, name } = identity;
  const key = personKey(issuer, subject);
  const known = await get(key);
  if (!known) await putIf(personItem(identity, newId()), itemIsAbsent);
  // A concurrent first sign-in may have created the person.
  const { id, account, ...found } = known ?? (await get(key)) ?? {};
  if (typeof id !== 'string' || typeof account !== 'string') throw new Error(`The item ${key.pk} is not a person.`);
  const isChanged = found.email !== email || found.name !== name;
  if (isChanged)
    await update(key, 'SET email = :email, #name = :name', {
      condition: itemExists,
      names: { '#name': 'name' },
      values: { ':email': email, ':name': name },
    });
  return { person: { id, account, email, name }, isChanged };
}

/** Creates a session of a person and returns its id. Only a hash of it is stored. */
export async function createSession({ id: person, account }: Person, now: number = Date.now()): Promise<string> {
  const id = randomSecret();
  const csrf = randomSecret();
  const createdAt = new Date(now).toISOString();
  await put({ ...sessionKey(id), person, account, csrf, createdAt, ...expiry(now, now) });
  return id;
}

/** Returns an active session. */
export async function readSession(id: string, now: number = Date.now()): Promise<Session | undefined> {
  const key = sessionKey(id);
  // A page calls right after the sign-in; all later reads are eventually consistent at half the cost.
  const item = (await get(key, { consistent: false })) ?? (await get(key));
  const session = item && storedIn<Session>(item);
  return session && isWhole(session) && Date.parse(session.expiresAt) > now ? session : undefined;
}

/** Returns whether a stored session names its person, account and secret. */
function isWhole({ person, account, csrf }: Session): boolean {
  return [person, account, csrf].every((value) => typeof value === 'string');
}

/** Returns an active session, and extends it if it has been idle for an hour. */
export async function useSession(id: string, now: number = Date.now()): Promise<Session | undefined> {
  const session = await readSession(id, now);
  if (!session) return undefined;
  const extended = expiry(Date.parse(session.createdAt), now);
  if (Date.parse(extended.expiresAt) - Date.parse(session.expiresAt) < extensionMs) return session;
  const isExtended = await update(sessionKey(id), 'SET expiresAt = :expiresAt, #ttl = :ttl', {
    // A concurrent sign-out wins.
    condition: itemExists,
    names: { '#ttl': 'ttl' },
    values: { ':expiresAt': extended.expiresAt, ':ttl': extended.ttl },
  });
  return isExtended && { ...session, expiresAt: extended.expiresAt };
}

/** Ends a session. */
export async function endSession(id: string): Promise<void> {
  await remove(sessionKey(id));
}

function expiry(createdAt: number, now: number): { expiresAt: string; ttl: number } {
  const expires = Math.min(now + maxIdleMs, createdAt + maxAgeMs);
  return { expiresAt: new Date(expires).toISOString(), ttl: Math.ceil(expires / 1000) };
}

function personKey(issuer: string, subject: string): Key {
  return { pk: `${partitions.person}${sha256(`${issuer}\n${subject}`)}`, sk: 'person' };
}

function sessionKey(id: string): Key {
  return { pk: `${partitions.signIn}${sha256(id)}`, sk: 'session' };
}
