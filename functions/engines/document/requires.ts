import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { imageFormats } from '../image/formats.ts';
import { components as shared } from '../runtime/components.ts';
import { markupFormat, officeFormat } from './formats.ts';
import { route, type Step } from './route.ts';

const { pdfimages: _pictures, pdftoppm: _pages, tesseract: _recognition, ...own } = shared;

/** Components of the document engine. */
export const components = own;

/** Pictures that need none of the programs that this engine lacks. */
export const mergeablePictures = imageFormats.filter(({ read }) => read && read.by !== 'svg');

type Name = keyof typeof components;

/** Needed to open any PDF. */
const opening: Name[] = ['qpdf', 'pdfinfo'];

/** Returns the programs for a pair of formats. */
export function requires(operation: ProcessingOperation, from: string, to: string): Name[] {
  // Pages become images with libvips, which is loaded with the engine.
  return [...new Set<Name>(['sharp', ...programs(operation, from, to)])];
}

function programs(operation: ProcessingOperation, from: string, to: string): Name[] {
  if (operation === 'compress') return [...opening, 'gs'];
  if (operation === 'crop') return opening;
  if (operation === 'pdf/ua') return [...opening, ...route(from, to).flatMap(programsOf)];
  if (operation === 'merge' && !isDocument(from)) return isPostScript(from) ? ['gs'] : [];
  // Ghostscript makes PDF/A of pages that LibreOffice has not written. iWork documents may contain such pages.
  const drawnElsewhere = from === 'pdf' || from === 'ps' || officeFormat(from)?.container === 'iwork';
  return [...route(from, to).flatMap(programsOf), ...(drawnElsewhere && to === 'pdf' ? (['gs'] as const) : [])];
}

function isPostScript(format: string): boolean {
  return mergeablePictures.some(({ ext, read }) => ext === format && read?.by === 'ghostscript');
}

/** Returns whether a format is converted before it is merged. */
export function isDocument(format: string): boolean {
  return officeFormat(format)?.reads !== undefined || markupFormat(format)?.reads !== undefined;
}

const programsBy: Record<Exclude<Step['by'], 'office' | 'images'>, Name[]> = {
  pandoc: ['pandoc'],
  distill: ['gs'],
  flow: [...opening, 'pdftotext', 'pdftohtml'],
  text: [...opening, 'pdftotext'],
  html: [...opening, 'pdftohtml'],
  postscript: [...opening, 'pdftops'],
  pdf: opening,
};

function programsOf(step: Step): Name[] {
  if (step.by === 'office') return step.from === 'pdf' ? ['soffice', ...opening] : ['soffice'];
  if (step.by === 'images') return [...opening, step.format === 'eps' ? 'pdftops' : 'pdftocairo'];
  return programsBy[step.by];
}
