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
  const isPdf = to === 'pdf';
  const readers: Partial<Record<string, Name[]>> = {
    magick: ['magick-wasm'],
    // libvips renders it. Only a PDF keeps lines and letters.
    svg: isPdf ? ['rsvg-convert'] : [],
    ghostscript: isPdf ? ['gs'] : ['gs', 'pdfinfo', 'pdftocairo'],
    // Pages are copied into another PDF unchanged, and rendered for an animation.
    pdf: isPdf ? [] : ['pdfinfo', 'pdftocairo'],
  };
  const by = from === 'pdf' ? 'pdf' : byExt.get(from)?.read?.by;
  const writer: Name[] = byExt.get(to)?.write?.by === 'magick' ? ['magick-wasm'] : [];
  return [...new Set<Name>(['sharp', ...(readers[by ?? ''] ?? []), ...writer])];
}
