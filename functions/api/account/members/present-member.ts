import type { Invitation, Member } from '../../../../shared/accounts/account.ts';
import { type Caller, type Role, scopesOfRole } from '../../../../shared/accounts/caller.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { conflict, type HttpError, insufficientPermission } from '../../http/errors.ts';

/** Presents a member. */
export function presentMember({ id, email, name, role, addedAt }: Member): JsonObject {
  return { id, status: 'active', email, name, role, since: addedAt };
}

/** Presents an invitation. */
export function presentInvitation({ id, email, role, invitedAt, expiresAt }: Invitation): JsonObject {
  return { id, status: 'invited', email, role, since: invitedAt, expiresAt };
}

/** Builds the 409 for removing the last owner of an account or changing their role. */
export function lastOwner(): HttpError {
  return conflict('An account must have an owner. Make another member an owner first.');
}

/** Throws the 403 if a role has scopes that the caller lacks, or the caller is an API key with limits. */
export function checkGrant({ scopes, limits }: Caller, role: Role): void {
  const missing = scopesOfRole[role].filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    throw insufficientPermission({
      role: [`Expected a role with no scopes beyond your own, which lack ${missing}.`],
    });
  if (Object.keys(limits).length > 0)
    throw insufficientPermission({
      role: ['Expected an API key without limits, because members of an account have none.'],
    });
}
