import { actorOf } from '../../../shared/accounts/audit.ts';
import { accountsOf, createAccount, readMember } from '../../../shared/aws/stores/accounts.ts';
import { recordChange } from '../../../shared/aws/stores/audit.ts';
import { newId } from '../../../shared/ids.ts';
import { endpoint } from '../http/endpoint.ts';
import { conflict, insufficientPermission } from '../http/errors.ts';
import { routes } from '../routes.ts';

const maxAccounts = 50;

export const handler = endpoint(routes['team-create'], async ({ account, body, source }) => {
  const { user, person } = account;
  if (person === undefined)
    throw insufficientPermission('A team belongs to the person who creates it. Sign in instead of using an API key.');
  const [member, accounts] = await Promise.all([readMember(user, person), accountsOf(person)]);
  if (!member) throw new Error(`The person ${person} is not a member of the account ${user}.`);
  if (accounts.length >= maxAccounts) throw conflict(`A person can be a member of at most ${maxAccounts} accounts.`);
  const id = newId();
  const { name } = body;
  await recordChange(id, { action: 'team.created', subject: id, name, actor: actorOf(account), ...source });
  await createAccount({ id, kind: 'team', name }, member);
  return { body: { id, kind: 'team', name, role: 'owner' } };
});
