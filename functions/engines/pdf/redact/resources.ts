import { isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';

/** The resources of a stream, with what its content uses of them and what is added to them. */
export class Resources {
  readonly #pdf: PdfObjects;
  readonly #all: PdfDict;
  readonly #used = new Map<string, Set<string>>();
  readonly #added = new Map<string, PdfDict>();

  constructor(pdf: PdfObjects, value: PdfValue | undefined) {
    this.#pdf = pdf;
    this.#all = pdf.dict(value) ?? {};
  }

  /** Returns a resource such as `Font`, `F1`. */
  find(category: string, name: string): PdfValue | undefined {
    const used = this.#used.get(category) ?? new Set();
    this.#used.set(category, used.add(`/${name}`));
    return this.#pdf.dict(this.#all[`/${category}`])?.[`/${name}`];
  }

  /** Adds a resource, and returns its name. */
  add(category: string, value: PdfValue): string {
    const added = this.#added.get(category) ?? {};
    const known = Object.entries(added).find(([, each]) => isReference(each) && each === value)?.[0];
    if (known !== undefined) return known.slice(1);
    const present = this.#pdf.dict(this.#all[`/${category}`]) ?? {};
    let number = Object.keys(added).length;
    while (`/Redacted${number}` in present) number++;
    this.#added.set(category, { ...added, [`/Redacted${number}`]: value });
    return `Redacted${number}`;
  }

  /** Returns the resources that are used and added. What is not drawn may hold what was removed elsewhere. */
  get result(): PdfDict {
    const all = { ...this.#all };
    for (const category of ['XObject', 'Pattern', 'Properties', 'Font', 'ExtGState', 'Shading']) {
      const present = Object.entries(this.#pdf.dict(all[`/${category}`]) ?? {});
      const used = this.#used.get(category);
      const kept = { ...Object.fromEntries(present.filter(([name]) => used?.has(name))), ...this.#added.get(category) };
      all[`/${category}`] = Object.keys(kept).length > 0 ? kept : undefined;
    }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }
}
