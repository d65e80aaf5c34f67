import { EngineError } from '../../runtime/engine.ts';

/** Documents are found inside documents inside documents; more levels are only found in attacks. */
const maxDepth = 4;

/** A file that a program may read. */
export interface SafeFile {
  path: string;
  /** Whether LibreOffice may read SVGs in it. */
  vectors: boolean;
  /** Fonts that it names, if they are known. */
  fonts?: string[];
  /** Warnings about what cannot be drawn in it. */
  undrawn?: string[];
}

/** What was found in a document and in all that it contains. */
export class Inspection {
  /** Whether it has SVGs, all of them defused. */
  vectors = false;
  /** Whether it contains what cannot be searched, in which an SVG could hide. */
  opaque = false;
  /** Addresses of pictures that a page shows and does not contain. */
  readonly missingPictures: string[] = [];
  /** Whether SVGs are replaced by an empty picture. */
  blanksVectors = false;
  #depth = 0;

  /** Whether LibreOffice may read SVGs in it. */
  get mayReadVectors(): boolean {
    return this.vectors && !this.opaque;
  }

  /**
   * Runs a function that defuses, and again with SVGs replaced if they may not be read after all: LibreOffice without its
   * importer for them would not read the document either.
   */
  async settle(defuse: () => Promise<void>): Promise<void> {
    await defuse();
    if (!this.vectors || !this.opaque) return;
    this.blanksVectors = true;
    await defuse();
  }

  /** Runs a function on a document inside the present one; throws beyond some levels. */
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
