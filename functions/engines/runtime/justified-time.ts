/** What a step of a conversion reads and makes. */
export interface Extent {
  bytes: number;
  /** Bytes of XML that are compressed in the file. */
  markupBytes?: number;
  pages?: number;
  /** Pixels that are drawn. */
  pixels?: number;
  /** Whether LibreOffice does it, which may have to start first. */
  office?: boolean;
}

/**
 * Returns the seconds of processor time that a step justifies: at least five times what the slowest honest files took on a
 * core of 2.5 GHz, of which test/bench/document-time.md has the list.
 */
export function justifiedSeconds({ bytes, markupBytes = 0, pages = 0, pixels = 0, office = false }: Extent): number {
  const fixed = office ? 15 : 6;
  const perPage = office ? 0.6 : 0.2;
  return fixed + perPage * pages + (25 * bytes + 15 * markupBytes + 1.5 * pixels) / 1_000_000;
}
