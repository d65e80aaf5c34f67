import { join } from 'node:path';
import sharp from 'sharp';
import { EngineError } from '../../runtime/engine.ts';
import type { Workspace } from '../../runtime/pdf-file.ts';
import { runTool } from '../../runtime/pdf-file.ts';
import {
  chosenLanguages,
  findOrientation,
  installedLanguages,
  languagesOf,
  type PictureText,
  recognise,
  secondsPerPage,
} from '../../runtime/tesseract.ts';
import { blocksOfPage, typographyOf } from '../layout/page.ts';
import { rulingsOf } from '../layout/rulings.ts';
import type { PageText, Span } from '../layout/spans.ts';
import type { Reading, ReadJob } from './job.ts';

const dpi = 300;
const maxPixels = 100_000_000;
/** Text of fewer pixels is too small to recognise. */
const leastWidth = 1_500;
const maxPictures = 200;

/** Reads the text in a picture: each page of a TIFF is one. */
export async function readPicture(job: ReadJob): Promise<Reading> {
  const { input, work } = job;
  const open = (page: number) => sharp(input.path, { page, limitInputPixels: maxPixels, failOn: 'error' });
  const { pages: count = 1 } = await open(0).metadata().catch(unreadable);
  if (input.format === 'tiff' && count > maxPictures)
    throw new EngineError(`The picture has ${count} pages; the maximum is ${maxPictures}.`);
  const pages: PageText[] = [];
  const greys: Buffer[] = [];
  for (let page = 0; page < (input.format === 'tiff' ? count : 1); page++) {
    const picture = join(job.folder, `picture-${page}.png`);
    const { width = 1 } = await open(page).metadata();
    const scale = width < leastWidth ? Math.min(4, leastWidth / width) : 1;
    const upright = open(page).autoOrient().flatten({ background: '#fff' }).greyscale();
    await upright
      .resize({ width: Math.round(width * scale), withoutEnlargement: false })
      .png({ compressionLevel: 1 })
      .toFile(picture)
      .catch(unreadable);
    const text = await recognised(picture, work.options.languages, job);
    // As if it were printed on paper of the width of A4.
    const points = 595 / text.width;
    pages.push(pageOf(text, points, page + 1));
    const { data, info } = await sharp(picture)
      .resize({ width: 595 })
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    greys.push(Buffer.concat([Buffer.from(`P5 ${info.width} ${info.height} 255\n`), data]));
    job.progress(10 + (80 * (page + 1)) / count);
  }
  const typography = typographyOf(pages);
  const blocks = pages.flatMap((page, index) => [
    { kind: 'marker' as const, unit: 'page' as const, number: page.number },
    ...blocksOfPage(page, rulingsOf(greys[index] ?? Buffer.alloc(0), page.spans), typography, []),
  ]);
  const sizes = pages.map(({ number, width, height }) => ({ page: number, width, height }));
  const content = {
    blocks: pages.length > 1 ? blocks : blocks.filter(({ kind }) => kind !== 'marker'),
    notes: new Map(),
    pictures: [],
    pages: sizes,
  };
  return { content, warnings: [] };
}

function unreadable(error: unknown): never {
  throw new EngineError('The picture could not be read: it is damaged, too large or does not match its extension.', {
    detail: String(error),
    cause: error,
  });
}

/** Recognises the text of a scanned page of a PDF. */
export async function recognisePage(pdf: string, page: PageText, place: number, job: ReadJob): Promise<PageText> {
  const picture = join(job.folder, `scan-${place}`);
  // A large page at less, so that it is never more than the picture of an A3 page.
  const resolution = Math.round(Math.min(dpi, (4_960 * 72) / Math.max(page.width, page.height, 1)));
  const range = ['-f', String(place), '-l', String(place), '-singlefile'];
  await runTool('pdftoppm', ['-png', '-gray', '-cropbox', '-r', String(resolution), ...range, pdf, picture], job);
  const text = await recognised(`${picture}.png`, job.work.options.languages, job);
  return { ...pageOf(text, page.width / Math.max(1, text.width), page.number), pictures: [] };
}

async function recognised(picture: string, option: unknown, job: ReadJob & Workspace): Promise<PictureText> {
  job.limitProcessorTime(secondsPerPage);
  const installed = await installedLanguages(job);
  const languages =
    chosenLanguages(option, installed) ?? languagesOf(await findOrientation(picture, dpi, job), installed);
  return recognise(picture, { languages, dpi }, job);
}

/** Returns the text of a picture as that of a page. */
function pageOf(text: PictureText, points: number, number: number): PageText {
  const lines = text.blocks.flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
  const sizes = lines.map(({ size }) => size).sort((one, other) => one - other);
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 10;
  const spans = lines.flatMap((line): Span[] => {
    // What is measured varies with the letters of a line.
    const size = Math.abs(line.size - usual) < 0.25 * usual ? usual : line.size;
    return line.words.map((word) => ({
      left: word.left * points,
      right: word.right * points,
      top: line.top * points,
      bottom: line.bottom * points,
      text: word.text,
      size: size * points * 0.9,
      bold: false,
      italic: false,
      mono: false,
    }));
  });
  return { number, width: text.width * points, height: text.height * points, spans, pictures: [] };
}
