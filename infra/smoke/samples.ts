import { buffer } from 'node:stream/consumers';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import yazl from 'yazl';
import type { ProcessingOperation } from '../../shared/operations/operations.ts';

/** A conversion that shows that an image works. */
export interface Sample {
  engine: string;
  /** Defaults to `convert`. */
  operation?: ProcessingOperation;
  name: string;
  format: string;
  outputFormat: string;
  content: () => Promise<Buffer>;
  /** The start of the output, after `skip` bytes. */
  signature: string;
  skip?: number;
  /** A smaller output contains no text. */
  minBytes?: number;
}

/** One line for each script with installed fonts. */
const lines = [
  'Latin: the quick brown fox, Žluťoučký kůň',
  'Chinese 中文 · Japanese 日本語 かな · Korean 한국어',
  'Arabic العربية · Hebrew עברית',
  'Devanagari हिन्दी',
  'Emoji 😀 🚀 🌍',
];

/** Conversions of each engine, with text in every script if the engine draws text. */
export const samples: Sample[] = [
  sample('image', 'scripts.svg', 'png', svg, '\x89PNG'),
  sample('image', 'gradient.png', 'webp', () => picture(0), 'WEBP', { skip: 8 }),
  sample('media', 'tone.wav', 'mp3', tone, 'ID3'),
  sample('media', 'frames.gif', 'mp4', frames, 'ftyp', { skip: 4 }),
  sample('document', 'letter.md', 'pdf', markdown, '%PDF'),
  sample('document', 'letter.md', 'docx', markdown, 'PK'),
  sample('pdf', 'page.pdf', 'pdf', pdf, '%PDF', { operation: 'pdf/rotate' }),
  sample('markdown', 'scripts.html', 'md', html, 'Latin: the quick'),
  sample('webpage', 'scripts.html', 'pdf', html, '%PDF', { minBytes: 20_000 }),
  sample('webpage', 'scripts.html', 'png', html, '\x89PNG', { minBytes: 10_000 }),
  sample('mail', 'letter.eml', 'pdf', letter, '%PDF', { minBytes: 20_000 }),
  sample('archive', 'files.zip', 'tar.gz', archive, '\x1f\x8b'),
  sample('archive', 'files.zip', '7z', archive, '7z'),
  sample('ebook', 'book.txtz', 'pdf', textBook, '%PDF'),
  sample('ebook', 'book.fb2', 'epub', fictionBook, 'PK'),
];

function sample(
  engine: string,
  name: string,
  outputFormat: string,
  make: () => string | Buffer | Promise<Buffer>,
  signature: string,
  more: Pick<Sample, 'operation' | 'skip' | 'minBytes'> = {},
): Sample {
  const content = async () => Buffer.from(await make());
  return { engine, name, format: name.split('.').at(-1) ?? '', outputFormat, content, signature, ...more };
}

async function pdf(): Promise<Buffer> {
  const document = await PDFDocument.create();
  document.addPage([300, 200]).drawText('One page');
  return Buffer.from(await document.save());
}

function svg(): string {
  const text = lines.map((line, index) => `<text x="20" y="${50 + index * 50}" font-size="28">${line}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="300">
<rect width="760" height="300" fill="white"/>
${text.join('\n')}
</svg>`;
}

function html(): string {
  const text = lines.map((line) => `<p>${line}</p>`);
  return `<!doctype html><html><head><meta charset="utf-8"><title>Scripts</title></head><body>${text.join('')}</body></html>`;
}

function markdown(): string {
  return `# Letter\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`;
}

function letter(): string {
  const head =
    'From: a@example.com\r\nTo: b@example.com\r\nSubject: Scripts\r\nContent-Type: text/plain; charset=utf-8\r\n';
  return `${head}\r\n${lines.join('\r\n')}\r\n`;
}

function fictionBook(): string {
  const text = lines.map((line) => `<p>${line}</p>`);
  return `<?xml version="1.0" encoding="utf-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><genre>other</genre>
<author><first-name>A</first-name><last-name>B</last-name></author><book-title>Scripts</book-title><lang>en</lang>
</title-info></description><body><section><title><p>Chapter</p></title>${text.join('')}</section></body></FictionBook>`;
}

function gradient(turn: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><defs><linearGradient id="g">
<stop stop-color="hsl(${turn} 80% 50%)"/><stop offset="1" stop-color="hsl(${turn + 90} 80% 50%)"/></linearGradient></defs>
<rect width="320" height="180" fill="url(#g)"/></svg>`;
}

function picture(turn: number): Promise<Buffer> {
  return sharp(Buffer.from(gradient(turn)))
    .png()
    .toBuffer();
}

async function frames(): Promise<Buffer> {
  const turns = Array.from({ length: 12 }, (_, index) => index * 30);
  const pictures = await Promise.all(turns.map(picture));
  return sharp(pictures, { join: { animated: true } })
    .gif({ delay: 80 })
    .toBuffer();
}

/** One second of 440 Hz, mono, 16 bits. */
function tone(): Buffer {
  const rate = 44_100;
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + rate * 2, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(rate * 2, 40);
  const sound = Buffer.alloc(rate * 2);
  for (let index = 0; index < rate; index++)
    sound.writeInt16LE(Math.round(10_000 * Math.sin((2 * Math.PI * 440 * index) / rate)), index * 2);
  return Buffer.concat([header, sound]);
}

function archive(): Promise<Buffer> {
  return zipOf({ 'one.txt': 'one\n', 'folder/two.txt': lines.join('\n') });
}

function textBook(): Promise<Buffer> {
  return zipOf({ 'index.txt': `Chapter 1\n\n${lines.join('\n\n')}\n` });
}

async function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
}
