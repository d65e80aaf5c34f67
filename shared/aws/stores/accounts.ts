import { type Account, type Invitation, type Member, normalizedEmail, type Person } from '../../accounts/account.ts';
import { type Role, roles } from '../../accounts/caller.ts';
import { decideMemberChange, isLastOwner, type MemberChange } from '../../accounts/members.ts';
import { sha256 } from '../../crypto.ts';
import { defined } from '../../defined.ts';
import { newId } from '../../ids.ts';
import {
  batchGet,
  get,
  type Item,
  itemExists,
  itemIsAbsent,
  type Key,
  put,
  putIf,
  queryPartition,
  remove,
  removeIf,
  storedIn,
  update,
} from '../table.ts';
import { partitions } from '../table-schema.ts';
import { recordChange } from './audit.ts';

const invitationSeconds = 14 * 24 * 60 * 60;

const partitionOf = (account: string) => `${partitions.account}${account}`;
const memberPrefix = 'member#';
const invitationPrefix = 'invitation#';
/** Returns the key of the item of an account. */
export const accountKey = (account: string): Key => keyIn(account, 'account');
const keyIn = (account: string, sk: string): Key => ({ pk: partitionOf(account), sk });
const memberKey = (account: string, person: string) => keyIn(account, `${memberPrefix}${person}`);
const listedInvitationKey = (account: string, id: string) => keyIn(account, `${invitationPrefix}${id}`);
const membershipsOf = (person: string) => `${partitions.membership}${person}`;
const invitationsTo = (email: string) => `${partitions.invitation}${sha256(normalizedEmail(email))}`;
const invitationKey = (email: string, account: string): Key => ({ pk: invitationsTo(email), sk: account });

/**
 * Returns the item of an account. It is the only source of members and roles: one conditional write changes them, so that
 * owners who leave concurrently cannot leave the account without an owner. The items of members and memberships only hold
 * their profiles.
 */
export function accountItem({ id, ...account }: Account, owner?: { id: string; addedAt: string }): Key & Item {
  return {
    ...accountKey(id),
    ...account,
    members: owner ? { [owner.id]: { role: 'owner' satisfies Role, addedAt: owner.addedAt } } : {},
    owners: owner && new Set([owner.id]),
  };
}

/** Creates an account owned by a person. */
export async function createAccount(
  { id = newId(), kind, name }: Pick<Account, 'kind' | 'name'> & { id?: string },
  owner: Person,
): Promise<Account> {
  const createdAt = new Date().toISOString();
  const account: Account = { id, kind, name, createdAt };
  await writeMember(id, owner, createdAt);
  await putIf(accountItem(account, { id: owner.id, addedAt: createdAt }), itemIsAbsent);
  return account;
}

/** Creates the personal account of a person at the first sign-in. It has the id of the person, so a retry completes it. */
export async function createPersonalAccount(person: Person): Promise<void> {
  await createAccount({ id: person.id, kind: 'personal', name: person.name }, person);
}

/** Updates the profile of a person in all their accounts. */
export async function updateProfile({ id, email, name }: Person): Promise<void> {
  for (const { id: account } of await accountsOf(id))
    await update(memberKey(account, id), 'SET email = :email, #name = :name', {
      // An owner may have removed them in the meantime.
      condition: itemExists,
      names: { '#name': 'name' },
      values: { ':email': email, ':name': name },
    });
}

/** Returns an account; undefined if it has no item, such as an account that an operator created. */
export async function readAccount(id: string): Promise<Account | undefined> {
  const item = await get(accountKey(id));
  return item && toAccount(item);
}

/** Returns the monthly allowance of an account in minutes; undefined if the default of the deployment applies. */
export async function minutesPerMonthOf(id: string): Promise<number | undefined> {
  const { minutesPerMonth } = (await get(accountKey(id), { consistent: false })) ?? {};
  return typeof minutesPerMonth === 'number' ? minutesPerMonth : undefined;
}

/** Returns the role of a person in an account; undefined if they are not a member. */
export async function roleIn(person: string, account: string): Promise<Role | undefined> {
  return membersIn(await get(accountKey(account))).get(person)?.role;
}

/** Returns the accounts of a person with the role that they have in each. */
export async function accountsOf(person: string): Promise<(Account & { role: Role })[]> {
  const memberships = await queryPartition(membershipsOf(person));
  const items = await batchGet(memberships.map(({ sk }) => accountKey(String(sk))));
  return items
    .flatMap((item) => {
      const member = membersIn(item).get(person);
      return member ? [{ ...toAccount(item), role: member.role }] : [];
    })
    .sort((left, right) => (left.createdAt < right.createdAt ? -1 : 1));
}

/** Returns a member of an account, and whether they are its last owner. */
export async function readMember(
  account: string,
  person: string,
): Promise<(Member & { isLastOwner: boolean }) | undefined> {
  const items = await batchGet([accountKey(account), memberKey(account, person)]);
  const member = membersOf(items).find(({ id }) => id === person);
  return member && { ...member, isLastOwner: isLastOwner(membersIn(items.find(isAccount)), person) };
}

/** Returns an account with its members and pending invitations, oldest first. */
export async function readMembers(
  account: string,
): Promise<{ account?: Account; members: Member[]; invitations: Invitation[] }> {
  const items = await queryPartition(partitionOf(account));
  const found = items.find(isAccount);
  return defined({
    account: found && toAccount(found),
    members: membersOf(items),
    invitations: items
      .filter((item) => String(item.sk).startsWith(invitationPrefix) && !isOver(item))
      .map(toInvitation),
  });
}

/** Adds a person to an account and returns true, or returns false if they are already a member, who keeps their role. */
export async function addMember(account: string, person: Person, role: Role): Promise<boolean> {
  const addedAt = new Date().toISOString();
  await writeMember(account, person, addedAt);
  const isOwner = role === 'owner';
  const expression = `SET members.#person = :member${isOwner ? ' ADD owners :persons' : ''}`;
  const added = await update(accountKey(account), expression, {
    condition: `${itemExists} AND attribute_not_exists(members.#person)`,
    names: { '#person': person.id },
    values: { ':member': { role, addedAt }, ':persons': isOwner ? new Set([person.id]) : undefined },
  });
  return added !== undefined;
}

async function writeMember(account: string, person: Person, addedAt: string): Promise<void> {
  for (const item of itemsOfMember(account, person, addedAt)) await put(item);
}

/** Returns the items that show a member to the account and the account to the member. */
export function itemsOfMember(account: string, { id, email, name }: Person, addedAt: string): (Key & Item)[] {
  return [
    { ...memberKey(account, id), person: id, email, name, addedAt },
    { pk: membershipsOf(id), sk: account, addedAt },
  ];
}

/** The rule of `isLastOwner` as a condition of the write, because members may change after they are read. */
const isNotLastOwner = '(NOT contains(owners, :person) OR size(owners) > :one)';
const isMember = 'attribute_exists(members.#person)';

/** Changes the role of a member; the last owner of an account stays one. */
export async function changeRole(account: string, person: string, role: Role): Promise<MemberChange> {
  const isOwner = role === 'owner';
  const expression = `SET members.#person.#role = :role ${isOwner ? 'ADD' : 'DELETE'} owners :persons`;
  const common = { ':role': role, ':persons': new Set([person]) };
  const changed = await update(accountKey(account), expression, {
    condition: isOwner ? isMember : `${isMember} AND ${isNotLastOwner}`,
    names: { '#person': person, '#role': 'role' },
    values: isOwner ? common : { ...common, ':person': person, ':one': 1 },
  });
  return changed ? 'changed' : whyNot(account, person, role);
}

/** Removes a member; the last owner of an account cannot be removed. */
export async function removeMember(account: string, person: string): Promise<MemberChange> {
  const before = await update(accountKey(account), 'REMOVE members.#person DELETE owners :persons', {
    condition: `${isMember} AND ${isNotLastOwner}`,
    names: { '#person': person },
    values: { ':persons': new Set([person]), ':person': person, ':one': 1 },
    returns: 'ALL_OLD',
  });
  if (!before) return whyNot(account, person);
  // Deletes only the items of this membership: the person may have been added again in the meantime.
  const { addedAt } = membersIn(before).get(person) ?? {};
  const isSame = 'addedAt = :addedAt';
  await removeIf({ pk: membershipsOf(person), sk: account }, isSame, { ':addedAt': addedAt });
  await removeIf(memberKey(account, person), isSame, { ':addedAt': addedAt });
  return 'changed';
}

async function whyNot(account: string, person: string, role?: Role): Promise<MemberChange> {
  const [item] = await batchGet([accountKey(account)]);
  const decision = decideMemberChange(membersIn(item), person, role);
  // Another member has become an owner since the write was refused.
  return decision === 'changed' ? 'last-owner' : decision;
}

/** Invites an e-mail address to an account. A second invitation replaces the first. */
export async function invite(
  account: string,
  { id = newId(), email, role, invitedBy }: Pick<Invitation, 'email' | 'role' | 'invitedBy'> & { id?: string },
): Promise<Invitation> {
  const now = Date.now();
  const ttl = Math.ceil(now / 1000) + invitationSeconds;
  const invitation: Invitation = {
    id,
    email,
    role,
    invitedBy,
    invitedAt: new Date(now).toISOString(),
    expiresAt: new Date(ttl * 1000).toISOString(),
  };
  await put({ ...listedInvitationKey(account, id), ...invitation, ttl });
  await put({ ...invitationKey(email, account), ...invitation, ttl });
  return invitation;
}

/** Returns a pending invitation to an account. */
export async function readInvitation(account: string, id: string): Promise<Invitation | undefined> {
  const item = await get(listedInvitationKey(account, id));
  return item && !isOver(item) ? toInvitation(item) : undefined;
}

/** Withdraws an invitation, or returns false if it is being accepted. */
export async function withdrawInvitation(account: string, { id, email }: Invitation): Promise<boolean> {
  if (!(await removeIf(invitationKey(email, account), 'attribute_not_exists(claimedBy)'))) return false;
  await remove(listedInvitationKey(account, id));
  return true;
}

/**
 * Adds a person to the accounts that invited their verified e-mail address, and returns the ids of these accounts. An
 * invitation is claimed first and cannot be withdrawn after that. The next sign-in completes an interrupted one.
 */
export async function takeInvitations(person: Person): Promise<string[]> {
  const items = await queryPartition(invitationsTo(person.email));
  const taken: string[] = [];
  for (const item of items.filter((each) => !isOver(each))) {
    const account = String(item.sk);
    const { id, role, email } = toInvitation(item);
    const claimed = await update(invitationKey(email, account), 'SET claimedBy = :person', {
      condition: 'id = :id AND (attribute_not_exists(claimedBy) OR claimedBy = :person)',
      values: { ':id': id, ':person': person.id },
    });
    if (!claimed) continue;
    const actor = { type: 'person', id: person.id } as const;
    await recordChange(account, { action: 'member.joined', subject: person.id, name: email, role, actor });
    await addMember(account, person, role);
    await remove(invitationKey(email, account));
    await remove(listedInvitationKey(account, id));
    taken.push(account);
  }
  return taken;
}

function membersOf(items: Item[]): Member[] {
  const current = membersIn(items.find(isAccount));
  return items
    .flatMap((item): Member[] => {
      const { sk, person, email, name } = item;
      const member = String(sk).startsWith(memberPrefix) ? current.get(String(person)) : undefined;
      return member ? [{ id: String(person), email: String(email), name: String(name), ...member }] : [];
    })
    .sort((left, right) => (left.addedAt < right.addedAt ? -1 : 1));
}

function membersIn(account: Item = {}): Map<string, Pick<Member, 'role' | 'addedAt'>> {
  const { members = {} } = storedIn<{ members?: Record<string, Member> }>(account);
  return new Map(Object.entries(members).map(([person, member]) => [person, withRole(member)]));
}

/** Checks a stored role, because it decides what a person may do. */
function withRole<T extends { role: Role }>(stored: T): T {
  if (!roles.includes(stored.role)) throw new Error(`An account has an unknown role ${stored.role}.`);
  return stored;
}

function isAccount({ sk }: Item): boolean {
  return sk === 'account';
}

function toAccount({ pk, kind, name, createdAt }: Item): Account {
  return {
    id: String(pk).slice(partitions.account.length),
    kind: kind === 'team' ? 'team' : 'personal',
    // An item that an operator wrote may contain only an allowance.
    name: typeof name === 'string' ? name : '',
    createdAt: typeof createdAt === 'string' ? createdAt : '',
  };
}

function toInvitation({ claimedBy: _claimedBy, ...item }: Item): Invitation {
  return withRole(storedIn<Invitation>(item));
}

/** Returns whether an item has expired. DynamoDB may delete it days later. */
function isOver({ ttl }: Item): boolean {
  return typeof ttl === 'number' && ttl * 1000 <= Date.now();
}
