import { stemOf, withExtension } from '../../../../shared/files/names.ts';
import { EngineError, type Work } from '../../runtime/engine.ts';
import type { Job, Operation } from '../job.ts';
import { pagesOfList } from '../pages/ranges.ts';
import { openInput } from '../pages/select.ts';
import { applyMarks } from './apply.ts';
import { drawnSize, drawPicture, drawTexts, missingCharacters } from './draw.ts';
import { rotatedSize, type Size } from './geometry.ts';

/** Share of the page that a watermark without a size takes, in width or height, alone and repeated. */
const shareOfPage = { alone: 0.75, repeated: 0.25 };
const defaultStamp = '{page} / {pages}';
const usualStampSize = { text: 10, picture: 100 };

/** Bates numbers run on over the inputs of a task. */
const nextBates = new WeakMap<Work, number>();

/** Draws a text or picture on pages of a PDF: a watermark or a stamp. */
export const mark: Operation = async (job) => {
  const { work } = job;
  const { options } = work;
  const [picture, another] = work.others?.filter(({ role }) => role === 'picture') ?? [];
  if (another) throw new EngineError('Expected one picture but received several.');
  const isStamp = work.operation === 'pdf/stamp';
  const template = options.text ?? (isStamp && !picture ? defaultStamp : undefined);
  if ((template === undefined) === (picture === undefined))
    throw new EngineError(
      picture ? 'Set either text or picture, not both.' : 'Set the option text, or give a picture.',
    );
  const { pdf, warnings } = await openInput(job);
  const pages = [...new Set(pagesOfList(options.page_range, pdf.pages))];

  const texts = new Map<string, number>();
  const byPage = new Map(
    pages.map((page, index) => {
      const text = fill(String(template ?? ''), { page, index, count: pdf.pages }, job);
      const mark = texts.get(text) ?? texts.size;
      texts.set(text, mark);
      return [page, mark];
    }),
  );
  nextBates.set(work, batesStart(work) + pages.length);
  const align = sideOf(options.position);
  const style = { color: String(options.color), font: String(options.font), align } as const;
  const all = [...texts.keys()];
  const path = picture ? await drawPicture(picture, job) : await drawTexts(all, style, job);
  job.progress(30);
  const missing = picture ? [] : await missingCharacters(all, job);
  if (missing.length > 0) warnings.push(`No installed font has these characters: ${missing.join(' ')}`);

  const margin = Number(options.margin);
  const rotation = Number(options.rotation ?? (isStamp || picture ? 0 : -45));
  const size = options.size ?? (isStamp ? usualStampSize[picture ? 'picture' : 'text'] : undefined);
  const scale = (drawn: Size, page: Size) => {
    const bounds = rotatedSize(drawn, rotation);
    const share = options.tile ? shareOfPage.repeated : shareOfPage.alone;
    const fitting = (part: number) =>
      Math.min((page.width * part) / bounds.width, (page.height * part) / bounds.height);
    if (size === undefined) return fitting(share);
    const wanted = Number(size) / (picture ? drawn.width : drawnSize);
    // A text that is longer than the page is made smaller.
    const room = Math.min(
      Math.max(1, page.width - 2 * margin) / bounds.width,
      Math.max(1, page.height - 2 * margin) / bounds.height,
    );
    return isStamp ? Math.min(wanted, room) : wanted;
  };
  const marked = await applyMarks(
    pdf,
    {
      path,
      byPage,
      layout: {
        position: String(options.position),
        margin,
        rotation,
        scale,
        ...(options.tile ? { gap: Number(options.gap) } : {}),
      },
      opacity: Number(options.opacity) / 100,
      isBehind: options.layer === 'behind',
    },
    job,
  );
  return {
    outputs: [{ path: marked.path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }],
    warnings: [...warnings, ...marked.warnings],
  };
};

function sideOf(position: unknown): 'left' | 'center' | 'right' {
  const text = String(position);
  return text.endsWith('left') ? 'left' : text.endsWith('right') ? 'right' : 'center';
}

function batesStart(work: Work): number {
  return nextBates.get(work) ?? Number(work.options.bates_start ?? 1);
}

interface MarkedPage {
  page: number;
  /** Its position among the pages that are marked. */
  index: number;
  count: number;
}

/** Fills the placeholders of a text. Unknown ones stay. */
function fill(template: string, { page, index, count }: MarkedPage, { work, input }: Job): string {
  const { options } = work;
  const first = options.first_number;
  const digits = String(batesStart(work) + index).padStart(Number(options.bates_digits ?? 6), '0');
  const values: Record<string, () => string> = {
    page: () => String(first === undefined ? page : Number(first) + index),
    pages: () => String(count),
    bates: () => `${options.bates_prefix ?? ''}${digits}${options.bates_suffix ?? ''}`,
    date: () => dateIn(String(options.date_format ?? 'YYYY-MM-DD')),
    name: () => stemOf(input.name),
  };
  return template.replace(/\{(page|pages|bates|date|name)\}/g, (given, key) => values[key]?.() ?? given);
}

function dateIn(format: string): string {
  const [year = '', month = '', day = ''] = new Date().toISOString().slice(0, 10).split('-');
  return format.replace('YYYY', year).replace('MM', month).replace('DD', day);
}
