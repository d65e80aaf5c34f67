import { readFile } from 'node:fs/promises';
import type { Programs } from '../../runtime/pdf-file.ts';
import { PdfObjects } from '../objects.ts';
import { PdfaFile } from './file.ts';
import { charSetOf, cidSetOf, openCid, openType1 } from './fonts.ts';
import { NotApproved } from './problems.ts';

/** Lists the glyphs of subset fonts, as PDF/A-1 requires. Returns whether there are any. */
export async function completeSubsets(path: string, output: string, space: Programs): Promise<boolean> {
  let file: PdfaFile;
  try {
    file = new PdfaFile(await readFile(path), 1);
  } catch (error) {
    // The validator reports it.
    if (error instanceof NotApproved) return false;
    throw error;
  }
  const objects = await PdfObjects.read(path, space);
  let isChanged = false;
  for (const reference of objects.references) {
    const font = file.dict(file.objects.get(Number.parseInt(reference, 10)));
    const descriptor = objects.dict(reference)?.['/FontDescriptor'];
    if (!font || descriptor === undefined || !/^[A-Z]{6}\+/.test(file.name(font.get('BaseFont')) ?? '')) continue;
    const subtype = file.name(font.get('Subtype'));
    try {
      if (subtype === 'Type1' || subtype === 'MMType1')
        objects.changed(descriptor, { '/CharSet': `u:${charSetOf(openType1(font, file).names)}` });
      else if (subtype === 'CIDFontType0' || subtype === 'CIDFontType2')
        objects.changed(descriptor, {
          '/CIDSet': objects.addStream({}, cidSetOf(openCid(font, file).cids).toString('latin1')),
        });
      else continue;
      isChanged = true;
    } catch (error) {
      if (!(error instanceof NotApproved)) throw error;
    }
  }
  if (isChanged) await objects.write(output, space);
  return isChanged;
}
