import { describe, expect, it } from 'vitest';
import { checkGrant } from '../../../functions/api/account/members/present-member.ts';
import { authorize } from '../../../functions/api/http/authorize.ts';
import { HttpError } from '../../../functions/api/http/errors.ts';
import type { Route } from '../../../functions/api/http/route.ts';
import { routes } from '../../../functions/api/routes.ts';
import { type Caller, type Role, roles, type Scope, scopes, scopesOfRole } from '../../../shared/accounts/caller.ts';

const rows = Object.entries<Route>(routes).filter(([, route]) => route.access === 'key');

function scopeOf([name, { scope }]: [string, Route]): Scope {
  if (scope === undefined) throw new Error(`The row ${name} has no scope.`);
  return scope;
}

function member(role: Role): Caller {
  return { user: 'f'.repeat(24), person: 'e'.repeat(24), scopes: scopesOfRole[role], limits: {} };
}

function key(change: Partial<Caller> = {}): Caller {
  return { user: 'f'.repeat(24), key: 'a'.repeat(24), scopes, limits: {}, ...change };
}

function refusalOf(act: () => void): HttpError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

describe('every row that takes a key', () => {
  it('has a scope, and no other has', () => {
    for (const row of Object.entries<Route>(routes))
      expect(row[1].scope === undefined, row[0]).toBe(row[1].access === 'public');
  });

  it('that changes work needs process, one that changes the account needs account', () => {
    const wrong = rows.filter((row) => {
      const { method, path } = row[1];
      const changes = method !== 'GET';
      const isExcepted = ['account-token', 'mcp', 'team-create', 'member-remove'].includes(row[0]);
      if (!changes || isExcepted) return false;
      return scopeOf(row) !== (path.startsWith('/v1/account/') ? 'account' : 'process');
    });
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it.each(rows.map((row) => [row[0], scopeOf(row)] as const))(
    '(%s) is refused by name to every set of scopes without %s, and open to that alone',
    (_name, scope) => {
      expect(refusalOf(() => authorize(key({ scopes: [scope] }), { scope }, undefined))).toBeUndefined();
      const others = scopes.filter((other) => other !== scope);
      for (const held of [[], others]) {
        const refusal = refusalOf(() => authorize(key({ scopes: held }), { scope }, undefined));
        expect(refusal).toMatchObject({ status: 403, errorCode: 'insufficient_permission' });
        expect(refusal?.message).toContain(`the scope ${scope}, but the API key has`);
      }
    },
  );

  it.each(roles)('is open to a %s as far as the role goes', (role) => {
    for (const row of rows) {
      const scope = scopeOf(row);
      const refusal = refusalOf(() => authorize(member(role), { scope }, undefined));
      const isAllowed = scopesOfRole[role].some((held) => held === scope);
      expect(refusal?.status, row[0]).toBe(isAllowed ? undefined : 403);
      if (refusal) expect(refusal.message).toContain(`needs the scope ${scope}, but your role in this account has`);
    }
  });
});

describe('a viewer', () => {
  const open = rows.filter((row) => scopeOf(row) === 'read' && !row[1].keyOnly).map(([name]) => name);

  it('may show, list and wait, ask for a token, make a team and leave one, and nothing else', () => {
    expect(open.sort()).toEqual([
      'account-me',
      'account-token',
      'account-usage',
      'list-jobs',
      'list-tasks',
      'member-list',
      'member-remove',
      'show-job',
      'show-task',
      'team-create',
      'wait-for-job',
      'wait-for-task',
      'webhook-deliveries',
      'webhook-list',
    ]);
  });
});

describe('the limit origins', () => {
  const limited = key({ limits: { origins: ['https://example.com'] } });

  it('lets requests of its pages through', () => {
    expect(refusalOf(() => authorize(limited, { scope: 'read' }, 'https://example.com'))).toBeUndefined();
  });

  it.each([undefined, 'https://other.test'])('refuses a request with the Origin %s, and names both', (origin) => {
    const refusal = refusalOf(() => authorize(limited, { scope: 'read' }, origin));
    expect(refusal).toMatchObject({ status: 403, errorCode: 'insufficient_permission' });
    expect(refusal?.errors?.Origin?.[0]).toContain('the limit origins of the API key');
  });
});

describe('a role', () => {
  it('is given by whoever has its scopes and no limits', () => {
    expect(refusalOf(() => checkGrant(key(), 'owner'))).toBeUndefined();
    expect(refusalOf(() => checkGrant(key({ scopes: ['read', 'account'] }), 'viewer'))).toBeUndefined();
    expect(refusalOf(() => checkGrant(key({ scopes: ['read', 'account'] }), 'developer'))?.status).toBe(403);
    expect(refusalOf(() => checkGrant(key({ limits: { maxFileBytes: 1 } }), 'viewer'))?.status).toBe(403);
  });
});
