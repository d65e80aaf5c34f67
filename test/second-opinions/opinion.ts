import { readFileSync } from 'node:fs';

/** What a suite by other hands found, or why it could not be asked. */
export type Opinion =
  | {
      /** Whether each test passed, by name. */
      outcomes: Map<string, boolean>;
      /** Whether only some of the tests were asked for. */
      isPartial: boolean;
      /** How many resources were created. */
      resources?: number;
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

/** Returns the text under a heading of a Markdown document. */
export function readSection(document: string, heading: string): string {
  const text = readFileSync(document, 'utf8');
  return text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
}

/** Returns the figures of a text that are not those of a run, each with what to write instead. */
export function outdatedFigures(section: string, figures: string[]): { written: string; found: string }[] {
  return figures.flatMap((found) => {
    const unit = found.replace(/^\d+ of \d+ /, '');
    const written = new RegExp(`\\d+ of \\d+ ${unit}\\b`).exec(section)?.[0];
    return written === undefined || written === found ? [] : [{ written, found }];
  });
}

/** Reads the tests named in the first column of the tables of tests in a section of a Markdown document. */
export function readDeviations(section: string): Set<string> {
  const tables = section.split(/\n{2,}/).filter((paragraph) => paragraph.startsWith('| tests |'));
  const cells = tables.flatMap((table) => table.split('\n')).flatMap((line) => /^\| (.*?) \|/.exec(line)?.[1] ?? []);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)));
}
