import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';
import { missingOffice } from './office/office.ts';

const programs = ['gs', 'pandoc', 'pdfinfo', 'pdftocairo', 'pdftohtml', 'pdftops', 'pdftotext', 'qpdf'];

/** Looks for the programs; starting LibreOffice to see whether it starts would take longer than a check may. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingPrograms(programs)),
  ...missingOffice(),
});
