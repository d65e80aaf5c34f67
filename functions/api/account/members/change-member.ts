import { actorOf } from '../../../../shared/accounts/audit.ts';
import { changeRole, readMember } from '../../../../shared/aws/stores/accounts.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { endpoint } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { checkGrant, lastOwner, presentMember } from './present-member.ts';

export const handler = endpoint(routes['member-change'], async ({ account, params, body, source }) => {
  const { memberId } = params;
  const { role } = body;
  checkGrant(account, role);
  const member = await readMember(account.user, memberId);
  if (!member) throw notFound(`There is no member ${memberId}.`);
  if (role === member.role) return { body: presentMember(member) };
  if (member.isLastOwner) throw lastOwner();
  const actor = actorOf(account);
  await recordChange(account.user, {
    action: 'role.changed',
    subject: memberId,
    name: member.email,
    role,
    actor,
    ...source,
  });
  const outcome = await changeRole(account.user, memberId, role);
  if (outcome === 'missing') throw notFound(`There is no member ${memberId}.`);
  if (outcome === 'last-owner') throw lastOwner();
  return { body: presentMember({ ...member, role }) };
});
