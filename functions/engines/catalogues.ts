import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { catalogue as archive } from './archive/catalogue.ts';
import { catalogue as document } from './document/catalogue.ts';
import { catalogue as ebook } from './ebook/catalogue.ts';
import { catalogue as image } from './image/catalogue.ts';
import { catalogue as media } from './media/catalogue.ts';
import { catalogue as transfer } from './transfer/catalogue.ts';
import { catalogue as webpage } from './webpage/catalogue.ts';

/** Every engine; the first that can do a pair does it, so a page is rendered by a browser before an office suite. */
export const engineCatalogues: EngineCatalogue[] = [image, media, webpage, document, ebook, archive, transfer];

/** Engine to the reason why it is off on this instance. */
export function enginesOff(): Record<string, string> {
  return JSON.parse(process.env.LATHE_ENGINES_OFF || '{}');
}

/** The catalogue of this instance: what its installed engines can do, and nothing else. */
export const catalogue = new Catalogue(engineCatalogues.filter(({ engine }) => !Object.hasOwn(enginesOff(), engine)));
