import type { PdfaFile } from './file.ts';
import { type Dict, Keyword, Lexer, Name, Stream, type Value } from './lexer.ts';
import { NotApproved } from './problems.ts';

const painting = new Set('Tj TJ \' " f F f* B B* b b* S s sh'.split(' '));
export const untagged = 'content is neither tagged nor marked as an artifact';
const maxDepth = 30;
const languageForm = /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$/;

interface Mark {
  isArtifact: boolean;
  /** Whether it belongs to an element of the structure. */
  isTagged: boolean;
}

export interface Reporter {
  add(clause: string, message: string): void;
}

/** Returns whether a text is a language tag. */
export function isLanguage(text: string | undefined): boolean {
  return text !== undefined && languageForm.test(text);
}

/** Checks that all content is either tagged or an artifact. */
export class TaggedContent {
  readonly #file: PdfaFile;
  readonly #report: Reporter;
  readonly #drawn = new Set<Stream>();

  constructor(file: PdfaFile, report: Reporter) {
    this.#file = file;
    this.#report = report;
  }

  /** Checks content whose marks are those of `isTagged`, by their number. */
  check(
    data: Buffer,
    resources: Dict | undefined,
    isTagged: (id: number) => boolean,
    above: Mark[] = [],
    depth = 0,
  ): void {
    if (depth > maxDepth) throw new NotApproved('content nested too deeply');
    const file = this.#file;
    const lexer = new Lexer(data, file.limits);
    const marks: Mark[] = [...above];
    let operands: Value[] = [];
    const painted = () => {
      if (!marks.some((mark) => mark.isArtifact || mark.isTagged)) this.#report.add('7.1', untagged);
    };
    for (let item = lexer.value(false); item !== undefined; item = lexer.value(false)) {
      if (!(item instanceof Keyword)) {
        operands.push(item);
        continue;
      }
      const last = operands.at(-1) ?? null;
      if (item.text === 'BMC' || item.text === 'BDC') this.#begin(marks, operands, resources, isTagged);
      else if (item.text === 'EMC') {
        if (marks.length <= above.length) throw new NotApproved('a mark that ends twice');
        marks.pop();
      } else if (painting.has(item.text)) painted();
      else if (item.text === 'BI') {
        painted();
        lexer.dict(false, 0, 'ID');
        const found = /[\t\n\f\r ]EI(?=[\t\n\f\r ]|$)/.exec(data.toString('latin1', lexer.at + 1));
        if (!found) throw new NotApproved('an inline image without an end');
        lexer.at += 1 + found.index + found[0].length;
      } else if (item.text === 'Do') {
        const object = file.get(file.dict(resources?.get('XObject'))?.get(last instanceof Name ? last.text : ''));
        if (!(object instanceof Stream)) throw new NotApproved('an XObject that is missing');
        if (file.name(object.dict.get('Subtype')) === 'Form') this.#form(object, marks, depth);
        else painted();
      }
      operands = [];
    }
    if (marks.length !== above.length) throw new NotApproved('a mark without an end');
  }

  #begin(marks: Mark[], [tag, given]: Value[], resources: Dict | undefined, isTagged: (id: number) => boolean): void {
    const file = this.#file;
    const properties =
      given instanceof Name ? file.dict(file.dict(resources?.get('Properties'))?.get(given.text)) : file.dict(given);
    const id = file.number(properties?.get('MCID'));
    const mark = {
      isArtifact: tag instanceof Name && tag.text === 'Artifact',
      isTagged: id !== undefined && isTagged(id),
    };
    if (properties?.has('Lang') && !isLanguage(file.text(properties.get('Lang'))))
      this.#report.add('7.2', 'the language of a text is unknown');
    if (mark.isArtifact && marks.some((each) => each.isTagged))
      this.#report.add('7.1', 'an artifact is in tagged content');
    if (mark.isTagged && marks.some((each) => each.isArtifact))
      this.#report.add('7.1', 'tagged content is in an artifact');
    marks.push(mark);
  }

  #form(form: Stream, marks: Mark[], depth: number): void {
    const file = this.#file;
    if (form.dict.has('StructParents')) throw new NotApproved('a form XObject with tags of its own');
    const isMarked = marks.some((mark) => mark.isArtifact || mark.isTagged);
    // Its content is part of what it is drawn in.
    if (isMarked && this.#drawn.has(form)) return;
    this.#drawn.add(form);
    this.check(file.decode(form), file.dict(form.dict.get('Resources')), () => false, marks, depth + 1);
  }
}
