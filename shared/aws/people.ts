import type { Person as MemberPerson } from '../accounts/account.ts';
import { randomSecret, sha256 } from '../crypto.ts';
import { newId } from '../ids.ts';
import { get, type Item, itemExists, itemIsAbsent, type Key, put, putIf, remove, update } from './table.ts';
import { partitions } from './table-schema.ts';

/** How an issuer of OpenID Connect calls a person, and what it says about them. */
export interface Identity extends Omit<MemberPerson, 'id'> {
  issuer: string;
  subject: string;
}

export interface Person extends MemberPerson {
  /** The personal account. */
  account: string;
}

/** What makes a browser that of a person. */
export interface Session {
  person: string;
  /** The person's personal account, which requests act for by default. */
  account: string;
  /** What pages send with requests that change something, and other sites cannot know. */
  csrf: string;
  createdAt: string;
  expiresAt: string;
}

const hourMs = 3_600_000;
/** A session ends when it was not used for 12 hours, and after 7 days in any case. */
const maxIdleMs = 12 * hourMs;
const maxAgeMs = 7 * 24 * hourMs;
/** How long a browser keeps the id of a session. */
export const sessionSeconds = maxAgeMs / 1000;
/** How much of the idle time is gone before a use extends it: one write an hour, in place of one a request. */
const extensionMs = hourMs;

/** Returns the item of a person. */
export function personItem({ issuer, subject, email, name }: Identity, id: string): Key & Item {
  return { ...personKey(issuer, subject), id, email, name, account: id, createdAt: new Date().toISOString() };
}

/** Returns the person of an identity, created by their first sign-in and with what the issuer says of them now. */
export async function findOrCreatePerson(identity: Identity): Promise<{ person: Person; isChanged: boolean }> {
  const { issuer, subject, email, name } = identity;
  const key = personKey(issuer, subject);
  const known = await get(key);
  if (!known) await putIf(personItem(identity, newId()), itemIsAbsent);
  // Of two first sign-ins at once, one has created the person.
  const { id, account, ...found } = known ?? (await get(key)) ?? {};
  if (typeof id !== 'string' || typeof account !== 'string') throw new Error(`The item ${key.pk} is no person.`);
  const isChanged = found.email !== email || found.name !== name;
  if (isChanged)
    await update(key, 'SET email = :email, #name = :name', {
      condition: itemExists,
      names: { '#name': 'name' },
      values: { ':email': email, ':name': name },
    });
  return { person: { id, account, email, name }, isChanged };
}

/** Begins a session of a person and returns its id, of which only a hash is stored. */
export async function createSession({ id: person, account }: Person, now: number = Date.now()): Promise<string> {
  const id = randomSecret();
  const csrf = randomSecret();
  const createdAt = new Date(now).toISOString();
  await put({ ...sessionKey(id), person, account, csrf, createdAt, ...expiry(now, now) });
  return id;
}

/** Returns a session that has not ended. */
export async function readSession(id: string, now: number = Date.now()): Promise<Session | undefined> {
  const key = sessionKey(id);
  // A page calls in the instant that the sign-in is complete; all later reads cost half.
  const { person, account, csrf, createdAt, expiresAt } =
    (await get(key, { consistent: false })) ?? (await get(key)) ?? {};
  const session = { person, account, csrf, createdAt, expiresAt };
  return isSession(session) && Date.parse(session.expiresAt) > now ? session : undefined;
}

/** Returns a session that has not ended, and extends it where it has been idle for an hour. */
export async function useSession(id: string, now: number = Date.now()): Promise<Session | undefined> {
  const session = await readSession(id, now);
  if (!session) return undefined;
  const extended = expiry(Date.parse(session.createdAt), now);
  if (Date.parse(extended.expiresAt) - Date.parse(session.expiresAt) < extensionMs) return session;
  const isExtended = await update(sessionKey(id), 'SET expiresAt = :expiresAt, #ttl = :ttl', {
    // A sign-out at the same time is final.
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

function isSession(session: Record<keyof Session, unknown>): session is Session {
  return Object.values(session).every((value) => typeof value === 'string');
}

function personKey(issuer: string, subject: string): Key {
  return { pk: `${partitions.person}${sha256(`${issuer}\n${subject}`)}`, sk: 'person' };
}

function sessionKey(id: string): Key {
  return { pk: `${partitions.signIn}${sha256(id)}`, sk: 'session' };
}
