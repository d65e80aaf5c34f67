import type { Format } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { markupFormats, type OfficeFormat, officeFormats } from '../document/formats.ts';

const books = markupFormats.filter(({ ext }) => ext === 'epub');

/** Documents, sheets and slides that this engine reads, by itself or with LibreOffice. */
export const readable: OfficeFormat[] = officeFormats.filter(
  ({ kind, reads }) => kind !== 'drawing' && (reads || kind),
);

/** Pictures whose text is recognised. */
export const pictureFormats: Format[] = [
  { ext: 'png', mediaType: 'image/png' },
  { ext: 'jpg', mediaType: 'image/jpeg' },
  { ext: 'webp', mediaType: 'image/webp' },
  { ext: 'tiff', mediaType: 'image/tiff' },
];

export function isPicture(format: string): boolean {
  return pictureFormats.some(({ ext }) => ext === format);
}

export const formats: Format[] = [
  ...[...readable, ...books].map(({ ext, mediaType, aliasOf, contents }) =>
    defined({ ext, mediaType, aliasOf, contents }),
  ),
  ...pictureFormats,
  { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
  { ext: 'tif', mediaType: 'image/tiff', aliasOf: 'tiff' },
  { ext: 'pdf', mediaType: 'application/pdf' },
  { ext: 'md', mediaType: 'text/markdown' },
  { ext: 'markdown', mediaType: 'text/markdown', aliasOf: 'md' },
  { ext: 'json', mediaType: 'application/json' },
];
