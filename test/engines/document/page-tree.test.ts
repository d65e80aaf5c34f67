import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countTreePages } from '../../../functions/engines/runtime/page-tree.ts';

const run = promisify(execFile);

let folder: string;
let seven: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'page-tree-'));
  seven = join(folder, 'seven.pdf');
  await run('gs', ['-q', '-dSAFER', '-sDEVICE=pdfwrite', '-o', seven, '-c', '7 { showpage } repeat']);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes the PDF after a change of its text. */
async function changed(change: (text: string) => string): Promise<string> {
  const path = join(folder, 'changed.pdf');
  await writeFile(path, change(await readFile(seven, 'latin1')), 'latin1');
  return path;
}

describe('counting the pages of a PDF in its page tree', () => {
  it('counts those of a plain file, also if the tree has several levels', async () => {
    const path = join(folder, 'many.pdf');
    await run('gs', ['-q', '-dSAFER', '-sDEVICE=pdfwrite', '-o', path, '-c', '120 { showpage } repeat']);

    expect(await countTreePages(seven)).toBe(7);
    expect(await countTreePages(path)).toBe(120);
  });

  it.each([
    ['that is cut off', (text: string) => text.slice(0, text.length / 2)],
    ['whose table points elsewhere', (text: string) => text.replace('%PDF-1.7', '%PDF-1.7 longer')],
    ['whose tree names a page that does not exist', (text: string) => text.replace(/(\/Kids\s*\[\s*)\d+/, '$19999')],
    [
      'whose pages go round in a circle',
      (text: string) => text.replace(/(\/Kids\s*\[\s*)(\d+)( 0 R\s+)\d+/, '$1$2$3$2'),
    ],
    ['that is something else', () => 'Not a PDF'],
  ])('leaves a file %s to a program that repairs', async (_what, change) => {
    expect(await countTreePages(await changed(change))).toBeUndefined();
  });

  it('leaves compressed, encrypted and updated files to a program that reads those', async () => {
    const compressed = join(folder, 'compressed.pdf');
    const encrypted = join(folder, 'encrypted.pdf');
    await run('qpdf', ['--object-streams=generate', seven, compressed]);
    await run('qpdf', ['--encrypt', 'a', 'b', '256', '--', seven, encrypted]);

    expect(await countTreePages(compressed)).toBeUndefined();
    expect(await countTreePages(encrypted)).toBeUndefined();
    expect(await countTreePages(await changed((text) => text.replace('/Root', '/Prev 9/Root')))).toBeUndefined();
  });
});
