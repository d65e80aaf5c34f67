import type { Role } from './caller.ts';

/** The members of an account, by the id of the person. */
export type Members = ReadonlyMap<string, { role: Role }>;

/** The outcome of removing a member or changing their role. */
export type MemberChange = 'changed' | 'missing' | 'last-owner';

/** Returns whether a person is the only owner of an account, who can neither leave nor get another role. */
export function isLastOwner(members: Members, person: string): boolean {
  const owners = [...members].filter(([, { role }]) => role === 'owner').map(([id]) => id);
  return owners.length === 1 && owners[0] === person;
}

/** Returns the outcome of removing a person from an account, or of giving them a role. */
export function decideMemberChange(members: Members, person: string, role?: Role): MemberChange {
  if (!members.has(person)) return 'missing';
  return role !== 'owner' && isLastOwner(members, person) ? 'last-owner' : 'changed';
}
