import { missingOffice } from '../document/office/office.ts';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPrograms } from '../runtime/find-program.ts';
import { check as checkBrowser } from '../webpage/check.ts';

/** Checks the browser, and looks for the programs for attachments. */
export const check: EngineCheck = async () => ({
  ...(await checkBrowser()),
  ...(await missingPrograms(['gs', 'pandoc', 'pdfinfo', 'qpdf'])),
  ...missingOffice(),
});
