import { operators } from '../archive/content.ts';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { type CMap, readCMap, systemCMap } from '../redact/cmap.ts';
import { contentsOf } from '../redact/contents.ts';
import { Name, type Operand, operationsOf, UnreadableContent } from '../redact/tokens.ts';

/** What text shows of a font: codes or, with a CMap, eight times the code plus its length in bytes. */
export interface Use {
  font: PdfDict;
  codes: Set<number>;
  cmap: CMap | undefined;
}

const maxDepth = 20;
const maxOperations = 20_000_000;
/** Executions of forms with different resources or fonts. */
const maxRuns = 50_000;

/** The codes that the contents of a document show in its fonts. */
export class FontUses {
  readonly #pdf: PdfObjects;
  readonly #signal: AbortSignal;
  readonly #uses = new Map<string, Use>();
  readonly #kept = new Set<string>();
  readonly #ids = new Map<PdfValue | undefined, number>();
  readonly #seen = new Set<string>();
  readonly #streams = new Set<string>();
  #operations = 0;
  /** Whether all content was read that may show text in any font. */
  isComplete = true;

  constructor(pdf: PdfObjects, signal: AbortSignal) {
    this.#pdf = pdf;
    this.#signal = signal;
    const all = [...pdf.reachable()];
    this.#keepFormFonts(all);
    for (const reference of all) {
      const dict = pdf.dict(reference) ?? {};
      const type = pdf.lookup(dict['/Type']);
      if (type === '/Page' || type === '/Template') this.#root(dict['/Resources'], () => this.#page(reference, dict));
    }
    // Appearances, patterns, masks, and what no page draws.
    for (const reference of all) {
      const dict = pdf.dict(reference) ?? {};
      const resources = dict['/Resources'];
      if (dict['/CharProcs'] !== undefined) this.#root(resources, () => this.#glyphs(dict, resources, 0));
      const isContent = ['/BBox', '/Resources', '/PatternType'].some((key) => dict[key] !== undefined);
      const isForm = isContent || pdf.lookup(dict['/Subtype']) === '/Form';
      if (pdf.isStream(reference) && isForm && !this.#streams.has(reference))
        this.#root(resources, () => this.#stream(reference, resources, undefined, 0));
    }
  }

  /** Returns what is shown of a font, given by reference. */
  of(font: string): Use | undefined {
    return this.#uses.get(font);
  }

  /** Returns whether an object must stay as it is. */
  isKept(reference: string): boolean {
    return this.#kept.has(reference);
  }

  /** Keeps the fonts that viewers take for what users type. */
  #keepFormFonts(all: string[]): void {
    const visit = (value: PdfValue | undefined, depth: number) => {
      if (depth > maxDepth) this.isComplete = false;
      else if (Array.isArray(value)) for (const each of value) visit(each, depth + 1);
      else if (isDict(value)) {
        this.#keep(value['/DR']);
        if (value['/DA'] !== undefined || value['/Subtype'] === '/Widget') this.#keep(value['/AP']);
        for (const each of Object.values(value)) visit(each, depth + 1);
      }
    };
    for (const reference of all) visit(this.#pdf.lookup(reference), 0);
  }

  /** Keeps everything that a value refers to. */
  #keep(value: PdfValue | undefined): void {
    const pending: PdfValue[] = [value ?? null];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (isReference(next)) {
        if (this.#kept.has(next)) continue;
        this.#kept.add(next);
        pending.push(this.#pdf.lookup(next));
      } else if (Array.isArray(next)) for (const each of next) pending.push(each);
      else if (isDict(next)) for (const each of Object.values(next)) pending.push(each ?? null);
    }
  }

  /** Reads content. If it cannot be read, everything that it may use is kept. */
  #root(resources: PdfValue | undefined, read: () => void): void {
    this.#signal.throwIfAborted();
    if (!this.isComplete) return;
    try {
      read();
    } catch (error) {
      if (!(error instanceof UnreadableContent || error instanceof RangeError)) throw error;
      if (resources === undefined) this.isComplete = false;
      this.#keep(resources);
    }
  }

  #page(reference: string, { '/Contents': contents, '/Resources': resources }: PdfDict): void {
    const parts = Array.isArray(this.#pdf.lookup(contents)) ? this.#pdf.array(contents) : [contents];
    if (parts.some((part) => this.#pdf.dict(part)?.['/Filter'] !== undefined))
      throw new UnreadableContent('content is encoded');
    this.#run(contentsOf(reference, this.#pdf), resources, undefined, 0);
  }

  #idOf(value: PdfValue | undefined): number {
    const id = this.#ids.get(value) ?? this.#ids.size;
    this.#ids.set(value, id);
    return id;
  }

  #stream(reference: string, resources: PdfValue | undefined, font: PdfValue | undefined, depth: number): void {
    const key = `${reference} ${this.#idOf(resources)} ${this.#idOf(font)}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#streams.add(reference);
    if (depth > maxDepth || this.#seen.size > maxRuns) this.isComplete = false;
    else if (this.#pdf.dict(reference)?.['/Filter'] !== undefined) throw new UnreadableContent('content is encoded');
    else this.#run(this.#pdf.stream(reference), resources, font, depth);
  }

  #glyphs(font: PdfDict, resources: PdfValue | undefined, depth: number): void {
    for (const glyph of Object.values(this.#pdf.dict(font['/CharProcs']) ?? {}))
      if (isReference(glyph) && this.#pdf.isStream(glyph)) this.#stream(glyph, resources, undefined, depth + 1);
  }

  #run(bytes: Buffer, resources: PdfValue | undefined, initial: PdfValue | undefined, depth: number): void {
    const pdf = this.#pdf;
    const resource = (kind: string, operand: Operand | undefined): PdfValue => {
      const all = pdf.dict(pdf.dict(resources)?.[kind]);
      const found = operand instanceof Name ? all?.[`/${operand.text}`] : undefined;
      if (found === undefined) throw new UnreadableContent('a resource is missing');
      return found;
    };
    let font = initial;
    const saved: (PdfValue | undefined)[] = [];
    for (const { operator, operands } of operationsOf(bytes)) {
      if (++this.#operations > maxOperations) this.isComplete = false;
      if (!this.isComplete) return;
      // Other readers may find another end of an inline picture.
      if (!operators.has(operator)) throw new UnreadableContent('unknown operator');
      switch (operator) {
        case 'q':
          saved.push(font);
          break;
        case 'Q':
          if (saved.length > 0) font = saved.pop();
          break;
        case 'Tf':
          font = resource('/Font', operands[0]);
          this.#drawn(font, resources, depth);
          break;
        case 'gs': {
          const state = pdf.dict(resource('/ExtGState', operands[0]));
          const [given] = pdf.array(state?.['/Font']);
          if (given !== undefined) {
            font = given;
            this.#drawn(font, resources, depth);
          }
          break;
        }
        case 'Tj':
        case 'TJ':
        case "'":
        case '"':
          for (const part of [operands.at(-1) ?? null].flat()) if (Buffer.isBuffer(part)) this.#show(part, font);
          break;
        case 'Do': {
          const form = resource('/XObject', operands[0]);
          const dict = pdf.dict(form);
          if (!isReference(form) || !pdf.isStream(form) || pdf.lookup(dict?.['/Subtype']) === '/Image') break;
          // Readers differ in whether the resources of the page or those around it apply.
          if (depth > 0 && dict?.['/Resources'] === undefined) throw new UnreadableContent('resources are missing');
          this.#stream(form, dict?.['/Resources'] ?? resources, font, depth + 1);
          break;
        }
        case 'scn':
        case 'SCN': {
          const last = operands.at(-1);
          const pattern = last instanceof Name ? resource('/Pattern', last) : null;
          if (isReference(pattern) && pdf.isStream(pattern))
            this.#stream(pattern, pdf.dict(pattern)?.['/Resources'] ?? resources, undefined, depth + 1);
          break;
        }
      }
    }
  }

  /** Reads the glyphs of a Type 3 font, which are content. */
  #drawn(value: PdfValue, resources: PdfValue | undefined, depth: number): void {
    const font = this.#pdf.dict(value);
    if (font?.['/CharProcs'] !== undefined) this.#glyphs(font, font['/Resources'] ?? resources, depth);
  }

  #show(text: Buffer, value: PdfValue | undefined): void {
    if (!isReference(value)) {
      // Such a font has no place for its new name.
      if (this.#pdf.dict(value) === undefined) throw new UnreadableContent('text without a font');
      this.#keep(value);
      return;
    }
    if (this.#kept.has(value)) return;
    const use = this.#uses.get(value) ?? this.#open(value);
    if (!use) return;
    if (use.cmap) for (const { bytes, code } of use.cmap.split(text)) use.codes.add(code * 8 + bytes.length);
    else for (const code of text) use.codes.add(code);
  }

  #open(reference: string): Use | undefined {
    const font = this.#pdf.dict(reference);
    if (!font) throw new UnreadableContent('text without a font');
    const use: Use = { font, codes: new Set(), cmap: undefined };
    if (this.#pdf.lookup(font['/Subtype']) === '/Type0') {
      use.cmap = this.#cmapOf(font['/Encoding']);
      if (!use.cmap) {
        this.#keep(reference);
        return undefined;
      }
    }
    this.#uses.set(reference, use);
    return use;
  }

  #cmapOf(encoding: PdfValue | undefined): CMap | undefined {
    const name = this.#pdf.lookup(encoding);
    if (typeof name === 'string') return systemCMap(name.slice(1));
    if (!isReference(encoding) || !this.#pdf.isStream(encoding)) return undefined;
    const dict = this.#pdf.dict(encoding);
    return dict?.['/Filter'] === undefined ? readCMap(this.#pdf.stream(encoding)) : undefined;
  }
}
