import { readFileSync } from 'node:fs';

/** What a suite by other hands found, or why it could not be asked. */
export type Opinion =
  | {
      /** Whether each test passed, by name. */
      outcomes: Map<string, boolean>;
      /** Whether only some of the tests were asked for. */
      isPartial: boolean;
    }
  | { missing: string };

export interface Judgement {
  passed: number;
  /** Failures that the list of deviations explains. */
  explained: string[];
  unexplained: string[];
  /** Tests on the list that passed, or that were not there. */
  outdated: string[];
}

/** Compares the outcomes with the deviations that are known. */
export function judge({ outcomes, isPartial }: Exclude<Opinion, { missing: string }>, known: Set<string>): Judgement {
  const failed = [...outcomes].flatMap(([name, passed]) => (passed ? [] : [name]));
  return {
    passed: outcomes.size - failed.length,
    explained: failed.filter((name) => known.has(name)),
    unexplained: failed.filter((name) => !known.has(name)),
    outdated: [...known].filter((name) => outcomes.get(name) ?? !isPartial),
  };
}

/** Reads the tests named in the first column of the tables of tests under a heading of a Markdown document. */
export function readDeviations(document: string, heading: string): Set<string> {
  const text = readFileSync(document, 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const tables = section.split(/\n{2,}/).filter((paragraph) => paragraph.startsWith('| tests |'));
  const cells = tables.flatMap((table) => table.split('\n')).flatMap((line) => /^\| (.*?) \|/.exec(line)?.[1] ?? []);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)));
}
