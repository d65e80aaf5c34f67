import type { Caller, Scope } from '../../../shared/accounts/caller.ts';
import { allowsOrigin } from '../../../shared/accounts/limits.ts';
import { insufficientPermission } from './errors.ts';

/** Throws the 403 if a caller lacks the scope of a row, or its API key does not allow this origin. */
export function authorize(caller: Caller, { scope }: { scope: Scope }, origin: string | undefined): void {
  requireScope(caller, scope);
  if (allowsOrigin(caller.limits, origin)) return;
  const received = origin === undefined ? 'none' : JSON.stringify(origin.slice(0, 100));
  throw insufficientPermission({
    Origin: [
      `Expected one of ${caller.limits.origins?.join(', ')}, by the limit origins of the API key, but received ${received}.`,
    ],
  });
}

/** Throws the 403 if a caller does not have a scope. */
export function requireScope({ scopes, person }: Caller, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const holder = person === undefined ? 'the API key' : 'your role in this account';
  const held = scopes.length > 0 ? scopes.join(', ') : 'no scope';
  throw insufficientPermission(`This needs the scope ${scope}, but ${holder} has ${held}.`);
}
