import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineCheck } from '../engine.ts';

const programs = ['gs', 'pdfinfo', 'pdftocairo', 'rsvg-convert'];

/** Tries to load the native library and finds the programs that drawings and PDFs need. */
export const check: EngineCheck = async () => {
  try {
    await import('sharp');
  } catch (error) {
    return `sharp does not load here: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
  try {
    await access(fileURLToPath(import.meta.resolve('@imagemagick/magick-wasm/magick.wasm')));
  } catch {
    return '@imagemagick/magick-wasm is not installed.';
  }
  const found = await Promise.all(programs.map(isOnPath));
  const missing = programs.filter((_, index) => !found[index]);
  return missing.length > 0
    ? `Not installed: ${missing.join(', ')}. The packages are listed in functions/engines/image/packages.txt.`
    : undefined;
};

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      await access(join(folder, program), constants.X_OK);
      return true;
    } catch {
      // Perhaps in the next one.
    }
  }
  return false;
}
