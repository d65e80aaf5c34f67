import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentOf, type Kind, truthOf } from '../commands/markdown/documents.ts';
import { figuresOf, judge, printAll } from '../commands/markdown/judge.ts';
import { scoresOf } from '../commands/markdown/measures.ts';

// All documents of npm run test:markdown take minutes: here are those that one program draws fast.
const withTables: Kind[] = ['striped', 'book style', 'borderless', 'spanning', 'two columns'];
const withoutTables: Kind[] = ['prose in columns', 'index', 'terms'];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'markdown-quality-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('Markdown of a PDF', () => {
  test('has its tables, headings and text in order', async () => {
    const printed = await printAll(withTables, [2], ['pdf-lib'], folder);
    const judged = await Promise.all(printed.map(judge));
    const { overall, tables } = figuresOf(judged);
    expect(overall).toBeGreaterThan(0.85);
    expect(tables).toBeGreaterThan(0.8);
  });

  test('has no table if the PDF has none', async () => {
    const printed = await printAll(withoutTables, [2], ['pdf-lib'], folder);
    const judged = await Promise.all(printed.map(judge));
    expect(judged.map(({ kind, falseTables }) => [kind, falseTables])).toEqual(withoutTables.map((kind) => [kind, 0]));
    expect(figuresOf(judged).overall).toBeGreaterThan(0.85);
  });
});

describe('the measures', () => {
  const table = (rows: string[][]) => rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const rows = (cell: string) =>
    table([
      ['Name', 'Amount'],
      ['---', '---'],
      ['First', cell],
    ]);

  test('are 1 for the truth itself', () => {
    const truth = truthOf(documentOf('spanning', 2));
    expect(scoresOf(truth, truth)).toEqual({ order: 1, headings: 1, tables: 1, falseTables: 0 });
  });

  test('count cells, missing tables and tables too many', () => {
    // A table, two rows and four cells are seven nodes; one text of four letters has one other letter.
    expect(scoresOf(rows('1000'), rows('1900')).tables).toBeCloseTo(1 - 0.25 / 7);
    expect(scoresOf(rows('1000'), 'Name Amount First 1000').tables).toBe(0);
    expect(scoresOf(rows('1000'), `${rows('1000')}\n\n${rows('2')}`)).toMatchObject({ tables: 0.5, falseTables: 1 });
    expect(scoresOf('# Title\n\ntext', 'Title text').headings).toBe(0);
  });
});
