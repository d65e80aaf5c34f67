import { expect, test } from 'vitest';
import type { Role } from '../../../shared/accounts/caller.ts';
import { decideMemberChange, isLastOwner } from '../../../shared/accounts/members.ts';

const membersOf = (roles: Record<string, Role>) =>
  new Map(Object.entries(roles).map(([person, role]) => [person, { role }]));

const oneOwner = membersOf({ ann: 'owner', bob: 'developer' });
const twoOwners = membersOf({ ann: 'owner', bob: 'owner' });

test('the last owner is the only member with that role', () => {
  expect(isLastOwner(oneOwner, 'ann')).toBe(true);
  expect(isLastOwner(oneOwner, 'bob')).toBe(false);
  expect(isLastOwner(twoOwners, 'ann')).toBe(false);
  expect(isLastOwner(membersOf({}), 'ann')).toBe(false);
});

test('the last owner can neither leave nor get another role', () => {
  expect(decideMemberChange(oneOwner, 'ann')).toBe('last-owner');
  expect(decideMemberChange(oneOwner, 'ann', 'developer')).toBe('last-owner');
  expect(decideMemberChange(oneOwner, 'ann', 'owner')).toBe('changed');
});

test('an owner can leave or get another role while there is another owner', () => {
  expect(decideMemberChange(twoOwners, 'ann')).toBe('changed');
  expect(decideMemberChange(twoOwners, 'ann', 'viewer')).toBe('changed');
});

test('members who are not owners can be promoted and removed', () => {
  expect(decideMemberChange(oneOwner, 'bob', 'owner')).toBe('changed');
  expect(decideMemberChange(oneOwner, 'bob')).toBe('changed');
});

test('a person who is not a member cannot be changed', () => {
  expect(decideMemberChange(oneOwner, 'eve', 'owner')).toBe('missing');
  expect(decideMemberChange(oneOwner, 'eve')).toBe('missing');
});
