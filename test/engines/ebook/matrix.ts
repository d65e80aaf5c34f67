import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { textOf as documentText } from '../document/matrix.ts';
import { makeSample, words, zip } from '../document/samples.ts';
import type { EngineMatrix, Sample } from '../matrix.ts';

const run = promisify(execFile);

/** What other programs than Calibre read. */
const readElsewhere = ['epub', 'fb2', 'docx', 'rtf', 'txt', 'pdf'];
const latin = ['Lathe', 'Größe', 'final'];
const latinMarkdown = '# Sample heading\n\nLathe turns Größe round.\n\nThis comes final.\n';

/** How the e-book engine's pairs are proven. Where Calibre is the only program that knows a format, another run of it reads the output. */
export const matrix: EngineMatrix = {
  engine: 'ebook',
  async sample(format, folder) {
    if (['epub', 'fb2', 'docx', 'odt', 'rtf', 'txt', 'pdf'].includes(format)) return makeSample(format, folder);
    const path = join(folder, `sample.${format}`);
    if (format === 'txtz') return zip(path, { 'index.txt': await readFile(await makeSample('txt', folder)) });
    if (format === 'htmlz') return zip(path, { 'index.html': await readFile(await makeSample('html', folder)) });
    if (format !== 'pdb') return ebookConvert(await makeSample('epub', folder), path);
    return latinSample(path, folder);
  },
  async verify(output, input) {
    const text = (await textOf(output)).replaceAll(/\s+/g, ' ');
    let from = 0;
    for (const word of wordsOf(input, output)) {
      const at = text.indexOf(word, from);
      if (at < 0)
        throw new Error(`${JSON.stringify(word)} is missing or out of order in ${JSON.stringify(text.slice(0, 500))}`);
      from = at;
    }
  },
};

function wordsOf(input: Sample, output: Sample): string[] {
  if (input.format === 'pdb' || output.format === 'pdb') return latin;
  // Calibre reads the letters of a PDF as they stand on the page, so Hebrew comes out turned round.
  return input.format === 'pdf' ? words.filter((word) => word !== 'עברית') : words;
}

/** Makes a book of Western letters only, for what can hold no others. */
export async function latinSample(path: string, folder: string): Promise<string> {
  const markdown = join(folder, 'latin.md');
  await writeFile(markdown, latinMarkdown);
  const epub = join(folder, 'latin.epub');
  await run('pandoc', ['-f', 'markdown', '-o', epub, markdown]);
  return path.endsWith('.epub') ? epub : ebookConvert(epub, path);
}

async function ebookConvert(input: string, output: string): Promise<string> {
  await run('ebook-convert', [input, output], {
    env: { ...process.env, QT_QPA_PLATFORM: 'offscreen' },
    timeout: 120_000,
  });
  return output;
}

async function textOf(sample: Sample): Promise<string> {
  if (readElsewhere.includes(sample.format)) return documentText(sample);
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  try {
    const book = join(folder, `book.${sample.format}`);
    await copyFile(sample.path, book);
    return await readFile(await ebookConvert(book, join(folder, 'book.txt')), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
