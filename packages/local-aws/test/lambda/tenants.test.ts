import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../../../test/support/processes.ts';
import type { LocalFunction } from '../../src/template/model.ts';
import { eventually } from './fixtures/eventually.ts';
import { linesOf, temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

function withTenants(handler: string, changes: Partial<LocalFunction> = {}): LocalFunction {
  return fixtureFunction(handler, { packaging: 'image', perTenant: true, ...changes });
}

test.each(['zip', 'image'] as const)(
  'an environment of a %s function with tenants serves one of them',
  async (packaging) => {
    await using runtime = fixtureRuntime();
    const fn = withTenants('count', { packaging });

    const results = [];
    for (const tenant of ['ann', 'bob', 'ann', 'bob'])
      results.push(Object(await runtime.invoke(fn, {}, { tenantId: tenant })));

    const [ann, bob] = results;
    expect(ann.pid).not.toBe(bob.pid);
    expect(results).toEqual([ann, bob, { ...ann, invocations: 2 }, { ...bob, invocations: 2 }]);
  },
);

test('an invocation without the tenant its function requires, or with one it does not, reaches no environment', async () => {
  await using runtime = fixtureRuntime();

  const refused = { errorType: 'InvalidParameterValueException' };
  await expect(runtime.invoke(withTenants('count'), {})).rejects.toMatchObject(refused);
  await expect(runtime.invoke(fixtureFunction('count'), {}, { tenantId: 'ann' })).rejects.toMatchObject(refused);
});

test('if there is no room for more environments, an idle one of another tenant makes some', async () => {
  // An image function has one environment more.
  await using runtime = fixtureRuntime({ cores: 1 });
  const fn = withTenants('count');

  const pids: number[] = [];
  for (const tenant of ['ann', 'bob', 'eve', 'ann'])
    pids.push(Object(await runtime.invoke(fn, {}, { tenantId: tenant })).pid);

  expect(new Set(pids).size).toBe(4);
  const areAlive = () => Promise.all(pids.map((pid) => isAlive(pid)));
  await eventually(async () => (await areAlive()).join() === 'false,false,true,true');
});

test('one in use is not ended for another tenant, who is next although others of its tenant wait', async () => {
  await using runtime = fixtureRuntime({ cores: 1 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = withTenants('hold');
  const began = () => linesOf(join(folder, 'began'));

  // An image function has one environment more than there are cores: this one is held to the end.
  const last = runtime.invoke(fn, { name: 'last', folder }, { tenantId: 'eve' });
  await eventually(() => began().length === 1);
  const held = [runtime.invoke(fn, { name: 'first', folder }, { tenantId: 'ann' })];
  await eventually(() => began().length === 2);
  held.push(...['second', 'third'].map((name) => runtime.invoke(fn, { name, folder }, { tenantId: 'ann' })));
  held.push(runtime.invoke(fn, { name: 'other', folder }, { tenantId: 'bob' }));
  for (const name of ['first', 'second', 'third', 'other']) writeFileSync(join(folder, `release-${name}`), '');

  expect(await Promise.all(held)).toMatchObject(['first', 'second', 'third', 'other'].map((name) => ({ name })));
  expect(began().slice(1, 4)).toEqual(['first', 'other', 'second']);
  writeFileSync(join(folder, 'release-last'), '');
  await last;
});
