import { markupFormat, officeFormat } from './formats.ts';

export const imageFormats = ['png', 'jpg', 'webp', 'tiff', 'svg'] as const;
export type PageImage = (typeof imageFormats)[number];

/** One step of a conversion, with its program. */
export type Step =
  | { by: 'office'; from: string; to: string }
  | { by: 'pandoc'; from: string; to: string }
  | { by: 'distill' }
  | { by: 'flow' }
  | { by: 'pdf' }
  | { by: 'text' }
  | { by: 'html' }
  | { by: 'postscript' }
  | { by: 'images'; format: PageImage | 'eps' };

/** Formats of LibreOffice that pandoc writes better than a conversion through another format. */
const pandocWrites: Record<string, string> = { docx: 'docx', odt: 'odt', html: 'html', txt: 'plain', pptx: 'pptx' };

/** Plans a conversion: the programs in order, with the intermediate formats. */
export function route(from: string, to: string): Step[] {
  const last = fromPdf(to);
  if (from === 'pdf') return last ?? editable(to);
  if (from === 'ps') return [{ by: 'distill' }, ...(last ?? [])];
  const markup = markupFormat(from);
  const office = officeFormat(from);
  // A book contains its images, which only LibreOffice can put into a page.
  if (to === 'html' && (from === 'epub' || from === 'fb2'))
    return [
      { by: 'pandoc', from, to: 'docx' },
      { by: 'office', from: 'docx', to },
    ];
  if (markup?.reads) return fromMarkup(markup.reads, to);
  const written = officeFormat(to);
  if (!office) throw new Error(`The catalogue lists ${from}, which this engine does not read.`);
  const target = markupFormat(to);
  if (office.kind === 'sheet' && (target || written?.kind === 'text') && to !== 'html' && to !== 'xhtml')
    return [
      { by: 'office', from, to: 'csv' },
      { by: 'pandoc', from: 'csv', to: target?.writes ?? pandocWrites[to] ?? to },
    ];
  if (target?.writes) {
    const read = { by: 'pandoc' as const, from: from === 'docx' ? 'docx' : 'html', to: target.writes };
    if (from === 'docx' || from === 'html' || from === 'xhtml') return [read];
    return [
      { by: 'office', from, to: 'docx' },
      { ...read, from: 'docx' },
    ];
  }
  if (written && (written.kind === office.kind || (office.kind === 'sheet' && written.kind === 'text')))
    return [{ by: 'office', from, to }];
  return [{ by: 'office', from, to: 'pdf' }, ...(last ?? [])];
}

function fromMarkup(reader: string, to: string): Step[] {
  const writer = markupFormat(to)?.writes ?? pandocWrites[to];
  if (writer) return [{ by: 'pandoc', from: reader, to: writer }];
  const docx: Step = { by: 'pandoc', from: reader, to: 'docx' };
  if (officeFormat(to)) return [docx, { by: 'office', from: 'docx', to }];
  return [docx, { by: 'office', from: 'docx', to: 'pdf' }, ...(fromPdf(to) ?? [])];
}

function fromPdf(to: string): Step[] | undefined {
  if (to === 'pdf') return [{ by: 'pdf' }];
  if (to === 'txt') return [{ by: 'text' }];
  if (to === 'html') return [{ by: 'html' }];
  if (to === 'ps') return [{ by: 'postscript' }];
  if (to === 'eps') return [{ by: 'images', format: 'eps' }];
  const image = imageFormats.find((format) => format === to);
  return image ? [{ by: 'images', format: image }] : undefined;
}

/** Returns the steps from a PDF to an editable document. Text documents are reflowed; in others each line keeps its position. */
function editable(to: string): Step[] {
  if (officeFormat(to)?.kind !== 'text') return [{ by: 'office', from: 'pdf', to }];
  return [{ by: 'flow' }, { by: 'office', from: 'fodt', to }];
}
