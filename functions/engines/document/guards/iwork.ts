import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { openPdf, type Pdf, type Workspace } from '../../runtime/pdf-file.ts';
import { checkGzip, checkZip, listParts, readPart } from './containers.ts';

/** The app of each format, and an app with a format that it can export. */
const makers: Record<string, { app: string; other: string }> = {
  pages: { app: 'Pages', other: 'Word' },
  numbers: { app: 'Numbers', other: 'Excel' },
  key: { app: 'Keynote', other: 'PowerPoint' },
};

/** Rejects an iWork package that requires a password or contains decompression bombs. */
export async function checkIwork(input: InputFile, folder: string): Promise<void> {
  const names = await listParts(input.path);
  if (names.some((name) => /(^|\/)\.iwp(h|v2)$/.test(name)))
    throw new EngineError(
      `The document is password-protected, and only ${appOf(input.format).app} can open it. Remove the password there.`,
    );
  for (const name of names.filter((part) => /(^|\/)(Index\.zip|index\.(xml|apxl)\.gz)$/.test(part))) {
    const inner = join(folder, 'inner');
    await writeFile(inner, (await readPart(input.path, name)) ?? '');
    if (name.endsWith('.gz')) await checkGzip(inner);
    else await checkZip(inner, (await stat(inner)).size);
  }
}

/** Returns the PDF preview that the app stored in the package, if any. It is closest to the original. */
export async function previewOf(path: string, space: Workspace): Promise<Pdf | undefined> {
  const name = (await listParts(path)).find((part) => /(^|\/)QuickLook\/Preview\.pdf$/.test(part));
  const bytes = name === undefined ? undefined : await readPart(path, name);
  if (!bytes) return undefined;
  const preview = join(space.folder, 'preview.pdf');
  await writeFile(preview, bytes);
  try {
    return await openPdf(preview, {}, space);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    space.log('the preview in a package cannot be used', { reason: error.message });
    return undefined;
  }
}

/** Returns the error for a document without imported content, as with newer versions of iWork. */
export function unreadableIwork(format: string, detail: string): EngineError {
  const { app, other } = appOf(format);
  return new EngineError(
    `The file could not be read: it is empty, damaged or from an unsupported version of ${app}. Export it from ${app} as PDF or for ${other}.`,
    { detail },
  );
}

function appOf(format: string): { app: string; other: string } {
  return makers[format] ?? { app: 'iWork', other: 'Office' };
}
