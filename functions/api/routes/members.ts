import * as z from 'zod';
import { normalizedEmail } from '../../../shared/accounts/account.ts';
import { roles } from '../../../shared/accounts/caller.ts';
import { Id, oneOf, text } from '../http/fields.ts';
import type { Route } from '../http/route.ts';

const MemberPath = z.object({ memberId: Id });
const Email = () => z.email('Expected an e-mail address.').max(254).transform(normalizedEmail);

export const memberRoutes = {
  'team-create': {
    module: 'account/create-team',
    method: 'POST',
    path: '/v1/account/teams',
    summary: 'Create a team (signed-in people only)',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:batchGet', 'account:put', 'membership:query', 'membership:put', 'audit:put'],
    get body() {
      return z.object({ name: text(100).describe('Name of the team.') });
    },
    success: 201,
    errors: [409],
    response: 'Account',
  },
  'member-list': {
    module: 'account/members/list-members',
    method: 'GET',
    path: '/v1/account/members',
    summary: 'List members and pending invitations (an API key requires the scope account)',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:query'],
    success: 200,
    response: 'MemberList',
  },
  'member-invite': {
    module: 'account/members/invite-member',
    method: 'POST',
    path: '/v1/account/members',
    summary: 'Invite a person to a team by e-mail address',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['account:query', 'account:put', 'invitation:put', 'audit:put'],
    get body() {
      return z.object({
        email: Email().describe('Address of the person, who joins by signing in with it within 14 days.'),
        role: oneOf(roles)
          .default('developer')
          .describe('Role of the member. Owners can do everything, viewers can only read.'),
      });
    },
    success: 201,
    errors: [409],
    response: 'Member',
  },
  'member-change': {
    module: 'account/members/change-member',
    method: 'POST',
    path: '/v1/account/members/{memberId}',
    summary: 'Change the role of a member',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['account:batchGet', 'account:update', 'audit:put'],
    params: MemberPath,
    get body() {
      return z.object({ role: oneOf(roles).describe('The new role.') });
    },
    success: 200,
    errors: [409],
    response: 'Member',
  },
  'member-remove': {
    module: 'account/members/remove-member',
    method: 'DELETE',
    path: '/v1/account/members/{memberId}',
    summary: 'Leave a team or, with the scope account, remove a member or withdraw an invitation',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: [
      'account:get',
      'account:batchGet',
      'account:update',
      'account:delete',
      'membership:delete',
      'invitation:delete',
      'audit:put',
    ],
    params: MemberPath,
    success: 200,
    errors: [409],
  },
} as const satisfies Record<string, Route>;
