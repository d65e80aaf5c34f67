import * as z from 'zod';
import { normalizedEmail } from '../../../shared/accounts/account.ts';
import { roles } from '../../../shared/accounts/caller.ts';
import { Id, oneOf, text } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

const MemberPath = () => z.object({ memberId: Id });
const Email = () => z.email('Expected an e-mail address.').max(254).transform(normalizedEmail);

export const memberRoutes = {
  'team-create': {
    module: 'account/create-team',
    ...keyed('POST', '/v1/account/teams', 'read', 'Account'),
    summary: 'Create a team (signed-in people only)',
    permissions: ['account:batchGet', 'account:put', 'membership:query', 'membership:put', 'audit:put'],
    body: () => z.object({ name: text(100).describe('Name of the team.') }),
    success: 201,
    errors: [409],
    response: 'Account',
  },
  'member-list': {
    module: 'account/members/list-members',
    ...keyed('GET', '/v1/account/members', 'read', 'Account'),
    summary: 'List members and pending invitations (an API key requires the scope account)',
    permissions: ['account:query'],
    response: 'MemberList',
  },
  'member-invite': {
    module: 'account/members/invite-member',
    ...keyed('POST', '/v1/account/members', 'account', 'Account'),
    summary: 'Invite a person to a team by e-mail address',
    permissions: ['account:query', 'account:put', 'invitation:put', 'audit:put'],
    body: () =>
      z.object({
        email: Email().describe('Address of the person, who joins by signing in with it within 14 days.'),
        role: oneOf(roles)
          .default('developer')
          .describe('Role of the member. Owners can do everything, viewers can only read.'),
      }),
    success: 201,
    errors: [409],
    response: 'Member',
  },
  'member-change': {
    module: 'account/members/change-member',
    ...keyed('POST', '/v1/account/members/{memberId}', 'account', 'Account'),
    summary: 'Change the role of a member',
    permissions: ['account:batchGet', 'account:update', 'audit:put'],
    params: MemberPath,
    body: () => z.object({ role: oneOf(roles).describe('The new role.') }),
    errors: [409],
    response: 'Member',
  },
  'member-remove': {
    module: 'account/members/remove-member',
    ...keyed('DELETE', '/v1/account/members/{memberId}', 'read', 'Account'),
    summary: 'Leave a team or, with the scope account, remove a member or withdraw an invitation',
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
    errors: [409],
  },
} as const satisfies Record<string, Route>;
