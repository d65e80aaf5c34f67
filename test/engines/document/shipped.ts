import { fileURLToPath } from 'node:url';

/** A sample from elsewhere, and what it says: words in their order, or cells of a sheet. */
export interface Shipped {
  path: string;
  words: string[];
  cells: (string | number)[];
}

function shippedFile(name: string, words: string[], cells: (string | number)[] = []): Shipped {
  return { path: fileURLToPath(new URL(`samples/${name}`, import.meta.url)), words, cells };
}

/** Samples of formats that no program here can write. samples/README.md lists their origin. */
export const shipped: Record<string, Shipped> = {
  vsd: shippedFile('diagram.vsd', ['view', 'random']),
  pub: shippedFile('leaflet.pub', ['times', 'Arial', 'second']),
  pages: shippedFile('text.pages', ['hovercraft', 'vznášedlo', 'úhořů', 'węgorzy']),
  numbers: shippedFile('table.numbers', [], ['automatic', 22, 77, 'text']),
  key: shippedFile('slides.key', ['Title', 'Subtitle', 'bold', 'colored']),
};

/** A document of Pages that holds its own pages as a PDF. */
export const withPreview = shippedFile('preview.pages', ['Liberation']).path;
