import { type Form as Drawing, operands } from '../marks/apply.ts';
import { families, rightToLeft } from '../marks/draw.ts';
import { boxOf } from '../marks/geometry.ts';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { type Field, type Form, hasFlag, optionsOf, type Widget } from './fields.ts';
import { type Block, layOut, leading, measuredTexts, type Placed } from './layout.ts';
import { below, drawnSize, keyOf, type Style, type StyledText, type Widths } from './text.ts';

/** A widget whose appearance is to be drawn. */
export interface Look {
  field: Field;
  widget: Widget;
  width: number;
  height: number;
  /** Of the widget against its page, in degrees. */
  rotation: number;
  blocks: PositionedBlock[];
  /** Operators drawn under the text. */
  background: string;
}

interface PositionedBlock extends Block {
  /** Distance of the bottom edge to that of the widget. */
  bottom: number;
}

const usualSize = 12;
const minInset = 2;
const selected = '0.6 0.75 0.95 rg';
const maxSide = 20_000;

/** Returns the look of a text, choice or list that is set to values; undefined if it is nowhere displayed. */
export function lookOf(form: Form, field: Field, widget: Widget, values: string[], pdf: PdfObjects): Look | undefined {
  const frame = frameOf(widget, pdf);
  if (!frame) return undefined;
  const { width, height, inset } = frame;
  const { size, style } = fontOf(form, field, widget, pdf);
  const [given = ''] = values;
  const has = (flag: Parameters<typeof hasFlag>[1]) => hasFlag(field, flag, pdf);
  const blockOf = (text: string, rest: Partial<PositionedBlock> = {}): PositionedBlock => ({
    text,
    style,
    width,
    height,
    inset,
    size,
    align: alignOf(field, widget, text, pdf),
    form: 'line',
    bottom: 0,
    ...rest,
  });
  const look = (blocks: PositionedBlock[], under = ''): Look => ({
    ...{ field, widget, width, height, rotation: frame.rotation },
    blocks,
    background: frame.background + under,
  });
  if (field.type === 'text') {
    const text = has('password') ? '*'.repeat([...given].length) : given;
    const cells = pdf.lookup(field.entries['/MaxLen']);
    if (has('multiline')) return look([blockOf(text, { form: 'lines' })]);
    if (has('comb') && typeof cells === 'number' && cells >= 1 && cells <= 1_000)
      return look([blockOf(text, { form: { cells: Math.trunc(cells) } })]);
    return look([blockOf(text)]);
  }
  const options = optionsOf(field, pdf);
  if (field.type === 'choice') {
    const label = options.find(({ value }) => value === given)?.label ?? given;
    return look([blockOf(label)]);
  }
  const row = (size || usualSize) * leading;
  const visible = Math.max(1, Math.floor((height - inset) / row));
  const top = firstVisible(
    options.map(({ value }) => value),
    values,
    visible,
  );
  const shown = options.slice(top, top + visible + 1);
  const bottoms = shown.map((_, index) => height - inset / 2 - (index + 1) * row);
  const under = shown.map(({ value }, index) =>
    values.includes(value)
      ? `q ${selected} ${inset / 2} ${numbers(bottoms[index] ?? 0)} ${numbers(width - inset)} ${numbers(row)} re f Q\n`
      : '',
  );
  const blocks = shown.map(({ label }, index) =>
    blockOf(label, { height: row, size: size || usualSize, bottom: bottoms[index] ?? 0 }),
  );
  return look(blocks, under.join(''));
}

/** Returns the first option that is displayed, so that the first selected one is visible. */
export function firstVisible(options: string[], values: string[], visible: number): number {
  const first = options.findIndex((option) => values.includes(option));
  return first < visible ? 0 : Math.max(0, Math.min(first, options.length - visible));
}

interface Frame {
  width: number;
  height: number;
  rotation: number;
  inset: number;
  /** Draws background and border. */
  background: string;
}

function frameOf(widget: Widget, pdf: PdfObjects): Frame | undefined {
  const dict = pdf.dict(widget.reference) ?? {};
  const box = boxOf(dict['/Rect'], pdf);
  if (!box) return undefined;
  const style = pdf.dict(dict['/MK']) ?? {};
  const turn = pdf.lookup(style['/R']);
  const rotation = typeof turn === 'number' ? (((Math.round(turn / 90) * 90) % 360) + 360) % 360 : 0;
  const [across, along] = [Math.min(box[2] - box[0], maxSide), Math.min(box[3] - box[1], maxSide)];
  const [width, height] = rotation % 180 === 0 ? [across, along] : [along, across];
  const border = pdf.dict(dict['/BS']) ?? {};
  const line = colorOperator(style['/BC'], true, pdf);
  const given = pdf.lookup(border['/W']) ?? pdf.lookup(pdf.array(dict['/Border'])[2]);
  const thickness =
    line === '' ? 0 : typeof given === 'number' && given >= 0 ? Math.min(given, width / 4, height / 4) : 1;
  const fill = colorOperator(style['/BG'], false, pdf);
  const rectangle = (by: number) => `${[by, by, width - 2 * by, height - 2 * by].map(numbers).join(' ')} re`;
  const dashes = pdf.lookup(border['/S']) === '/D' ? '[3] 0 d ' : '';
  const stroke =
    pdf.lookup(border['/S']) === '/U'
      ? `0 ${numbers(thickness / 2)} m ${numbers(width)} ${numbers(thickness / 2)} l S`
      : `${rectangle(thickness / 2)} S`;
  return {
    width,
    height,
    rotation,
    inset: Math.max(minInset, 2 * thickness),
    background: `${fill ? `q ${fill} ${rectangle(0)} f Q\n` : ''}${thickness > 0 ? `q ${line} ${numbers(thickness)} w ${dashes}${stroke} Q\n` : ''}`,
  };
}

function colorOperator(value: PdfValue | undefined, isStroke: boolean, pdf: PdfObjects): string {
  const parts = pdf.array(value).map((each) => pdf.lookup(each));
  const operator = { 1: 'g', 3: 'rg', 4: 'k' }[parts.length];
  if (!operator || !parts.every((each) => typeof each === 'number')) return '';
  return `${parts.map((each) => numbers(Number(each))).join(' ')} ${isStroke ? operator.toUpperCase() : operator}`;
}

function numbers(value: number): string {
  return String(Number(value.toFixed(4)));
}

function alignOf(field: Field, widget: Widget, text: string, pdf: PdfObjects): Block['align'] {
  const quadding = pdf.lookup(pdf.dict(widget.reference)?.['/Q'] ?? field.entries['/Q']);
  if (quadding === 1) return 'center';
  if (quadding === 2) return 'right';
  return quadding !== 0 && rightToLeft.test(text) ? 'right' : 'left';
}

/** Reads the default appearance of a widget: `/Helv 12 Tf 0 g`. */
function fontOf(form: Form, field: Field, widget: Widget, pdf: PdfObjects): { size: number; style: Style } {
  const appearance = textOf(pdf.lookup(pdf.dict(widget.reference)?.['/DA'] ?? field.entries['/DA'])) ?? '';
  const [, name = 'Helv', given = '0'] = /\/(\S+)\s+(-?[\d.]+)\s+Tf\b/.exec(appearance.slice(0, 1_000)) ?? [];
  const size = Math.abs(Number(given));
  const fonts = pdf.dict(pdf.dict(form.entries['/DR'])?.['/Font']);
  const base = pdf.lookup(pdf.dict(fonts?.[`/${name}`])?.['/BaseFont']);
  const font = typeof base === 'string' ? base.slice(1).replace(/^[A-Z]{6}\+/, '') : name;
  return {
    size: size > 0 && size <= 1_000 ? size : 0,
    style: {
      family: familyOf(font),
      isBold: /bold|black|heavy|demi|^..Bo$/i.test(font),
      isItalic: /italic|oblique|^..(?:It|BI|BO|Ob)$/.test(font) || /italic|oblique/i.test(font),
      color: colorOf(appearance),
    },
  };
}

function familyOf(font: string): string {
  const { sans = '', serif = '', mono = '' } = families;
  if (/^Cour?|Mono|Consol|Typewriter/i.test(font)) return mono;
  if (/^(?:Ti|Times)|Serif|Roman|Georgia|Garamond|Minion|Book/i.test(font) && !/Sans/i.test(font)) return serif;
  if (/^(?:He|Helv|Arial|Ha)/i.test(font)) return sans;
  // A font of the document, if it is installed: `NotoSans-Bold` and `Noto Sans` are one.
  const family = font
    .replace(/[-,].*$/, '')
    .replace(/MT$|PS$|PSMT$/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .slice(0, 60)
    .trim();
  return family === '' ? sans : `'${family}', ${sans}`;
}

function colorOf(appearance: string): string {
  const found = /((?:-?[\d.]+\s+){1,4})(g|rg|k)\b/.exec(appearance.slice(0, 1_000));
  const parts = (found?.[1] ?? '0').trim().split(/\s+/).map(Number);
  const [a = 0, b = a, c = a, black = 0] = parts;
  const rgb = found?.[2] === 'k' ? [a, b, c].map((each) => (1 - each) * (1 - black)) : [a, b, c];
  return `#${rgb.map((each) => byte(each)).join('')}`;
}

function byte(share: number): string {
  const value = Math.round(Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * 255);
  return value.toString(16).padStart(2, '0');
}

/** Returns the texts to measure before a look is laid out. */
export function textsToMeasure(look: Look): StyledText[] {
  return look.blocks.flatMap(measuredTexts);
}

export interface LaidOut {
  look: Look;
  placed: Placed[];
  fits: boolean;
}

export function layOutLook(look: Look, widths: Widths): LaidOut {
  const parts = look.blocks.map((block) => {
    const { placed, fits } = layOut(block, widths);
    return { placed: placed.map((each) => ({ ...each, y: each.y + block.bottom })), fits };
  });
  return { look, placed: parts.flatMap(({ placed }) => placed), fits: parts.every(({ fits }) => fits) };
}

/** Sets the appearance of a widget to its texts as they were drawn. */
export function writeAppearance({ look, placed }: LaidOut, drawings: Map<string, Drawing>, pdf: PdfObjects): void {
  const { width, height, rotation, background, widget } = look;
  const names = new Map<string, string>();
  const content = placed.map(({ text, x, y, size }) => {
    const drawing = drawings.get(keyOf(text));
    if (!drawing) return '';
    const name = names.get(drawing.reference) ?? `/T${names.size}`;
    names.set(drawing.reference, name);
    const scale = size / drawnSize;
    return `q ${operands([scale, 0, 0, scale, x, y - below * scale])} cm ${name} Do Q\n`;
  });
  const clip = `1 1 ${numbers(Math.max(0, width - 2))} ${numbers(Math.max(0, height - 2))} re W n`;
  const stream = pdf.addStream(
    {
      '/Type': '/XObject',
      '/Subtype': '/Form',
      '/BBox': [0, 0, width, height],
      '/Matrix': turned(rotation),
      '/Resources': { '/XObject': Object.fromEntries([...names].map(([reference, name]) => [name, reference])) },
    },
    `${background}/Tx BMC q ${clip}\n${content.join('')}Q EMC\n`,
  );
  pdf.update(widget.reference, { '/AP': { '/N': stream }, '/AS': undefined });
}

function turned(rotation: number): PdfValue[] {
  const [cos, sin] = [
    Math.round(Math.cos((rotation * Math.PI) / 180)),
    Math.round(Math.sin((rotation * Math.PI) / 180)),
  ];
  return [cos, sin, -sin || 0, cos, 0, 0];
}

/** Marks of buttons, by the character of ZapfDingbats that stands for them, in a square of side 1. */
const marks: Record<string, string> = {
  '4': '0.2 0.5 m 0.4 0.25 l 0.8 0.8 l 0.1 w S',
  '8': '0.2 0.2 m 0.8 0.8 l 0.2 0.8 m 0.8 0.2 l 0.1 w S',
  l: '0.75 0.5 m 0.75 0.638 0.638 0.75 0.5 0.75 c 0.362 0.75 0.25 0.638 0.25 0.5 c 0.25 0.362 0.362 0.25 0.5 0.25 c 0.638 0.25 0.75 0.362 0.75 0.5 c f',
  u: '0.5 0.8 m 0.8 0.5 l 0.5 0.2 l 0.2 0.5 l f',
  n: '0.25 0.25 0.5 0.5 re f',
  H: '0.5 0.85 m 0.71 0.21 l 0.16 0.61 l 0.84 0.61 l 0.29 0.21 l f',
};

/** The shortest rectangle has more bytes, and LaTeX makes empty appearances, which some readers replace by their own. */
const minDrawingBytes = 11;

function isDrawn(appearance: PdfValue | undefined, pdf: PdfObjects): boolean {
  if (!isReference(appearance) || !pdf.isStream(appearance)) return false;
  const length = pdf.lookup(pdf.dict(appearance)?.['/Length']);
  return typeof length !== 'number' || length >= minDrawingBytes;
}

/** Sets the state of a checkbox or radio button. Draws its appearances if it has none. */
export function setState(field: Field, widget: Widget, isOn: boolean, pdf: PdfObjects): void {
  const dict = pdf.dict(widget.reference) ?? {};
  const appearances = pdf.dict(dict['/AP']) ?? {};
  const state = `/${widget.state}`;
  const change: PdfDict = { '/AS': isOn ? state : '/Off' };
  const frame = frameOf(widget, pdf);
  if (frame && !isDrawn(pdf.dict(appearances['/N'])?.[state], pdf)) {
    const { '/CA': character, '/BG': _ } = pdf.dict(dict['/MK']) ?? {};
    const usual = field.type === 'radio' ? 'l' : '4';
    const mark = marks[textOf(pdf.lookup(character)) ?? usual] ?? marks[usual];
    const side = Math.min(frame.width, frame.height);
    const place = operands([side, 0, 0, side, (frame.width - side) / 2, (frame.height - side) / 2]);
    const draw = (content: string) =>
      pdf.addStream(
        {
          '/Type': '/XObject',
          '/Subtype': '/Form',
          '/BBox': [0, 0, frame.width, frame.height],
          '/Matrix': turned(frame.rotation),
          '/Resources': {},
        },
        frame.background + content,
      );
    change['/AP'] = { '/N': { [state]: draw(`q ${place} cm ${mark} Q\n`), '/Off': draw('') } };
  }
  pdf.update(widget.reference, change);
}

/** Returns whether a widget has an appearance for its state. */
export function hasAppearance({ reference }: Widget, pdf: PdfObjects): boolean {
  const { '/AP': appearances } = pdf.dict(reference) ?? {};
  return isDict(pdf.dict(pdf.dict(appearances)?.['/N']));
}
