import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engine } from '../../../functions/engines/markdown/run.ts';
import { startChromium } from '../../support/chromium.ts';
import { quietContext } from '../../support/sandboxed.ts';
import { documentOf, type Kind, type Source, truthOf } from './documents.ts';
import { drawnByPdfLib, drawnInPostScript } from './drawn.ts';
import { flatTextOf } from './flat-text.ts';
import { type Scores, scoresOf } from './measures.ts';
import { webPageOf } from './web-page.ts';

const run = promisify(execFile);

export interface Printed {
  source: Source;
  printer: string;
  path: string;
}

type Printer = (documents: Printed[], folder: string) => Promise<void>;

/** Programs that print documents, each with a layout of its own. */
export const printers: Record<string, Printer> = {
  Chromium: async (documents) => {
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      for (const { source, path } of documents) {
        await page.setContent(webPageOf(source));
        await page.pdf({ path, printBackground: true, preferCSSPageSize: true });
      }
    } finally {
      await browser.close();
    }
  },
  LibreOffice: async (documents, folder) => {
    const from = documents.map(({ path }) => path.replace(/pdf$/, 'fodt'));
    for (const [index, { source }] of documents.entries()) await writeFile(from[index] ?? '', flatTextOf(source));
    const profile = await mkdtemp(join(tmpdir(), 'office-profile-'));
    const args = [`-env:UserInstallation=file://${profile}`, '--headless', '--convert-to', 'pdf', '--outdir', folder];
    try {
      await run('soffice', [...args, ...from], { maxBuffer: 2 ** 26 });
    } finally {
      await rm(profile, { recursive: true, force: true });
    }
  },
  'pdf-lib': async (documents) => {
    for (const { source, path } of documents) await writeFile(path, await drawnByPdfLib(source));
  },
  Ghostscript: async (documents) => {
    for (const { source, path } of documents) {
      const from = path.replace(/pdf$/, 'ps');
      await writeFile(from, await drawnInPostScript(source));
      await run('gs', ['-q', '-dSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite', '-o', path, from]);
    }
  },
};

/** Prints the documents of kinds and seeds into a folder. */
export async function printAll(
  kinds: readonly Kind[],
  seeds: readonly number[],
  names: readonly string[],
  folder: string,
): Promise<Printed[]> {
  const sources = kinds.flatMap((kind) => seeds.map((seed) => documentOf(kind, seed)));
  const all: Printed[] = [];
  for (const printer of names) {
    const documents = sources.map((source) => {
      const name = `${printer}-${source.kind}-${source.seed}.pdf`.replaceAll(' ', '-');
      return { source, printer, path: join(folder, name) };
    });
    await printers[printer]?.(documents, folder);
    all.push(...documents);
  }
  return all;
}

export interface Judged extends Scores {
  kind: Kind;
  seed: number;
  printer: string;
  text: string;
  truth: string;
}

/** Converts a printed document to Markdown and compares it with its structure. */
export async function judge({ source, printer, path }: Printed): Promise<Judged> {
  const folder = await mkdtemp(join(tmpdir(), 'markdown-judged-'));
  try {
    const given = join(folder, 'in');
    await mkdir(given);
    const input = { path: join(given, '0'), name: 'a.pdf', format: 'pdf', size: (await stat(path)).size };
    await copyFile(path, input.path);
    const work = { operation: 'convert' as const, inputs: [input], outputFormat: 'md', options: {}, folder };
    const { outputs } = await engine.run(work, quietContext());
    const text = await readFile(outputs[0]?.path ?? '', 'utf8');
    const truth = truthOf(source);
    return { ...scoresOf(truth, text), kind: source.kind, seed: source.seed, printer, text, truth };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Figures {
  /** Average over documents of the average of their measures. */
  overall: number;
  order: number;
  headings: number | undefined;
  tables: number | undefined;
  falseTables: number;
}

/** Returns the averages of documents. */
export function figuresOf(documents: readonly Scores[]): Figures {
  const average = (list: (number | undefined)[]) => {
    const known = list.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return {
    overall: average(documents.map(({ order, headings, tables }) => average([order, headings, tables]))) ?? 0,
    order: average(documents.map(({ order }) => order)) ?? 0,
    headings: average(documents.map(({ headings }) => headings)),
    tables: average(documents.map(({ tables }) => tables)),
    falseTables: documents.reduce((sum, each) => sum + each.falseTables, 0),
  };
}
