import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainKinds, tableKinds } from './documents.ts';
import { figuresOf, type Judged, judge, printAll, printers } from './judge.ts';

/** Least averages of what was not used for tuning. */
const bar = { overall: 0.85, tables: 0.8 };
const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Prints documents of known structure with several programs, converts them to Markdown, and compares. Documents with odd seeds may be
 * used to tune the engine, those with even seeds only to judge it. Arguments: `--seeds 1,2,3,4`, `--kinds striped,index`,
 * `--printers Chromium`, and `--folder path` to keep the files.
 */
async function main(args: string[]): Promise<void> {
  const argument = (name: string) => args[args.indexOf(`--${name}`) + 1];
  const listOf = (name: string) => (args.includes(`--${name}`) ? argument(name)?.split(',') : undefined);
  const kept = listOf('folder')?.[0];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'markdown-figures-')));
  await mkdir(folder, { recursive: true });
  try {
    const kinds = [...tableKinds, ...plainKinds].filter((kind) => listOf('kinds')?.includes(kind) ?? true);
    const names = Object.keys(printers).filter((name) => listOf('printers')?.includes(name) ?? true);
    const seeds = (listOf('seeds') ?? ['1', '2', '3', '4']).map(Number);
    const documents = await printAll(kinds, seeds, names, folder);
    const judged: Judged[] = [];
    for (const document of documents) {
      const result = await judge(document);
      judged.push(result);
      if (kept !== undefined) await writeFile(document.path.replace(/pdf$/, 'md'), result.text);
      if (kept !== undefined) await writeFile(document.path.replace(/pdf$/, 'truth.md'), result.truth);
    }
    for (const [title, part] of [
      ['Tuning (odd seeds)', judged.filter(({ seed }) => seed % 2 === 1)],
      ['Held out (even seeds)', judged.filter(({ seed }) => seed % 2 === 0)],
    ] as const) {
      if (part.length === 0) continue;
      print(`\n${title}: ${part.length} documents`);
      print(`${''.padEnd(22)}  count  overall  order  headings  tables  false tables`);
      const rows: [string, Judged[]][] = [
        ...kinds.map((kind): [string, Judged[]] => [kind, part.filter((each) => each.kind === kind)]),
        ...names.map((name): [string, Judged[]] => [`by ${name}`, part.filter((each) => each.printer === name)]),
        ['all', part],
      ];
      for (const [name, list] of rows) {
        const { overall, order, headings, tables, falseTables } = figuresOf(list);
        const figure = (value: number | undefined, width: number) => (value?.toFixed(3) ?? '-').padStart(width);
        print(
          `${name.padEnd(22)}${String(list.length).padStart(7)}${figure(overall, 9)}${figure(order, 7)}${figure(headings, 10)}${figure(tables, 8)}${String(falseTables).padStart(14)}`,
        );
      }
      const { overall, tables } = figuresOf(part);
      if (part.some(({ seed }) => seed % 2 === 0) && (overall < bar.overall || (tables ?? 1) < bar.tables)) {
        print(`Expected at least ${bar.overall} overall and ${bar.tables} for tables.`);
        process.exitCode = 1;
      }
    }
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
