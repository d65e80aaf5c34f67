import { missingOffice } from '../document/office/office.ts';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';

/** Looks for the programs, which the set-up does not install by itself: Calibre alone is several hundred megabytes. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingPrograms(['ebook-convert', 'pdfinfo'])),
  ...missingOffice(),
});
