import { readFileSync } from 'node:fs';

/** The result of a third-party suite, or why it could not run. */
export type Opinion =
  | {
      /** Whether each test passed, by name. */
      outcomes: Map<string, boolean>;
      /** Whether only some tests were selected. */
      isPartial: boolean;
      /** Number of created resources. */
      resources?: number;
    }
  | { missing: string };

export interface Judgement {
  passed: number;
  /** Failures that the list of deviations explains. */
  explained: string[];
  unexplained: string[];
  /** Listed tests that passed or do not exist. */
  outdated: string[];
}

/** Compares the outcomes with the known deviations. */
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

/** Returns the figures of a text that differ from those of a run, each with its replacement. */
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
