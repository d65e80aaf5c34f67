import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { components as shared } from '../runtime/components.ts';
import { imageFormats } from './formats.ts';

const { sharp, gs, pdfinfo, pdftocairo } = shared;

/** Components of the image engine. */
export const components = {
  sharp,
  'magick-wasm': { label: 'ImageMagick (WebAssembly)' },
  gs,
  pdfinfo,
  pdftocairo,
  'rsvg-convert': { label: 'librsvg', apt: ['librsvg2-bin'], brew: ['librsvg'] },
};

type Name = keyof typeof components;

const byExt = new Map(imageFormats.map((format) => [format.ext, format]));

/** Returns the components for a pair of formats: libvips, and the programs that read and write them. */
export function requires(_operation: ProcessingOperation, from: string, to: string): Name[] {
  const needed = new Set<Name>(['sharp']);
  for (const name of [...reading(from, to), ...writing(to)]) needed.add(name);
  return [...needed];
}

function reading(from: string, to: string): Name[] {
  // Pages of a PDF are copied into another PDF unchanged, and rendered for an animation.
  if (from === 'pdf') return to === 'pdf' ? [] : ['pdfinfo', 'pdftocairo'];
  switch (byExt.get(from)?.read?.by) {
    case 'magick':
      return ['magick-wasm'];
    case 'svg':
      // libvips renders it. Only a PDF keeps lines and letters.
      return to === 'pdf' ? ['rsvg-convert'] : [];
    case 'ghostscript':
      return to === 'pdf' ? ['gs'] : ['gs', 'pdfinfo', 'pdftocairo'];
    default:
      return [];
  }
}

function writing(to: string): Name[] {
  return byExt.get(to)?.write?.by === 'magick' ? ['magick-wasm'] : [];
}
