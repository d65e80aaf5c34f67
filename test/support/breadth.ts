import { beforeEach, type RunnerTask } from 'vitest';
import { skipBecause } from './skip.ts';

/** Whether every case runs (`npm run test:breadth`), instead of a representative selection. */
export const isBroad = process.env.LATHE_TEST_BREADTH === '1';

const reason = 'one more case of its kind; npm run test:breadth runs it';

/** Options of a suite or test that `npm test` leaves to `npm run test:breadth`. */
export const onlyInBreadth = skipBecause(isBroad ? undefined : reason);

/**
 * Leaves tests of the calling file to `npm run test:breadth`, by name, with or without their suite's: each covers only
 * one more value of an option, size or format that another test covers. Fails if the file has no test of a name.
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
 * Splits pairs of formats into those that `npm test` converts, so that each format is read or written once, and the
 * rest.
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
