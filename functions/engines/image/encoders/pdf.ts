import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import {
  concatTransformationMatrix,
  drawObject,
  EncryptedPDFError,
  PDFDocument,
  type PDFPage,
  type PDFRef,
  popGraphicsState,
  pushGraphicsState,
} from '@cantoo/pdf-lib';
import type { Sharp } from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { stemOf } from '../../../../shared/files/names.ts';
import { EngineError, type InputFile, type Work, type WorkContext } from '../../runtime/engine.ts';
import { PdfJoin } from '../../runtime/pdf-join.ts';
import { isSrgb, stripJpeg } from '../codecs/jpeg.ts';
import type { Size } from '../decoders/decoding.ts';
import { damaged, explain } from '../failures.ts';
import { imageFormat, isDrawing } from '../formats.ts';
import { maxPdfPages } from '../limits.ts';
import { type Picture, pageOption } from '../openers/opened.ts';
import { missingFrames, openPicture, readingLeniently, singlePage } from '../picture.ts';
import { textOption } from '../transform.ts';
import { passwordProtected } from '../vector/pdf-pages.ts';
import { type ProgramContext, postScriptToPdf, svgToPdf } from '../vector/postscript.ts';
import { prepareSvg } from '../vector/svg.ts';

const compress = promisify(deflate);

/** The options give page sizes in pixels at this resolution. */
const pageDpi = 150;
const pointsPerInch = 72;
/** Viewers do not support larger pages. */
const maxPage = 14_400;

/** Writes images and the pages of PDFs in order to one PDF. Returns warnings about what is left out. */
export async function writePdf(path: string, inputs: InputFile[], work: Work, context: WorkContext): Promise<string[]> {
  const warnings: string[] = [];
  const pdf = await PDFDocument.create();
  pdf.setProducer('Lathe');
  const join = new PdfJoin(pdf);
  for (const [index, input] of inputs.entries()) {
    const first = pdf.getPageCount();
    if (input.format === 'pdf') await addPdf(join, input);
    else if (isDrawing(input.format)) await addDrawing(pdf, input, work, context);
    else {
      const picture = await readingLeniently(input, (tolerant) => addPicture(pdf, input, work, context, tolerant));
      warnings.push(...missingFrames(input, picture, 'pdf', work.options));
    }
    if (input.format !== 'pdf' && work.operation === 'merge') join.bookmark(stemOf(input.name), first);
    if (pdf.getPageCount() > maxPdfPages) {
      throw new EngineError(`The output would have more than ${maxPdfPages} pages. Merge fewer files at once.`);
    }
    context.progress(((index + 1) / inputs.length) * 95);
  }
  warnings.push(...join.finish());
  const pages = pdf.getPageCount();
  const bytes = await pdf.save();
  const made = (await PDFDocument.load(bytes, { updateMetadata: false })).getPageCount();
  if (pages === 0 || made !== pages) throw new Error(`The PDF has ${made} of ${pages} pages.`);
  await writeFile(path, bytes);
  return warnings;
}

async function addPdf(join: PdfJoin, input: InputFile): Promise<void> {
  const source = await loadPdf(input, input.path);
  if (source.getPageCount() === 0) throw new EngineError(`The file ${JSON.stringify(input.name)} has no pages.`);
  try {
    join.append(source, input.name, stemOf(input.name));
  } catch (error) {
    throw explain(error, input);
  }
}

async function loadPdf(input: InputFile, path: string): Promise<PDFDocument> {
  const options = { updateMetadata: false, throwOnInvalidObject: true };
  try {
    const bytes = await readFile(path);
    const source = await PDFDocument.load(bytes, options).catch((error: unknown) => {
      if (!(error instanceof EncryptedPDFError)) throw error;
      // A file with usage restrictions only opens without a password.
      return PDFDocument.load(bytes, { ...options, password: '' }).catch(() => {
        throw error;
      });
    });
    // Counting reads the page tree, which a damaged file may lack.
    source.getPageCount();
    return source;
  } catch (error) {
    if (error instanceof EncryptedPDFError) throw passwordProtected(input, error.message);
    throw damaged(input, error);
  }
}

/** Adds a drawing as lines and letters, which stay sharp at any size. */
async function addDrawing(pdf: PDFDocument, input: InputFile, { folder, options }: Work, given: WorkContext) {
  const context = { ...given, folder };
  const toPdf = imageFormat(input.format).read?.by === 'svg' ? svgFileToPdf : postScriptToPdf;
  const source = await loadPdf(input, await toPdf(input, context));
  const all = source.getPages();
  const number = pageOption(input, all.length, options);
  for (const embedded of await pdf.embedPages(number === undefined ? all : all.slice(number - 1, number))) {
    const size = { width: embedded.width, height: embedded.height };
    const { page, box } = addPage(pdf, size, size, options);
    page.drawPage(embedded, box);
  }
}

async function svgFileToPdf(input: InputFile, context: ProgramContext): Promise<string> {
  const drawing = await prepareSvg(await readFile(input.path)).catch((error) => {
    throw explain(error, input);
  });
  return svgToPdf(drawing.bytes, input, context);
}

async function addPicture(
  pdf: PDFDocument,
  input: InputFile,
  { options, folder }: Work,
  context: WorkContext,
  tolerant: boolean,
): Promise<Picture> {
  // Frames of an animation are not pages, so only the first is used.
  const picture = await openPicture(input, { ...context, options, several: false, tolerant, folder });
  const number = pageOption(input, picture.frames, options);
  const start = (number ?? 1) - 1;
  const end = number ?? (picture.hasPages ? picture.frames : 1);
  for (let index = start; index < end; index++) {
    try {
      const { density } = await singlePage(picture, index, options);
      const image = await embed(pdf, input, picture, index, options);
      const natural = scale(image, pointsPerInch / (density || pointsPerInch));
      const onPage = scale(image, pointsPerInch / pageDpi);
      const { page, box } = addPage(pdf, natural, onPage, options);
      const name = page.node.newXObject('Image', image.ref);
      page.pushOperators(
        pushGraphicsState(),
        concatTransformationMatrix(box.width, 0, 0, box.height, box.x, box.y),
        drawObject(name),
        popGraphicsState(),
      );
    } catch (error) {
      throw explain(error, input);
    }
  }
  return picture;
}

function scale({ width, height }: Size, factor: number): Size {
  return { width: width * factor, height: height * factor };
}

/** Adds a page and returns the position of the image on it. */
function addPage(
  pdf: PDFDocument,
  natural: Size,
  onPage: Size,
  options: OptionValues,
): { page: PDFPage; box: Size & { x: number; y: number } } {
  const paper = paperSize(options);
  if (!paper) {
    const fitted = scale(natural, Math.min(1, maxPage / Math.max(natural.width, natural.height)));
    return { page: pdf.addPage([fitted.width, fitted.height]), box: { x: 0, y: 0, ...fitted } };
  }
  const fill = Math.min(paper.width / onPage.width, paper.height / onPage.height);
  const size = scale(onPage, options.enlarge_images_to_fit === false ? Math.min(1, fill) : fill);
  const alignment = textOption(options, 'pdf_image_alignment') ?? 'Center';
  const [free, freeHeight] = [paper.width - size.width, paper.height - size.height];
  const x = alignment.endsWith('Left') ? 0 : alignment.endsWith('Right') ? free : free / 2;
  const y = alignment.startsWith('Bottom') ? 0 : alignment.startsWith('Top') ? freeHeight : freeHeight / 2;
  return { page: pdf.addPage([paper.width, paper.height]), box: { x, y, ...size } };
}

function paperSize(options: OptionValues): Size | undefined {
  const [width, height] = (textOption(options, 'pdf_page_size') ?? '').split('x').map(Number);
  if (!width || !height) return undefined;
  const paper = scale({ width, height }, pointsPerInch / pageDpi);
  return options.pdf_orientation === 'landscape' ? { width: paper.height, height: paper.width } : paper;
}

type Embedded = Size & { ref: PDFRef };

async function embed(
  pdf: PDFDocument,
  input: InputFile,
  picture: Picture,
  index: number,
  options: OptionValues,
): Promise<Embedded> {
  const metadata = await picture.frame(index).metadata();
  const isPlain = (metadata.orientation ?? 1) === 1 && (metadata.channels === 3 || metadata.channels === 1);
  if (input.format === 'jpg' && isPlain && isSrgb(metadata.icc) && metadata.chromaSubsampling !== undefined) {
    // The original bytes are embedded. A small version is decoded to detect damage.
    await picture.frame(index).resize(32).raw().toBuffer();
    const file = await readFile(input.path);
    const image = await pdf.embedJpg(options.strip === false ? file : stripJpeg(file));
    return { ref: image.ref, width: image.width, height: image.height };
  }
  const image = picture.frame(index);
  if (options['auto-orient'] !== false) image.autoOrient();
  image.toColourspace(picture.isGrey ? 'b-w' : 'srgb');
  const mask = metadata.hasAlpha ? await embedMask(pdf, image.clone()) : undefined;
  image.removeAlpha();
  if (imageFormat(input.format).lossy && !picture.isGrey) {
    const jpeg = image.jpeg({ quality: 92, chromaSubsampling: '4:4:4' });
    const { data, info } = await jpeg.toBuffer({ resolveWithObject: true });
    return register(pdf, data, { ...info, space: 'DeviceRGB', filter: 'DCTDecode', mask });
  }
  const { data, info } = await image.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const space = info.channels === 1 ? 'DeviceGray' : 'DeviceRGB';
  return register(pdf, await compress(data), { ...info, space, filter: 'FlateDecode', mask });
}

async function embedMask(pdf: PDFDocument, image: Sharp): Promise<PDFRef | undefined> {
  const { data, info } = await image
    .extractChannel('alpha')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (data.every((value) => value === 255)) return undefined;
  return register(pdf, await compress(data), { ...info, space: 'DeviceGray', filter: 'FlateDecode' }).ref;
}

function register(
  pdf: PDFDocument,
  data: Uint8Array,
  { width, height, space, filter, mask }: Size & { space: string; filter: string; mask?: PDFRef | undefined },
): Embedded {
  const ref = pdf.context.register(
    pdf.context.stream(data, {
      Type: 'XObject',
      Subtype: 'Image',
      Width: width,
      Height: height,
      ColorSpace: space,
      BitsPerComponent: 8,
      Filter: filter,
      ...(mask ? { SMask: mask } : {}),
    }),
  );
  return { ref, width, height };
}
