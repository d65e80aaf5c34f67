/** The size of the input and output of a conversion step. */
export interface Extent {
  bytes: number;
  /** Bytes of XML that are compressed in the file. */
  markupBytes?: number;
  pages?: number;
  /** Rendered pixels. */
  pixels?: number;
  /** Whether LibreOffice is used, which may have to start first. */
  office?: boolean;
}

/**
 * Returns the processor time in seconds that a step may take: at least five times that of ordinary files on a busy machine.
 * There, a page of text takes 0.2 s per megapixel as PNG and 0.25 s as WebP, 0.04 s as HTML and 0.1 s as slides. A map of
 * 200,000 lines takes 3 s per megabyte, XML in a package 2.5 s per megabyte, and LibreOffice 1 s to start.
 */
export function justifiedSeconds({ bytes, markupBytes = 0, pages = 0, pixels = 0, office = false }: Extent): number {
  const fixed = office ? 10 : 6;
  const perPage = office ? 0.6 : 0.2;
  return fixed + perPage * pages + (40 * bytes + 15 * markupBytes + 1.5 * pixels) / 1_000_000;
}
