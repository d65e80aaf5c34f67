import { rm } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { findOrientation, findSkew, type PictureText, recognise, type TextBox } from '../../runtime/tesseract.ts';
import type { Job } from '../job.ts';
import { displayedPage, type Matrix, type Size } from '../marks/geometry.ts';
import type { PdfDict, PdfObjects, PdfValue } from '../objects.ts';
import { findWords, type PageContent } from './inspect.ts';
import type { InvisibleFont } from './invisible-font.ts';
import { renderPage, resolutionOf } from './render.ts';
import { isVertical, textLayer } from './text-layer.ts';

/** Below this, a guess would turn pages that were upright. */
const minRotationConfidence = 4;
/** In radians. A smaller tilt is not seen, and a larger one is no accident. */
const [minSkew, maxSkew] = [0.002, 0.3];
const degrees = 180 / Math.PI;

export interface ScannedDocument {
  objects: PdfObjects;
  font: InvisibleFont;
  languages: string[];
  installed: string[];
}

/** What was read from a page. Without a picture, it can be passed on as JSON. */
export interface ReadPage {
  index: number;
  /** By how many degrees the page is turned clockwise. */
  rotate: number;
  /** By how many radians its content is turned counterclockwise. */
  turn: number;
  text: PictureText;
  /** Boxes of the text that it has already, in pixels. */
  existing: TextBox[];
  /** A picture that replaces its content. */
  picture?: Size & { path: string; isGrey: boolean };
}

/** Returns whether pages are replaced by pictures of themselves. */
export function becomesPicture({ existing_text: existing, clean: isCleaned }: Job['work']['options']): boolean {
  return existing === 'force' || isCleaned === true;
}

/** Renders a page and recognises its text. */
export async function readPage(
  index: number,
  content: PageContent,
  { objects, languages, installed }: Omit<ScannedDocument, 'font'>,
  job: Job,
): Promise<ReadPage> {
  const { options } = job.work;
  const reference = objects.pages[index] ?? '';
  const isReplaced = becomesPicture(options);
  const { dpi, textDpi } = resolutionOf(content, displayedPage(reference, objects));
  const rendered = await renderPage(objects.path, index + 1, { dpi, grey: !isReplaced }, job);
  const page = { path: rendered, rotate: 0, turn: 0 };
  const isScan = content.characters === 0 || isReplaced;

  if (options.rotate_pages === true && isScan) {
    const found = await findOrientation(page.path, textDpi, job);
    if (found && found.rotate > 0 && found.confidence >= minRotationConfidence) {
      page.rotate = found.rotate;
      page.path = await write(sharp(page.path).rotate(found.rotate), `${rendered}-upright.png`);
    }
  }
  if (options.deskew === true && isScan) {
    const skew = await findSkew(page.path, textDpi, job);
    if (Math.abs(skew) > minSkew && Math.abs(skew) < maxSkew) {
      const { width, height } = await sharp(page.path).metadata();
      const straight = sharp(page.path).rotate(-skew * degrees, { background: 'white' });
      const { data, info } = await straight.raw().toBuffer({ resolveWithObject: true });
      const middle = sharp(data, { raw: info }).extract({
        left: Math.floor((info.width - width) / 2),
        top: Math.floor((info.height - height) / 2),
        width,
        height,
      });
      page.path = await write(middle, `${rendered}-straight.png`);
      page.turn = skew;
    }
  }
  if (options.clean === true) page.path = await clean(page.path, `${rendered}-clean.png`);

  let text = await recognise(page.path, { languages, dpi: textDpi }, job);
  const vertical = languages.map((code) => (installed.includes(`${code}_vert`) ? `${code}_vert` : code));
  if (isVertical(text) && vertical.some((code) => !languages.includes(code)))
    text = await recognise(page.path, { languages: vertical, dpi: textDpi }, job);

  const existing = isScan ? [] : (await findWords(objects.path, index + 1, job)).map(inPixels(text));
  const picture = isReplaced ? await pictureOf(page.path) : undefined;
  if (!picture) for (const path of new Set([rendered, page.path])) await rm(path, { force: true });
  const { rotate, turn } = page;
  return { index, rotate, turn, text, existing, ...(picture ? { picture } : {}) };
}

/** Turns a page that was scanned sideways, and returns the content stream with its text. */
export function layPage({ index, rotate, text, existing }: ReadPage, { objects, font }: ScannedDocument): string {
  const reference = objects.pages[index] ?? '';
  if (rotate !== 0) {
    const angle = objects.lookup(objects.dict(reference)?.['/Rotate']);
    objects.update(reference, { '/Rotate': ((typeof angle === 'number' ? angle : 0) + rotate) % 360 });
  }
  const shown = displayedPage(reference, objects);
  const placement = { scaleX: shown.width / text.width, scaleY: shown.height / text.height, height: shown.height };
  return textLayer(text, placement, font, existing);
}

/** Removes specks and the shadows of the paper. */
async function clean(path: string, output: string): Promise<string> {
  const { data, info } = await sharp(path).median(3).raw().toBuffer({ resolveWithObject: true });
  return write(sharp(data, { raw: info }).normalise({ lower: 2, upper: 60 }), output);
}

async function write(image: Sharp, output: string): Promise<string> {
  await image.png({ compressionLevel: 1 }).toFile(output);
  return output;
}

/** Compresses the picture that replaces the content of a page. */
async function pictureOf(path: string): Promise<ReadPage['picture']> {
  const output = `${path}.jpg`;
  const { channels } = await sharp(path).stats();
  const [red, ...others] = channels.map(({ mean }) => mean);
  const isGrey = others.every((mean) => Math.abs(mean - (red ?? 0)) < 1);
  const image = sharp(path).removeAlpha();
  const { width, height } = await (isGrey ? image.toColourspace('b-w') : image).jpeg({ quality: 80 }).toFile(output);
  return { path: output, width, height, isGrey };
}

/** Returns how sure the recognition of each word is, in percent. */
export function confidencesOf({ blocks }: PictureText): number[] {
  return blocks.flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) => lines.flatMap(({ words }) => words.map(({ confidence }) => confidence))),
  );
}

function inPixels({ width, height }: PictureText): (box: TextBox) => TextBox {
  return ({ left, top, right, bottom }) => ({
    left: left * width,
    top: top * height,
    right: right * width,
    bottom: bottom * height,
  });
}

/** Puts the recognised text of a page below its content, or below the picture that replaces it. */
export function applyPage(
  { index, turn, picture }: ReadPage,
  layer: string,
  fonts: PdfDict,
  objects: PdfObjects,
): void {
  const reference = objects.pages[index] ?? '';
  const page = objects.dict(reference) ?? {};
  const shown = displayedPage(reference, objects);
  const { '/Contents': contents = null, '/Resources': resources } = page;
  const all = picture ? {} : (objects.dict(resources) ?? {});
  const xObjects = objects.dict(all['/XObject']) ?? {};
  const made: PdfDict = {};
  const draw = (form: PdfValue, matrix: Matrix) => {
    let number = 1;
    while (`/Text${number}` in xObjects || `/Text${number}` in made) number++;
    made[`/Text${number}`] = form;
    return objects.addStream({}, `q ${operands(matrix)} cm /Text${number} Do Q\n`);
  };
  const streams: PdfValue[] = [];
  if (layer !== '') {
    const form = { '/Type': '/XObject', '/Subtype': '/Form', '/BBox': [0, 0, shown.width, shown.height] };
    streams.push(draw(objects.addStream({ ...form, '/Resources': fonts }, layer), shown.matrix));
  }
  if (picture) {
    const [a, b, c, d, e, f] = shown.matrix;
    const { width, height } = shown;
    streams.push(draw(imageOf(picture, objects), [a * width, b * width, c * height, d * height, e, f]));
  } else {
    const old = Array.isArray(objects.lookup(contents)) ? objects.array(contents) : contents === null ? [] : [contents];
    if (turn === 0) streams.push(...old);
    else {
      const [a, b, c, d, e, f] = shown.matrix;
      const [x, y] = [shown.width / 2, shown.height / 2];
      const turned = operands(turnedAround([a * x + c * y + e, b * x + d * y + f], turn));
      streams.push(objects.addStream({}, `q ${turned} cm\n`), ...old, objects.addStream({}, '\nQ\n'));
    }
  }
  objects.update(reference, {
    '/Contents': streams,
    '/Resources': { ...all, '/XObject': { ...xObjects, ...made } },
    ...(picture ? { '/StructParents': undefined, '/Thumb': undefined } : {}),
  });
}

function imageOf({ path, width, height, isGrey }: NonNullable<ReadPage['picture']>, objects: PdfObjects): string {
  const dict = {
    '/Type': '/XObject',
    '/Subtype': '/Image',
    '/Width': width,
    '/Height': height,
    '/ColorSpace': isGrey ? '/DeviceGray' : '/DeviceRGB',
    '/BitsPerComponent': 8,
    '/Filter': '/DCTDecode',
  };
  return objects.addFile(dict, path);
}

/** Returns the turn around a point by radians counterclockwise. */
function turnedAround([x, y]: [number, number], radians: number): Matrix {
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return [cos, sin, -sin, cos, x - x * cos + y * sin, y - x * sin - y * cos];
}

function operands(matrix: Matrix): string {
  return matrix.map((value) => String(Number(value.toFixed(5)))).join(' ');
}
