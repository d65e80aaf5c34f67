import type { Invitation, Member } from '../../../../shared/accounts/account.ts';
import { type Caller, type Role, scopesOfRole } from '../../../../shared/accounts/caller.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { conflict, type HttpError, insufficientPermission } from '../../http/errors.ts';

/** Shows a member. */
export function presentMember({ id, email, name, role, addedAt }: Member): JsonObject {
  return { id, status: 'active', email, name, role, since: addedAt };
}

/** Shows an invitation. */
export function presentInvitation({ id, email, role, invitedAt, expiresAt }: Invitation): JsonObject {
  return { id, status: 'invited', email, role, since: invitedAt, expiresAt };
}

/** Builds the 409 for the last owner of an account, who can neither leave nor get another role. */
export function lastOwner(): HttpError {
  return conflict('An account has at least one owner. Make another member an owner first.');
}

/** Throws the 403 where a role would give its holder more than the caller has: a key with limits or without all of its scopes. */
export function checkGrant({ scopes, limits }: Caller, role: Role): void {
  const missing = scopesOfRole[role].filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    throw insufficientPermission({
      role: [`Expected a role with no more than your own scopes, which lack ${missing}.`],
    });
  if (Object.keys(limits).length > 0)
    throw insufficientPermission({ role: ['Expected an API key without limits: members of an account have none.'] });
}
