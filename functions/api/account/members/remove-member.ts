import { actorOf, type Source } from '../../../../shared/accounts/audit.ts';
import type { Caller } from '../../../../shared/accounts/caller.ts';
import {
  readInvitation,
  readMember,
  removeMember,
  withdrawInvitation,
} from '../../../../shared/aws/stores/accounts.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { requireScope } from '../../http/authorize.ts';
import { endpoint } from '../../http/endpoint.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { lastOwner } from './present-member.ts';

export const handler = endpoint(routes['member-remove'], async ({ account, params, source }) => {
  const { memberId } = params;
  // Every member can leave.
  if (account.person !== memberId) requireScope(account, 'account');
  const found = (await remove(account, memberId, source)) || (await withdraw(account, memberId, source));
  if (!found) throw notFound(`There is no member or invitation ${memberId}.`);
  return {};
});

async function remove(caller: Caller, id: string, source: Source): Promise<boolean> {
  const member = await readMember(caller.user, id);
  if (!member) return false;
  if (member.isLastOwner) throw lastOwner();
  const change = { action: 'member.removed', subject: id, name: member.email, actor: actorOf(caller) } as const;
  await recordChange(caller.user, { ...change, ...source });
  const outcome = await removeMember(caller.user, id);
  if (outcome === 'last-owner') throw lastOwner();
  return outcome === 'changed';
}

async function withdraw(caller: Caller, id: string, source: Source): Promise<boolean> {
  const invitation = await readInvitation(caller.user, id);
  if (!invitation) return false;
  const change = { action: 'invitation.withdrawn', subject: id, name: invitation.email } as const;
  await recordChange(caller.user, { ...change, actor: actorOf(caller), ...source });
  if (!(await withdrawInvitation(caller.user, invitation)))
    throw conflict(`${invitation.email} is accepting the invitation. Remove the member instead.`);
  return true;
}
