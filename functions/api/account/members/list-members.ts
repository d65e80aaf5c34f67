import { readMembers } from '../../../../shared/aws/stores/accounts.ts';
import { requireScope } from '../../http/authorize.ts';
import { endpoint } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { presentInvitation, presentMember } from './present-member.ts';

export const handler = endpoint(routes['member-list'], async ({ account }) => {
  // Members can see each other. Keys in pages and programs must not expose their e-mail addresses.
  if (account.person === undefined) requireScope(account, 'account');
  const { members, invitations } = await readMembers(account.user);
  return { body: { docs: [...members.map(presentMember), ...invitations.map(presentInvitation)] } };
});
