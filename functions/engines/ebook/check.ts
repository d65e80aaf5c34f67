import { missingOffice } from '../document/office/office.ts';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';

/** Checks the programs, which the setup does not install by default: Calibre alone is several hundred megabytes. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingPrograms(['ebook-convert', 'pdfinfo'])),
  ...missingOffice(),
});
