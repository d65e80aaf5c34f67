import { maxMembers, normalizedEmail } from '../../../../shared/accounts/account.ts';
import { actorOf } from '../../../../shared/accounts/audit.ts';
import { invite, readMembers } from '../../../../shared/aws/stores/accounts.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { newId } from '../../../../shared/ids.ts';
import { endpoint } from '../../http/endpoint.ts';
import { conflict } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { checkGrant, presentInvitation } from './present-member.ts';

export const handler = endpoint(routes['member-invite'], async ({ account: caller, body, source }) => {
  const { email, role } = body;
  checkGrant(caller, role);
  const { account, members, invitations } = await readMembers(caller.user);
  if (account?.kind !== 'team')
    throw conflict('A personal account has only one member. Create a team to invite others.');
  if (members.some((member) => normalizedEmail(member.email) === email))
    throw conflict(`${email} is already a member.`);
  const former = invitations.find((invitation) => invitation.email === email);
  if (!former && members.length + invitations.length >= maxMembers)
    throw conflict(`A team can have at most ${maxMembers} members and pending invitations.`);
  const id = former?.id ?? newId();
  const actor = actorOf(caller);
  await recordChange(caller.user, { action: 'member.invited', subject: id, name: email, role, actor, ...source });
  const invitation = await invite(caller.user, { id, email, role, invitedBy: actor.id ?? actor.type });
  return { body: presentInvitation(invitation) };
});
