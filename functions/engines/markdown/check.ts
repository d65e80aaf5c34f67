import { missingOffice } from '../document/office/office.ts';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';

/** Looks for the readers of PDFs and of pictures, and for LibreOffice, which opens what the engine does not read itself. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingPrograms(['pdfinfo', 'pdftohtml', 'pdftoppm', 'pdftotext', 'qpdf', 'tesseract'])),
  ...missingOffice(),
});
