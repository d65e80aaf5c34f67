import { rm } from 'node:fs/promises';
import type { Job } from '../job.ts';
import { type Form, formOf } from '../marks/apply.ts';
import { draw, encode, rightToLeft, svg } from '../marks/draw.ts';
import { boxOf } from '../marks/geometry.ts';
import { PdfObjects } from '../objects.ts';

export interface Style {
  /** Families as in CSS. */
  family: string;
  isBold: boolean;
  isItalic: boolean;
  /** As #rrggbb. */
  color: string;
}

export interface StyledText {
  text: string;
  style: Style;
}

/** Font size that texts are drawn with; placing them scales them. */
export const drawnSize = 100;
/** Room above and below the baseline in which any script is drawn. */
const above = 200;
export const below = 100;
/** More are drawn by several runs of the program, since they are its arguments. */
const textsPerRun = 2_000;

/** Returns what texts that are drawn alike have in common. */
export function keyOf({ text, style }: StyledText): string {
  return JSON.stringify([text, style.family, style.isBold, style.isItalic, style.color]);
}

/** Draws each text, and returns its form by its key. The file has their fonts, with the characters of these texts only. */
export async function drawTexts(texts: StyledText[], pdf: PdfObjects, job: Job): Promise<Map<string, Form>> {
  const all = [...new Map(texts.map((each) => [keyOf(each), each]))];
  const forms = new Map<string, Form>();
  for (let start = 0; start < all.length; start += textsPerRun) {
    const some = all.slice(start, start + textsPerRun);
    const path = await draw(
      some.map(([, each]) => drawingOf(each)),
      ['--export-id=mark'],
      job,
    );
    const pages = await pdf.graft(path, job);
    await rm(path);
    for (const [index, [key]] of some.entries()) {
      const page = pages[index];
      if (page !== undefined) forms.set(key, formOf(page, pdf));
    }
  }
  return forms;
}

function drawingOf({ text, style }: StyledText): string {
  const direction = rightToLeft.test(text) ? ' text-anchor="end" direction="rtl"' : '';
  const font = `font-family="${style.family}" font-weight="${style.isBold ? 'bold' : 'normal'}" font-style="${style.isItalic ? 'italic' : 'normal'}"`;
  return svg(
    `<g id="mark" xml:space="preserve" ${font} font-size="${drawnSize}" fill="${style.color}"><rect y="${-above}" width="0.01" height="${above + below}" fill-opacity="0"/><text${direction}>${encode(text)}</text></g>`,
    'width="1" height="1"',
  );
}

/** Measures texts by drawing them between two bars, whose own distance is known. */
export class Widths {
  readonly #widths = new Map<string, number>();

  /** Measures those of the texts that have not been measured yet. */
  async measure(texts: StyledText[], job: Job): Promise<void> {
    const black = (each: StyledText) => ({ ...each, style: { ...each.style, color: '#000000' } });
    const bars = texts.map(({ style }) => ({ text: '', style }));
    const all = [...new Map([...bars, ...texts].map((each) => [keyOf(black(each)), black(each)]))];
    const unknown = all.filter(([key]) => !this.#widths.has(key));
    for (let start = 0; start < unknown.length; start += textsPerRun) {
      const some = unknown.slice(start, start + textsPerRun);
      const drawings = some.map(([, { text, style }]) => drawingOf({ text: `|${text}|`, style }));
      const path = await draw(drawings, ['--export-id=mark'], job);
      const drawn = await PdfObjects.read(path, job);
      await rm(path);
      for (const [index, [key]] of some.entries()) {
        const [left, , right] = boxOf(drawn.dict(drawn.pages[index])?.['/MediaBox'], drawn) ?? [0, 0, 0, 0];
        this.#widths.set(key, right - left);
      }
    }
  }

  /** Returns the width of a measured text at font size 1. */
  of({ text, style }: StyledText): number {
    const key = (given: string) => keyOf({ text: given, style: { ...style, color: '#000000' } });
    return Math.max(0, (this.#widths.get(key(text)) ?? 0) - (this.#widths.get(key('')) ?? 0)) / drawnSize;
  }
}
