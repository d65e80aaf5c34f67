import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Person } from '../../shared/accounts/account.ts';
import { type Caller, type Role, roles, scopesOfRole } from '../../shared/accounts/caller.ts';
import type * as AccountStore from '../../shared/aws/stores/accounts.ts';
import type * as KeyStore from '../../shared/aws/stores/api-keys.ts';
import type * as AuditStore from '../../shared/aws/stores/audit.ts';
import type * as Table from '../../shared/aws/table.ts';
import { newId } from '../../shared/ids.ts';
import type { TaskView } from '../support/client.ts';
import { allowTable, tableVariables } from '../support/roles.ts';
import { addUser, startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

let service: Awaited<ReturnType<typeof startAlteredStack>>;
let store: typeof AccountStore;
let keys: typeof KeyStore;
let audit: typeof AuditStore;
let table: typeof Table;
/** Who the handlers take the next request to be from, in place of a session. */
let signedIn: Caller;

beforeAll(async () => {
  service = await startAlteredStack(allowTable);
  for (const [name, value] of Object.entries(await tableVariables(service))) vi.stubEnv(name, value);
  vi.stubEnv('LATHE_RATE_PER_MINUTE', '0');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
  // After the variables, which these modules read when they are loaded, as they were before.
  vi.resetModules();
  vi.doMock('../../functions/api/http/authenticate.ts', () => ({
    authenticate: async () => signedIn,
    keyKnownMs: 10_000,
  }));
  store = await import('../../shared/aws/stores/accounts.ts');
  keys = await import('../../shared/aws/stores/api-keys.ts');
  audit = await import('../../shared/aws/stores/audit.ts');
  table = await import('../../shared/aws/table.ts');
});
afterAll(async () => {
  vi.doUnmock('../../functions/api/http/authenticate.ts');
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

let persons = 0;
function person(): Person {
  persons += 1;
  return { id: newId(), email: `person${persons}@example.com`, name: `Person ${persons}` };
}

async function teamOf(...owners: [Person, ...Person[]]): Promise<string> {
  const { id } = await store.createAccount({ kind: 'team', name: 'Team' }, owners[0]);
  for (const owner of owners.slice(1)) await store.addMember(id, owner, 'owner');
  return id;
}

describe('the members of an account', () => {
  test('are listed with their roles, and each finds the account', async () => {
    const [owner, viewer] = [person(), person()];
    const id = await teamOf(owner);
    expect(await store.addMember(id, viewer, 'viewer')).toBe(true);
    expect(await store.addMember(id, viewer, 'owner')).toBe(false);

    const { account, members } = await store.readMembers(id);
    expect(account).toMatchObject({ id, kind: 'team', name: 'Team' });
    expect(members).toMatchObject([
      { ...owner, role: 'owner' },
      { ...viewer, role: 'viewer' },
    ]);
    expect(await store.accountsOf(viewer.id)).toMatchObject([{ id, role: 'viewer' }]);
    expect(await store.removeMember(id, viewer.id)).toBe('changed');
    expect(await store.roleIn(viewer.id, id)).toBeUndefined();
    expect(await store.accountsOf(viewer.id)).toEqual([]);
    expect(await store.removeMember(id, viewer.id)).toBe('missing');
    expect(await store.changeRole(id, viewer.id, 'owner')).toBe('missing');
    expect(await store.changeRole(id, viewer.id, 'viewer')).toBe('missing');
  });

  test.each(['leave', 'give up their role'])('lose all owners but one where ten %s at once', async (what) => {
    const owners: [Person, ...Person[]] = [person(), ...Array.from({ length: 9 }, person)];
    const id = await teamOf(...owners);
    const outcomes = await Promise.all(
      owners.map((owner) =>
        what === 'leave' ? store.removeMember(id, owner.id) : store.changeRole(id, owner.id, 'viewer'),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'last-owner')).toHaveLength(1);
    const { members } = await store.readMembers(id);
    expect(members.filter(({ role }) => role === 'owner')).toHaveLength(1);
    expect(members).toHaveLength(what === 'leave' ? 1 : 10);
  });

  test('always have an owner, whatever is done to them at once, and copies that agree with the account', async () => {
    const step = fc.record({
      who: fc.nat({ max: 2 }),
      what: fc.constantFrom<Role | 'remove' | 'add'>(...roles, 'remove', 'add'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 3 }), async (rounds) => {
        const all: [Person, ...Person[]] = [person(), person(), person()];
        const id = await teamOf(...all);
        const act = ({ who, what }: { who: number; what: Role | 'remove' | 'add' }) => {
          const target = all[who] ?? all[0];
          if (what === 'remove') return store.removeMember(id, target.id);
          if (what === 'add') return store.addMember(id, target, 'owner');
          return store.changeRole(id, target.id, what);
        };
        for (const round of rounds) {
          await Promise.all(round.map(act));
          const { members } = await store.readMembers(id);
          const item = await table.get({ pk: `account#${id}`, sk: 'account' });
          const byRole = members.filter(({ role }) => role === 'owner').map((member) => member.id);
          expect(byRole.length).toBeGreaterThan(0);
          expect(item?.owners).toEqual(new Set(byRole));
          expect(members.map((member) => member.id).sort()).toEqual(Object.keys(Object(item?.members)).sort());
          for (const each of all)
            expect((await store.accountsOf(each.id)).map((account) => account.role)).toEqual(
              members.filter((member) => member.id === each.id).map((member) => member.role),
            );
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('an invitation', () => {
  test('makes a member of whoever signs in with its address, once, and says so in the audit log', async () => {
    const [owner, guest] = [person(), person()];
    const id = await teamOf(owner);
    const { id: invitation } = await store.invite(id, { email: guest.email, role: 'developer', invitedBy: owner.id });
    expect((await store.readMembers(id)).invitations).toMatchObject([{ id: invitation, email: guest.email }]);

    expect(await store.takeInvitations({ ...guest, email: guest.email.toUpperCase() })).toEqual([id]);
    expect(await store.roleIn(guest.id, id)).toBe('developer');
    expect((await store.readMembers(id)).invitations).toEqual([]);
    expect(await store.takeInvitations(guest)).toEqual([]);
    expect(await audit.listChanges(id, 10)).toMatchObject([
      { action: 'member.joined', subject: guest.id, role: 'developer', actor: { type: 'person', id: guest.id } },
    ]);
  });

  test('is either withdrawn or accepted where both happen at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [owner, guest] = [person(), person()];
        const id = await teamOf(owner);
        const invitation = await store.invite(id, { email: guest.email, role: 'viewer', invitedBy: owner.id });
        const [isWithdrawn, taken] = await Promise.all([
          store.withdrawInvitation(id, invitation),
          store.takeInvitations(guest),
        ]);
        return { isWithdrawn, isTaken: taken.length > 0, role: await store.roleIn(guest.id, id) };
      }),
    );
    for (const { isWithdrawn, isTaken, role } of outcomes) {
      expect(role).toBe(isTaken ? 'viewer' : undefined);
      // One that was accepted just before can be withdrawn no more, which changes nothing.
      if (!isTaken) expect(isWithdrawn).toBe(true);
    }
  });

  test('that has expired is neither listed nor accepted', async () => {
    const [owner, guest] = [person(), person()];
    const id = await teamOf(owner);
    const { id: invitation } = await store.invite(id, { email: guest.email, role: 'viewer', invitedBy: owner.id });
    const hash = createHash('sha256').update(guest.email).digest('hex');
    for (const key of [
      { pk: `account#${id}`, sk: `invitation#${invitation}` },
      { pk: `invite#${hash}`, sk: id },
    ]) {
      // DynamoDB deletes what has expired some days late.
      const values = { ':ttl': Math.floor(Date.now() / 1000) };
      expect(await table.update(key, 'SET #ttl = :ttl', { names: { '#ttl': 'ttl' }, values })).toBeDefined();
    }
    expect((await store.readMembers(id)).invitations).toEqual([]);
    expect(await store.takeInvitations(guest)).toEqual([]);
  });
});

/** Loaded on demand, because handlers read the environment of the stack. */
const endpoints = {
  'create-team': () => import('../../functions/api/account/create-team.ts'),
  'show-account': () => import('../../functions/api/account/show-account.ts'),
  'list-members': () => import('../../functions/api/account/members/list-members.ts'),
  'change-member': () => import('../../functions/api/account/members/change-member.ts'),
  'remove-member': () => import('../../functions/api/account/members/remove-member.ts'),
};

/** Calls the handler of an endpoint as a person who is signed in. */
async function callAs(
  who: Person,
  account: string,
  module: keyof typeof endpoints,
  { body, params }: { body?: object; params?: Record<string, string> } = {},
) {
  const role = await store.roleIn(who.id, account);
  if (!role) throw new Error(`${who.email} is no member of ${account}.`);
  signedIn = { user: account, person: who.id, scopes: scopesOfRole[role], limits: {}, csrf: 'c' };
  const { handler } = await endpoints[module]();
  const http = { method: 'POST', path: '/', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' };
  const event: Partial<APIGatewayProxyEventV2> = {
    headers: { 'content-type': 'application/json', 'user-agent': 'tests' },
    requestContext: { http, requestId: 'r' } as APIGatewayProxyEventV2['requestContext'],
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(params ? { pathParameters: params } : {}),
  };
  const context: Partial<Context> = { awsRequestId: 'r', getRemainingTimeInMillis: () => 29_000 };
  const response: APIGatewayProxyStructuredResultV2 = await handler(event, context);
  return { status: response.statusCode, body: JSON.parse(response.body || '{}') };
}

describe('a person', () => {
  test('sees themselves and their accounts, makes a team, and leaves one that has another owner', async () => {
    const [founder, second] = [person(), person()];
    const { id: personal } = await store.createAccount({ kind: 'personal', name: founder.name }, founder);
    const made = await callAs(founder, personal, 'create-team', { body: { name: 'Print shop' } });
    expect(made).toMatchObject({ status: 201, body: { kind: 'team', name: 'Print shop', role: 'owner' } });
    const team = made.body.id;
    await store.addMember(team, second, 'viewer');

    const me = await callAs(founder, team, 'show-account');
    expect(me.body).toMatchObject({
      account: { id: team, kind: 'team', name: 'Print shop' },
      scopes: ['read', 'process', 'account'],
      person: { id: founder.id, email: founder.email, role: 'owner', csrf: 'c' },
    });
    expect(me.body.person.accounts.map(({ id }: { id: string }) => id).sort()).toEqual([personal, team].sort());
    expect(me.body).not.toHaveProperty('key');

    const params = { memberId: founder.id };
    expect(await callAs(founder, team, 'remove-member', { params })).toMatchObject({ status: 409 });
    expect(await callAs(founder, team, 'change-member', { params, body: { role: 'viewer' } })).toMatchObject({
      status: 409,
    });
    const promotion = { params: { memberId: second.id }, body: { role: 'owner' } };
    expect(await callAs(second, team, 'change-member', promotion)).toMatchObject({ status: 403 });
    expect(await callAs(founder, team, 'change-member', promotion)).toMatchObject({ body: { role: 'owner' } });
    expect(await callAs(founder, team, 'remove-member', { params })).toMatchObject({ status: 200 });
    expect(await store.roleIn(founder.id, team)).toBeUndefined();
    expect(
      (await audit.listChanges(team, 10)).map(({ action, actor, address }) => [action, actor.id, address]),
    ).toEqual(['member.removed', 'role.changed', 'team.created'].map((action) => [action, founder.id, '192.0.2.1']));
  });

  test('who is a viewer sees the members and may leave, but removes nobody else', async () => {
    const [owner, viewer] = [person(), person()];
    const team = await teamOf(owner);
    await store.addMember(team, viewer, 'viewer');
    const { body } = await callAs(viewer, team, 'list-members');
    expect(body.docs).toHaveLength(2);
    const other = await callAs(viewer, team, 'remove-member', { params: { memberId: owner.id } });
    expect(other).toMatchObject({ status: 403, body: { errorCode: 'insufficient_permission' } });
    expect(other.body.msg).toContain('the scope account');
    expect(await callAs(viewer, team, 'remove-member', { params: { memberId: viewer.id } })).toMatchObject({
      status: 200,
    });
  });
});

interface MemberView {
  id: string;
  status: string;
  email: string;
  role: string;
}

test('a team is managed by a key with the scope account: invited, listed, withdrawn, changed and removed', async () => {
  const [owner, developer] = [person(), person()];
  const team = newId();
  const apiKey = await addUser(service, team, { kind: 'team', owner });
  const { client } = service;
  const as = bearer(apiKey);
  await store.addMember(team, developer, 'developer');
  const members = async () =>
    (await client.call<{ docs: MemberView[] }>('GET', '/v1/account/members', undefined, as)).body.docs;

  const invited = await client.call<MemberView>(
    'POST',
    '/v1/account/members',
    { email: 'New@Example.com', role: 'viewer' },
    as,
  );
  expect(invited).toMatchObject({ status: 201, body: { status: 'invited', email: 'new@example.com', role: 'viewer' } });
  const again = await client.call<MemberView>('POST', '/v1/account/members', { email: 'new@example.com' }, as);
  expect(again.body).toMatchObject({ id: invited.body.id, role: 'developer' });
  expect((await members()).map(({ email, status, role }) => [email, status, role])).toEqual([
    [owner.email, 'active', 'owner'],
    [developer.email, 'active', 'developer'],
    ['new@example.com', 'invited', 'developer'],
  ]);
  const known = await client.call('POST', '/v1/account/members', { email: developer.email.toUpperCase() }, as);
  expect(known.status).toBe(409);
  expect((await client.call('DELETE', `/v1/account/members/${invited.body.id}`, undefined, as)).status).toBe(200);
  expect(await members()).toHaveLength(2);

  const change = (id: string, role: Role) => client.call('POST', `/v1/account/members/${id}`, { role }, as);
  expect((await change(owner.id, 'viewer')).status).toBe(409);
  expect((await change(developer.id, 'owner')).body).toMatchObject({ role: 'owner' });
  expect((await client.call('DELETE', `/v1/account/members/${owner.id}`, undefined, as)).status).toBe(200);
  expect((await client.call('DELETE', `/v1/account/members/${developer.id}`, undefined, as)).status).toBe(409);
  const log = await audit.listChanges(team, 20);
  expect(log.map(({ action, subject }) => [action, subject])).toEqual([
    ['member.removed', owner.id],
    ['role.changed', developer.id],
    ['invitation.withdrawn', invited.body.id],
    ['member.invited', invited.body.id],
    ['member.invited', invited.body.id],
  ]);
});

/** Opens a plain WebSocket with a credential. */
function connect(query: string, headers: Record<string, string> = {}): WebSocket {
  return new WebSocket(`${service.url.replace('http', 'ws')}/ws${query}`, { headers });
}

/** Returns why a connection is refused. */
async function refusalOf(query: string, headers?: Record<string, string>): Promise<string> {
  const [error] = await once(connect(query, headers), 'error');
  return String(error);
}

async function keyWith(change: Record<string, unknown>): Promise<{ id: string; key: string }> {
  const response = await service.client.call<{ id: string; key: string }>('POST', '/v1/account/keys', {
    name: 'Tests',
    ...change,
  });
  expect(response.status).toBe(201);
  return response.body;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

test('a deleted key ends the sockets and the waits that it opened within 30 seconds', async () => {
  const { id, key } = await keyWith({ scopes: ['read', 'process'] });
  const { body: task } = await service.client.call<TaskView>('POST', '/v1/process/import/upload');
  const waiting = service.client.call('GET', `/v1/process/tasks/${task.id}/wait`, undefined, bearer(key));
  const { body: issued } = await service.client.call<{ token: string }>('POST', '/v1/account/token', {}, bearer(key));
  const sockets = [connect('', bearer(key)), connect(`?token=${issued.token}`)];
  await Promise.all(sockets.map((socket) => once(socket, 'open')));

  const deletedAt = Date.now();
  expect((await service.client.call('DELETE', `/v1/account/keys/${id}`)).status).toBe(200);
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  expect(Date.now() - deletedAt).toBeLessThan(10_000);
  expect((await waiting).status).toBe(401);
  expect(Date.now() - deletedAt).toBeLessThan(30_000);
  expect(await refusalOf('', bearer(key))).toContain('401');
  expect(await refusalOf(`?token=${issued.token}`)).toContain('401');
});

test('a socket whose key was revoked by the operator is closed in place of being sent an event', async () => {
  const { key } = await keyWith({ scopes: ['read'] });
  const socket = connect('', bearer(key));
  const events: string[] = [];
  socket.on('message', (data) => events.push(JSON.parse(String(data)).event));
  await once(socket, 'open');
  const upload = async () => (await service.client.call<TaskView>('POST', '/v1/process/import/upload')).body;
  const { user } = await upload();
  socket.send(JSON.stringify({ action: 'subscribe', channel: `user.${user}.tasks` }));
  await until('the subscription stands', async () => events.includes('subscribed'));

  const revokedAt = Date.now();
  await table.remove({ pk: `key#${keys.hashOfKey(key)}`, sk: 'key' });
  await until('an event has closed the socket', async () => {
    await upload();
    return socket.readyState === WebSocket.CLOSED;
  });
  expect(Date.now() - revokedAt).toBeLessThan(30_000);
});

test('a socket needs the scope read, and a page of an origin that its key is limited to', async () => {
  const [blind, limited] = await Promise.all([
    keyWith({ scopes: ['process'] }),
    keyWith({ scopes: ['read'], limits: { origins: ['https://example.com'] } }),
  ]);
  for (const headers of [
    bearer(blind.key),
    bearer(limited.key),
    { ...bearer(limited.key), origin: 'https://example.org' },
  ])
    expect(await refusalOf('', headers)).toContain('401');
  const socket = connect('', { ...bearer(limited.key), origin: 'https://example.com' });
  await once(socket, 'open');
  socket.close();
});
