import { EngineError } from '../../runtime/engine.ts';

/** Real documents nest a few levels. More occur only in attacks. */
const maxDepth = 4;

/** A file that a program may read. */
export interface SafeFile {
  path: string;
  /** Whether LibreOffice may read SVGs in it. */
  vectors: boolean;
  /** Fonts that it uses, if known. */
  fonts?: string[];
  /** Warnings about content that cannot be rendered. */
  undrawn?: string[];
}

/** Findings in a document and in everything that it contains. */
export class Inspection {
  /** Whether it has SVGs, all of them defused. */
  vectors = false;
  /** Whether it contains parts that cannot be searched and could hide an SVG. */
  opaque = false;
  /** Addresses of pictures that a page references but does not contain. */
  readonly missingPictures: string[] = [];
  /** Whether SVGs are replaced by an empty picture. */
  blanksVectors = false;
  #depth = 0;

  /** Whether LibreOffice may read SVGs in it. */
  get mayReadVectors(): boolean {
    return this.vectors && !this.opaque;
  }

  /**
   * Runs a function that defuses. Runs it again with SVGs replaced if they turn out not to be allowed: LibreOffice could not
   * read the document without its importer for SVG.
   */
  async settle(defuse: () => Promise<void>): Promise<void> {
    await defuse();
    if (!this.vectors || !this.opaque) return;
    this.blanksVectors = true;
    await defuse();
  }

  /** Runs a function on a document inside the current one. Throws if the nesting is too deep. */
  async inside<T>(inspect: () => Promise<T>): Promise<T> {
    if (this.#depth >= maxDepth)
      throw new EngineError(`The document contains documents more than ${maxDepth} levels deep.`);
    this.#depth += 1;
    try {
      return await inspect();
    } finally {
      this.#depth -= 1;
    }
  }
}
