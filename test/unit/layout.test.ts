import { cruise, type IModule } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { beforeAll, describe, expect, test } from 'vitest';

/** What shared/ is shared by. */
const rooms = ['api', 'catalogue', 'engines', 'events', 'lifecycle', 'transfers', 'worker'];
const parts = [...rooms.map((room) => `functions/${room}/`), 'infra/'];
/** What a part reaches through these it uses itself; through another part it does not. */
const between = /^(?:shared|functions\/wiring)\//;

const packages = ['client', 'local-aws', 'runtime-client'];

let usersOf: Map<string, Set<string>>;
let violations: string[];

beforeAll(async () => {
  const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.mjs');
  const folders = ['functions', 'shared', 'infra', ...packages.map((name) => `packages/${name}/src`)];
  const { output } = await cruise(folders, { ...options, ruleSet, validate: true });
  if (typeof output === 'string') throw new Error('Expected the modules but received a report.');
  violations = output.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
  usersOf = findUsers(new Map(output.modules.map((module) => [module.source, module])));
});

/** Returns for each module of shared/ the parts that import it, directly or through other modules of shared/. */
function findUsers(modules: Map<string, IModule>): Map<string, Set<string>> {
  const found = new Map(
    [...modules.keys()].filter((path) => path.startsWith('shared/')).map((path) => [path, new Set<string>()]),
  );
  for (const part of parts) {
    const queue = [...modules.keys()].filter((path) => path.startsWith(part));
    const seen = new Set(queue);
    for (const path of queue) {
      found.get(path)?.add(part);
      for (const { resolved } of modules.get(path)?.dependencies ?? []) {
        if (!between.test(resolved) || seen.has(resolved)) continue;
        seen.add(resolved);
        queue.push(resolved);
      }
    }
  }
  return found;
}

test('imports point the way that .dependency-cruiser.mjs allows', () => {
  expect(usersOf.size).toBeGreaterThan(50);
  expect(violations).toEqual([]);
});

describe('shared/', () => {
  test('has no folder that fewer than two parts of the project use', () => {
    const folders = Map.groupBy(usersOf, ([path]) => path.split('/').slice(0, -1).join('/'));
    const lonely = [...folders].filter(([, files]) => new Set(files.flatMap(([, users]) => [...users])).size < 2);
    expect(folders.size).toBeGreaterThan(5);
    expect(lonely.map(([folder]) => folder)).toEqual([]);
  });

  test('has no file that fewer than two parts of the project use', () => {
    const lonely = [...usersOf].filter(([, users]) => users.size < 2);
    expect(lonely.map(([path, users]) => `${path} is used by ${[...users].join() || 'nobody'}`)).toEqual([]);
  });
});
