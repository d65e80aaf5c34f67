import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';

/** Checks that the native library loads, and finds the programs that drawings and PDFs need. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingMagick()),
  ...(await missingPrograms(['gs', 'pdfinfo', 'pdftocairo', 'rsvg-convert'])),
});

async function missingMagick(): Promise<Record<string, string>> {
  try {
    await access(fileURLToPath(import.meta.resolve('@imagemagick/magick-wasm/magick.wasm')));
    return {};
  } catch {
    return { 'magick-wasm': '' };
  }
}
