import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { decodeMissing, type MissingComponents } from '../../shared/catalogue/missing.ts';
import { decodeSizes, withSizes } from '../../shared/catalogue/sizes.ts';
import { catalogue as archive } from '../engines/archive/catalogue.ts';
import { catalogue as document } from '../engines/document/catalogue.ts';
import { catalogue as ebook } from '../engines/ebook/catalogue.ts';
import { catalogue as image } from '../engines/image/catalogue.ts';
import { catalogue as mail } from '../engines/mail/catalogue.ts';
import { catalogue as markdown } from '../engines/markdown/catalogue.ts';
import { catalogue as media } from '../engines/media/catalogue.ts';
import { catalogue as pdf } from '../engines/pdf/catalogue.ts';
import { catalogue as webpage } from '../engines/webpage/catalogue.ts';
import { catalogue as transfer } from './transfers/catalogue.ts';

/** Every engine, and the transfers, which also have a queue and a worker. */
export const engineCatalogues: EngineCatalogue[] = [
  image,
  media,
  webpage,
  document,
  pdf,
  markdown,
  ebook,
  mail,
  archive,
  transfer,
].map((catalogue) => withSizes(catalogue, decodeSizes(process.env.LATHE_SIZES)));

/** Returns the folder of an engine's code, relative to the project. */
export function folderOf({ engine, folder = `functions/engines/${engine}` }: EngineCatalogue): string {
  return folder;
}

/** Components missing on this instance; none in AWS, where each engine has its own image. */
export function missingComponents(): MissingComponents {
  return decodeMissing(process.env.LATHE_MISSING);
}

/** The catalogue of this instance: what its engines can do with the installed components. */
export const catalogue = new Catalogue(engineCatalogues, missingComponents().engines);
