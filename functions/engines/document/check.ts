import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { EngineCheck } from '../engine.ts';
import { officeFolder } from './office.ts';

const programs = ['gs', 'pandoc', 'pdfinfo', 'pdftocairo', 'pdftohtml', 'pdftops', 'pdftotext', 'python3', 'qpdf'];

/** Looks for the programs; starting LibreOffice to see whether it starts would take longer than a check may. */
export const check: EngineCheck = async () => {
  const missing: string[] = [];
  for (const program of programs) if (!(await isOnPath(program))) missing.push(program);
  if (!officeFolder()) missing.push('LibreOffice');
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} not found; install the packages of functions/engines/document/packages.txt.`;
};

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
