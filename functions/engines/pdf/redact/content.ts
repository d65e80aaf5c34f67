import { createHash } from 'node:crypto';
import { EngineError } from '../../runtime/engine.ts';
import type { Matrix } from '../marks/geometry.ts';
import { isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { type Code, type Font, readFont } from './fonts.ts';
import { Path } from './paths.ts';
import type { Shown } from './reading.ts';
import { Resources } from './resources.ts';
import {
  applied,
  boundsOf,
  box,
  combined,
  contains,
  identity,
  inverse,
  overlap,
  type Point,
  type Shape,
} from './shapes.ts';
import {
  Name,
  type Operand,
  type Operation,
  operationsOf,
  UnreadableContent,
  written,
  writtenNumber,
} from './tokens.ts';

/** A character that content shows, in coordinates of the page. */
export interface Glyph extends Shown {
  isVertical: boolean;
}

/** Marked content: the identifiers of what is in it, from and up to. */
interface Mark {
  from: number;
  to: number;
  paths: Point[];
  mcid: number | undefined;
  /** Text that replaces that of its glyphs. */
  actualText: string | undefined;
}

/** What content shows. */
export interface Findings {
  glyphs: Glyph[];
  images: { id: number; shape: Shape; reference: string | undefined }[];
  /** Number of painted paths. */
  paths: number;
  marks: Mark[];
  /** Streams of other content that this one uses, with the place of soft masks. */
  others: { reference: string; resources: PdfValue | undefined; matrix: Matrix }[];
}

/** What to remove from content. */
export interface Removal {
  /** Identifiers of glyphs and images. */
  ids: Set<number>;
  shapes: Shape[];
  /** Returns a copy of an image without what is under shapes, given in coordinates of the unit square. */
  blank: (image: string | { dict: PdfDict; data: Buffer }, shapes: Shape[]) => string;
}

interface State {
  matrix: Matrix;
  font: Font | undefined;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
  rise: number;
  lineWidth: number;
}

const start: State = {
  matrix: identity,
  font: undefined,
  size: 0,
  charSpace: 0,
  wordSpace: 0,
  scale: 1,
  leading: 0,
  rise: 0,
  lineWidth: 1,
};

const maxFormDepth = 15;
const maxOperations = 5_000_000;
const maxForms = 50_000;
const pathOperators = new Set(['m', 'l', 'c', 'v', 'y', 'h', 're']);
const fills = new Set(['f', 'F', 'f*', 'B', 'B*', 'b', 'b*']);
const strokes = new Set(['S', 's', 'B', 'B*', 'b', 'b*']);
const paints = new Set([...fills, ...strokes, 'n']);
const inlineNames: Record<string, string> = {
  BPC: 'BitsPerComponent',
  CS: 'ColorSpace',
  D: 'Decode',
  DP: 'DecodeParms',
  F: 'Filter',
  H: 'Height',
  IM: 'ImageMask',
  I: 'Interpolate',
  W: 'Width',
};
const inlineValues: Record<string, string> = {
  G: 'DeviceGray',
  RGB: 'DeviceRGB',
  CMYK: 'DeviceCMYK',
  I: 'Indexed',
  AHx: 'ASCIIHexDecode',
  A85: 'ASCII85Decode',
  LZW: 'LZWDecode',
  Fl: 'FlateDecode',
  RL: 'RunLengthDecode',
  CCF: 'CCITTFaxDecode',
  DCT: 'DCTDecode',
};

export interface Content {
  bytes: Buffer;
  resources: PdfValue | undefined;
  matrix?: Matrix;
}

/** What the contents of a document share: fonts by reference, and rewritten forms by their content. */
export class Shared {
  readonly fonts = new Map<PdfValue, Font>();
  readonly forms = new Map<string, string>();
}

/** Reads what content shows. */
export function readContent(content: Content, pdf: PdfObjects, shared: Shared): Findings {
  const walk = new Walk(pdf, shared);
  walk.run(content);
  return walk.findings;
}

/** Returns content without what is removed from it, and its resources. Both passes number things in the same order. */
export function rewriteContent(
  content: Content,
  findings: Findings,
  removal: Removal,
  pdf: PdfObjects,
  shared: Shared,
): { bytes: Buffer; resources: PdfDict } {
  return new Walk(pdf, shared, { ...removal, findings }).run(content);
}

class Walk {
  readonly #pdf: PdfObjects;
  readonly #shared: Shared;
  readonly #removal: (Removal & { findings: Findings }) | undefined;
  readonly findings: Findings = { glyphs: [], images: [], paths: 0, marks: [], others: [] };
  #nextId = 0;
  #nextMark = 0;
  #operations = 0;
  #forms = 0;
  readonly #open: (Mark | undefined)[] = [];

  constructor(pdf: PdfObjects, shared: Shared, removal?: Removal & { findings: Findings }) {
    this.#pdf = pdf;
    this.#shared = shared;
    this.#removal = removal;
  }

  run({ bytes, resources, matrix = identity }: Content): { bytes: Buffer; resources: PdfDict } {
    const own = new Resources(this.#pdf, resources);
    const rewritten = this.#stream(bytes, own, { ...start, matrix }, []);
    return { bytes: rewritten, resources: own.result };
  }

  #stream(bytes: Buffer, resources: Resources, initial: State, forms: string[]): Buffer {
    const out: (Buffer | string)[] = [];
    let copied = 0;
    const replace = (from: number, to: number, by: string) => {
      out.push(bytes.subarray(copied, from), by);
      copied = to;
    };
    let state = initial;
    const saved: State[] = [];
    let [line, text]: [Matrix, Matrix] = [identity, identity];
    let path: { outline: Path; from: number; clip: string } | undefined;
    const move = (x: number, y: number) => {
      line = combined([1, 0, 0, 1, x, y], line);
      text = line;
    };
    const numbers = ({ operands }: Operation) => operands.map((each) => (typeof each === 'number' ? each : 0));

    for (const operation of operationsOf(bytes)) {
      if (++this.#operations > maxOperations) throw tooMuch();
      const { operator, operands } = operation;
      const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = numbers(operation);
      if (pathOperators.has(operator)) {
        path ??= { outline: new Path(state.matrix), from: operation.start, clip: '' };
        path.outline.add(operator, numbers(operation));
        continue;
      }
      if (operator === 'W' || operator === 'W*') {
        if (path) path.clip = operator;
        continue;
      }
      if (paints.has(operator)) {
        if (path) this.#paint(path, operation, state, replace);
        path = undefined;
        continue;
      }
      switch (operator) {
        case 'q':
          saved.push(state);
          break;
        case 'Q': {
          const last = saved.pop();
          if (last) state = last;
          // Without effect, and it would end what we put around the content.
          else replace(operation.start, operation.end, '');
          break;
        }
        case 'cm':
          state = { ...state, matrix: combined([first, second, third, fourth, fifth, sixth], state.matrix) };
          break;
        case 'w':
          state = { ...state, lineWidth: first };
          break;
        case 'gs':
          state = this.#graphicsState(nameOf(operands[0]), resources, state);
          break;
        case 'BT':
          [line, text] = [identity, identity];
          break;
        case 'Tc':
          state = { ...state, charSpace: first };
          break;
        case 'Tw':
          state = { ...state, wordSpace: first };
          break;
        case 'Tz':
          state = { ...state, scale: first / 100 };
          break;
        case 'TL':
          state = { ...state, leading: first };
          break;
        case 'Ts':
          state = { ...state, rise: first };
          break;
        case 'Tf':
          state = { ...state, font: this.#font(resources.find('Font', nameOf(operands[0]))), size: second };
          break;
        case 'Td':
          move(first, second);
          break;
        case 'TD':
          state = { ...state, leading: -second };
          move(first, second);
          break;
        case 'Tm':
          line = [first, second, third, fourth, fifth, sixth];
          text = line;
          break;
        case 'T*':
          move(0, -state.leading);
          break;
        case "'":
        case '"':
        case 'Tj':
        case 'TJ': {
          let before = '';
          if (operator === '"') {
            state = { ...state, wordSpace: first, charSpace: second };
            before = `${writtenNumber(first)} Tw ${writtenNumber(second)} Tc `;
          }
          if (operator === "'" || operator === '"') {
            move(0, -state.leading);
            before += 'T* ';
          }
          const shown = this.#show(operands.at(-1) ?? null, state, text);
          text = shown.after;
          if (shown.array !== undefined) replace(operation.start, operation.end, `${before}${shown.array} TJ`);
          break;
        }
        case 'Do': {
          const name = nameOf(operands[0]);
          const made = this.#object(resources.find('XObject', name), resources, state, forms);
          if (made === '') replace(operation.start, operation.end, '');
          else if (made !== undefined)
            replace(operation.start, operation.end, `${written(new Name(resources.add('XObject', made)))} Do`);
          break;
        }
        case 'BI': {
          const made = this.#inlineImage(operation, resources, state);
          if (made !== undefined)
            replace(operation.start, operation.end, made && `${written(new Name(resources.add('XObject', made)))} Do`);
          break;
        }
        case 'BMC':
        case 'BDC': {
          const changed = this.#begin(operands, resources);
          if (changed !== undefined) replace(operation.start, operation.end, changed);
          break;
        }
        case 'DP':
          if (operands[1] instanceof Name) resources.find('Properties', operands[1].text);
          break;
        case 'EMC':
          this.#end();
          break;
        case 'scn':
        case 'SCN':
          this.#pattern(operands.at(-1), resources);
          break;
        case 'sh':
          resources.find('Shading', nameOf(operands[0]));
          break;
      }
    }
    out.push(bytes.subarray(copied), '\n', saved.map(() => 'Q').join(' '));
    return Buffer.concat(
      out.map((each) => (typeof each === 'string' ? Buffer.from(each ? ` ${each} ` : ' ', 'latin1') : each)),
    );
  }

  #font(value: PdfValue | undefined): Font {
    const known = this.#shared.fonts.get(value ?? null);
    if (known) return known;
    const font = readFont(value, this.#pdf);
    if (isReference(value)) this.#shared.fonts.set(value, font);
    for (const { reference, resources } of font.glyphs)
      this.findings.others.push({ reference, resources, matrix: font.matrix });
    return font;
  }

  #graphicsState(name: string, resources: Resources, state: State): State {
    const dict = this.#pdf.dict(resources.find('ExtGState', name));
    const [font, size] = this.#pdf.array(dict?.['/Font']);
    const group = this.#pdf.dict(dict?.['/SMask'])?.['/G'];
    if (isReference(group)) {
      const { matrix, resources: own } = formOf(group, this.#pdf);
      this.findings.others.push({ reference: group, resources: own, matrix: combined(matrix, state.matrix) });
    }
    const width = this.#pdf.lookup(dict?.['/LW']);
    return {
      ...state,
      ...(isReference(font) && typeof size === 'number' ? { font: this.#font(font), size } : {}),
      ...(typeof width === 'number' ? { lineWidth: width } : {}),
    };
  }

  #pattern(operand: Operand | undefined, resources: Resources): void {
    if (!(operand instanceof Name)) return;
    const reference = resources.find('Pattern', operand.text);
    if (!isReference(reference) || !this.#pdf.isStream(reference)) return;
    const { matrix, resources: own } = formOf(reference, this.#pdf);
    this.findings.others.push({ reference, resources: own, matrix });
  }

  /** Reads the glyphs of a string or array. Returns the array without the removed ones, if there are any. */
  #show(operand: Operand, state: State, text: Matrix): { after: Matrix; array?: string } {
    const { font, size } = state;
    const parts = Array.isArray(operand) ? operand : [operand];
    if (!font) throw new UnreadableContent('text without a font');
    let at = text;
    const kept: (number | Buffer)[] = [];
    let isChanged = false;
    const keep = (bytes: Buffer) => {
      const last = kept.at(-1);
      if (Buffer.isBuffer(last)) kept[kept.length - 1] = Buffer.concat([last, bytes]);
      else kept.push(bytes);
    };
    const skip = (amount: number) => {
      const last = kept.at(-1);
      if (typeof last === 'number') kept[kept.length - 1] = last + amount;
      else kept.push(amount);
    };
    const shift = (along: number): Matrix =>
      font.isVertical ? [1, 0, 0, 1, 0, along] : [1, 0, 0, 1, along * state.scale, 0];
    for (const part of parts) {
      if (typeof part === 'number') {
        at = combined(shift((-part / 1000) * size), at);
        skip(part);
      } else if (Buffer.isBuffer(part)) {
        for (const code of font.codes(part)) {
          const along = code.advance * size + state.charSpace + (code.isSpace ? state.wordSpace : 0);
          const id = this.#nextId++;
          if (this.#removal?.ids.has(id)) {
            isChanged = true;
            if (size !== 0) skip((-along / size) * 1000);
          } else keep(code.bytes);
          const next = combined(shift(along), at);
          if (!this.#removal) this.findings.glyphs.push(glyphOf(id, code, font, state, at));
          at = next;
        }
      }
    }
    return isChanged ? { after: at, array: written(kept) } : { after: at };
  }

  #paint(
    { outline, from, clip }: { outline: Path; from: number; clip: string },
    { operator, end }: Operation,
    state: State,
    replace: (from: number, to: number, by: string) => void,
  ): void {
    const mark = this.#open.findLast((each) => each !== undefined);
    if (!this.#removal) {
      this.findings.paths++;
      if (mark && operator !== 'n') mark.paths.push(...outline.corners());
      return;
    }
    const isFilled = fills.has(operator) || clip !== '';
    const shapes = outline.touched(this.#removal.shapes, isFilled);
    if (shapes.length === 0) return;
    const isEvenOdd = operator.includes('*');
    const rest = isFilled ? outline.filledWithout(shapes) : [];
    const parts: string[] = [];
    if (fills.has(operator)) parts.push(...rest.map((fill) => `${fill} ${isEvenOdd ? 'f*' : 'f'}`));
    if (strokes.has(operator)) {
      const lines = outline.strokedWithout(shapes, state.lineWidth);
      if (lines) parts.push(`${lines} S`);
    }
    // A clip is one path. An empty one hides everything.
    if (clip !== '') parts.push(`${rest.length > 0 ? rest.join('\n') : '0 0 0 0 re'} ${clip} n`);
    replace(from, end, parts.join('\n'));
  }

  /** Draws an XObject. Returns the reference of a changed copy, or nothing to leave it out. */
  #object(value: PdfValue | undefined, resources: Resources, state: State, forms: string[]): string | undefined {
    const dict = this.#pdf.dict(value);
    if (!dict || !isReference(value)) return undefined;
    if (dict['/Subtype'] === '/Image') return this.#image(value, state);
    if (dict['/Subtype'] !== '/Form') return '';
    if (forms.includes(value) || forms.length > maxFormDepth) throw new UnreadableContent('forms draw each other');
    if (++this.#forms > maxForms) throw tooMuch();
    const form = formOf(value, this.#pdf);
    const own = form.resources === undefined ? resources : new Resources(this.#pdf, form.resources);
    const inner = { ...state, matrix: combined(form.matrix, state.matrix) };
    const bytes = this.#stream(this.#pdf.stream(value), own, inner, [...forms, value]);
    if (!this.#removal) return undefined;
    // Copies that are the same are one.
    const used = own === resources ? undefined : own.result;
    const key = `${value} ${JSON.stringify(used ?? null)} ${createHash('sha256').update(bytes).digest('hex')}`;
    const clone =
      this.#shared.forms.get(key) ??
      this.#pdf.addBytes({ ...dict, '/PieceInfo': undefined, ...(used ? { '/Resources': used } : {}) }, bytes);
    this.#shared.forms.set(key, clone);
    return clone;
  }

  #image(reference: string | { dict: PdfDict; data: Buffer }, { matrix }: State): string | undefined {
    const id = this.#nextId++;
    const unit = box(0, 0, 1, 1);
    const shape = unit.map((point) => applied(matrix, point));
    if (!this.#removal)
      this.findings.images.push({ id, shape, reference: typeof reference === 'string' ? reference : undefined });
    if (!this.#removal?.ids.has(id)) return undefined;
    const { shapes, blank } = this.#removal;
    const back = inverse(matrix);
    const isHidden = shapes.some((each) => shape.every((point) => contains(each, point, 0.01)));
    if (!back || isHidden) return '';
    const inside = shapes
      .map((each) => each.map((point) => applied(back, point)))
      .filter((each) => overlap(each, unit));
    return inside.length > 0 ? blank(reference, inside) : undefined;
  }

  #inlineImage({ operands: [given], data }: Operation, resources: Resources, state: State): string | undefined {
    if (!(given instanceof Map) || !data) throw new UnreadableContent('an inline image is damaged');
    const dict: PdfDict = { '/Type': '/XObject', '/Subtype': '/Image' };
    for (const [short, value] of given) {
      const key = `/${inlineNames[short] ?? short}`;
      const name =
        key === '/ColorSpace' && value instanceof Name ? resources.find('ColorSpace', value.text) : undefined;
      dict[key] = name ?? inlineValue(value);
    }
    return this.#image({ dict, data }, state);
  }

  #begin(operands: Operand[], resources: Resources): string | undefined {
    const [tag, given] = operands;
    const resource = given instanceof Name ? resources.find('Properties', given.text) : undefined;
    const properties = this.#properties(given, resource);
    if (!this.#removal) {
      const mcid = properties['/MCID'];
      const actualText = textOf(this.#pdf.lookup(properties['/ActualText']));
      const mark: Mark = {
        from: this.#nextId,
        to: Number.POSITIVE_INFINITY,
        paths: [],
        mcid: typeof mcid === 'number' ? mcid : undefined,
        actualText,
      };
      this.findings.marks.push(mark);
      this.#open.push(mark);
      return undefined;
    }
    const mark = this.#removal.findings.marks[this.#nextMark++];
    this.#open.push(mark);
    const isAffected = mark && touches(mark, this.#removal);
    const hasText = ['/ActualText', '/Alt', '/E', '/T', '/Title', '/Contents'].some(
      (key) => properties[key] !== undefined,
    );
    if (!isAffected || !hasText) return undefined;
    const { mcid } = mark;
    return `${written(tag ?? new Name('Span'))} <<${mcid === undefined ? '' : `/MCID ${mcid}`}>> BDC`;
  }

  #properties(given: Operand | undefined, resource: PdfValue | undefined): PdfDict {
    if (given instanceof Map)
      return Object.fromEntries(
        [...given].map(([key, value]) => [`/${key}`, Buffer.isBuffer(value) ? decoded(value) : inlineValue(value)]),
      );
    return this.#pdf.dict(resource) ?? {};
  }

  #end(): void {
    const mark = this.#open.pop();
    if (mark && !this.#removal) mark.to = this.#nextId;
  }
}

/** Returns whether anything of marked content is removed. */
export function touches({ from, to, paths }: Mark, { ids, shapes }: Pick<Removal, 'ids' | 'shapes'>): boolean {
  for (const id of ids) if (id >= from && id < to) return true;
  if (paths.length === 0 || shapes.length === 0) return false;
  const { left, bottom, right, top } = boundsOf(paths);
  return shapes.some((shape) => overlap(shape, box(left, bottom, right, top)));
}

function formOf(reference: string, pdf: PdfObjects): { matrix: Matrix; resources: PdfValue | undefined } {
  const dict = pdf.dict(reference) ?? {};
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = pdf.array(dict['/Matrix']).map((each) => {
    const value = pdf.lookup(each);
    return typeof value === 'number' ? value : 0;
  });
  return { matrix: [a, b, c, d, e, f], resources: dict['/Resources'] };
}

function tooMuch(): EngineError {
  return new EngineError('A page of the PDF draws too much for this operation.');
}

function nameOf(operand: Operand | undefined): string {
  if (operand instanceof Name) return operand.text;
  throw new UnreadableContent('an operand is no name');
}

/** Returns the text of a string in a content stream. */
function decoded(bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return `u:${Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)))
      .swap16()
      .toString('utf16le')}`;
  const isUtf8 = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return `u:${isUtf8 ? bytes.toString('utf8', 3) : bytes.toString('latin1')}`;
}

/** Returns an operand in the form of qpdf's JSON. */
function inlineValue(operand: Operand): PdfValue {
  if (operand instanceof Name) return `/${inlineValues[operand.text] ?? operand.text}`;
  if (Buffer.isBuffer(operand)) return `b:${operand.toString('hex')}`;
  if (Array.isArray(operand)) return operand.map(inlineValue);
  if (operand instanceof Map)
    return Object.fromEntries([...operand].map(([key, value]) => [`/${key}`, inlineValue(value)]));
  return operand;
}

function glyphOf(id: number, code: Code, font: Font, state: State, at: Matrix): Glyph {
  const { size, scale, rise } = state;
  const toPage = combined([size * scale, 0, 0, size, 0, rise], combined(at, state.matrix));
  const [x, y] = code.origin;
  const place = (point: Point) => applied(toPage, point);
  const shape = box(x, y + font.descent, x + Math.max(code.width, 0.05), y + font.ascent).map(place);
  const [from, to]: [Point, Point] = font.isVertical
    ? [place([0, 0]), place([0, code.advance])]
    : [place([0, 0]), place([code.advance, 0])];
  const [, , c, d] = toPage;
  return { id, text: code.text, shape, start: from, end: to, size: Math.hypot(c, d), isVertical: font.isVertical };
}
