import { beforeEach, type RunnerTask } from 'vitest';
import { skipBecause } from './skip.ts';

/** Whether every case runs, by `npm run test:breadth`, and not of many of a kind the ones that tell most. */
export const isBroad = process.env.LATHE_TEST_BREADTH === '1';

const reason = 'one more case of its kind; npm run test:breadth runs it';

/** Options of a suite or test that `npm test` leaves to `npm run test:breadth`. */
export const onlyInBreadth = skipBecause(isBroad ? undefined : reason);

/**
 * Leaves tests of the calling file to `npm run test:breadth`, by their names, with or without those of their suites: what each of them shows alone is a further
 * value of an option, size or format of which another test runs. Fails where the file has no test of a name.
 */
export function leaveToBreadth(names: readonly string[]): void {
  const left = new Set(names);
  let isChecked = false;
  beforeEach(({ task, skip }) => {
    if (!isChecked) {
      const known = new Set(namesIn(task.file));
      const unknown = names.filter((name) => !known.has(name));
      if (unknown.length > 0) throw new Error(`Expected tests named ${JSON.stringify(unknown)} in ${task.file.name}.`);
      isChecked = true;
    }
    if (!isBroad && (left.has(task.name) || left.has(task.fullTestName))) skip(reason);
  });
}

/**
 * Splits pairs of formats into those that `npm test` converts, in which each format is read or written, and the rest, which
 * reads what is written only and writes what is read only.
 */
export function splitPairs(pairs: [from: string, to: string][]): { usual: typeof pairs; more: typeof pairs } {
  const covered = new Set<string>();
  const chosen = new Set<[string, string]>();
  for (const isEnough of [
    ([from, to]: [string, string]) => !covered.has(from) && !covered.has(to),
    ([from, to]: [string, string]) => !covered.has(from) || !covered.has(to),
  ])
    for (const pair of pairs.filter((each) => !chosen.has(each)))
      if (isEnough(pair)) {
        chosen.add(pair);
        for (const format of pair) covered.add(format);
      }
  return { usual: pairs.filter((pair) => chosen.has(pair)), more: pairs.filter((pair) => !chosen.has(pair)) };
}

function namesIn(task: RunnerTask): string[] {
  return 'tasks' in task ? task.tasks.flatMap(namesIn) : [task.name, task.fullTestName];
}
