import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { EngineCheck } from '../engine.ts';

const programs = ['ebook-convert', 'soffice', 'pdfinfo', 'python3'];

/** Looks for the programs, which the set-up does not install by itself: Calibre alone is several hundred megabytes. */
export const check: EngineCheck = async () => {
  const missing: string[] = [];
  for (const program of programs) if (!(await isOnPath(program))) missing.push(program);
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} not found; to turn e-books on, install the packages of functions/engines/ebook/packages-optional.txt.`;
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
