import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  chosenLanguages,
  findOrientation,
  installedLanguages,
  languagesOf,
  type PictureText,
  parseHocr,
  recognise,
} from '../../../functions/engines/runtime/tesseract.ts';

let folder: string;
const signal = new AbortController().signal;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tesseract-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function draw(name: string, lines: string[], angle = 0): Promise<string> {
  const text = lines.map((line, index) => `<text x="60" y="${100 + 80 * index}">${line}</text>`).join('');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="${140 + 80 * lines.length}" font-size="44" font-family="DejaVu Sans">
    <rect width="100%" height="100%" fill="white"/>${text}</svg>`;
  const path = join(folder, name);
  await sharp(Buffer.from(svg)).rotate(angle).greyscale().png().toFile(path);
  return path;
}

const textOf = ({ blocks }: PictureText) =>
  blocks.flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) => lines.map(({ words }) => words.map(({ text }) => text).join(' '))),
  );

test('words are recognised in logical order, with their boxes and baselines', async () => {
  const path = await draw('words.png', ['Tom &amp; Jerry &lt;3 "cheese"', 'مرحبا بالعالم 2023']);
  const space = { folder, signal };
  const page = await recognise(path, { languages: ['eng'], dpi: 300 }, space);
  const arabic = await recognise(path, { languages: ['ara'], dpi: 300 }, space);

  expect(page).toMatchObject({ width: 1200, height: 300 });
  expect(textOf(page)[0]).toBe('Tom & Jerry <3 "cheese"');
  expect(textOf(arabic).at(-1)).toBe('مرحبا بالعالم 2023');
  const [line] = page.blocks[0]?.paragraphs[0]?.lines ?? [];
  const [tom] = line?.words ?? [];
  expect(tom?.left).toBeGreaterThan(55);
  expect(tom?.left).toBeLessThan(70);
  expect(Math.abs((line?.bottom ?? 0) + (line?.baseline.offset ?? 0) - 100)).toBeLessThan(4);
});

test('a language that is not installed is a failure that lists the installed ones', async () => {
  const installed = await installedLanguages({ folder, signal });
  expect(installed).toContain('eng');
  expect(installed).not.toContain('osd');
  expect(chosenLanguages('eng+deu, eng', ['deu', 'eng'])).toEqual(['eng', 'deu']);
  expect(() => chosenLanguages('eng+tlh', ['deu', 'eng'])).toThrow(
    'The language tlh is not installed for the recognition of text. Installed are deu, eng.',
  );
});

test('orientation and script are found, and the script chooses a language', async () => {
  const lines = [
    'Съешь же ещё этих мягких',
    'французских булок, да выпей',
    'чаю. Широкая электрификация',
    'южных губерний даст мощный',
    'толчок подъёму хозяйства',
  ];
  const found = await findOrientation(await draw('turned.png', lines, 90), 300, { folder, signal });
  const empty = await findOrientation(await draw('empty.png', []), 300, { folder, signal });

  expect(found).toMatchObject({ rotate: 270, script: 'Cyrillic' });
  expect(languagesOf(found, ['eng', 'rus'])).toEqual(['rus']);
  expect(languagesOf(found, ['eng'])).toEqual(['eng']);
  expect(empty).toBeUndefined();
});

test('an output that is not as expected has no text', () => {
  expect(parseHocr(['', '<span class=', "<span class='ocrx_word' title='bbox'>stray</span>"])).toEqual({
    width: 0,
    height: 0,
    blocks: [],
  });
});
