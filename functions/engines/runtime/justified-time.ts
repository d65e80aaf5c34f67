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
 * Returns the seconds of processor time that a step justifies: at least five times what honest files took on a busy machine.
 * Of those, a page of text takes 0.2 s a megapixel as PNG and 0.25 s as WebP, 0.04 s as HTML and 0.1 s as slides; a
 * map of 200,000 lines 3 s a megabyte; XML in a package 2.5 s a megabyte; and LibreOffice 1 s to start.
 */
export function justifiedSeconds({ bytes, markupBytes = 0, pages = 0, pixels = 0, office = false }: Extent): number {
  const fixed = office ? 10 : 6;
  const perPage = office ? 0.6 : 0.2;
  return fixed + perPage * pages + (40 * bytes + 15 * markupBytes + 1.5 * pixels) / 1_000_000;
}
