import type { Caller } from '../../../shared/accounts/caller.ts';
import { accountsOf, readAccount, readMember } from '../../../shared/aws/stores/accounts.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { presentMonth } from './usage/present-month.ts';

export const handler = endpoint(routes['account-me'], async ({ account: caller }) => {
  const { kind = 'personal', name = '' } = (await readAccount(caller.user)) ?? {};
  return {
    body: {
      account: { id: caller.user, kind, name },
      scopes: caller.scopes,
      ...(caller.person === undefined ? { key: keyOf(caller) } : { person: await personOf(caller, caller.person) }),
      rateLimits: { requestsPerMinute: requestsPerMinute(caller) },
      retention: { fileSeconds: settings.fileSeconds, recordSeconds: settings.recordSeconds },
      minutes: await presentMonth(caller.user),
    },
  };
});

function keyOf({ key, keyName = '', limits, expiresAt }: Caller) {
  return {
    id: key,
    name: keyName,
    limits,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}

async function personOf({ user, csrf }: Caller, person: string): Promise<JsonObject> {
  const [member, accounts] = await Promise.all([readMember(user, person), accountsOf(person)]);
  if (!member) throw new Error(`The person ${person} is not a member of the account ${user}.`);
  return {
    id: person,
    email: member.email,
    name: member.name,
    role: member.role,
    accounts: accounts.map(({ id, kind, name, role }) => ({ id, kind, name, role })),
    ...(csrf === undefined ? {} : { csrf }),
  };
}

function requestsPerMinute({ limits }: Caller): number | null {
  const all = [settings.ratePerMinute, limits.requestsPerMinute ?? 0].filter((limit) => limit > 0);
  return all.length > 0 ? Math.min(...all) : null;
}
