import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileTypeFromBuffer } from 'file-type';
import { extensionOf } from '../../../shared/files/names.ts';
import { convert } from '../document/convert.ts';
import { detectDocument } from '../document/detect.ts';
import { markupFormat, officeFormat } from '../document/formats.ts';
import { rasterType } from '../document/guards/pictures.ts';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import { openPdf, type Workspace } from '../runtime/pdf-file.ts';
import { checkPictures } from '../runtime/pdf-pictures.ts';
import { ProgramError } from '../runtime/program.ts';
import type { Attachment } from './message.ts';

/** A4 in the pixels that the option for pictures has. */
const pictureOptions = { pdf_page_size: '1240.2x1753.95', enlarge_images_to_fit: false };
const containers: Record<string, string[]> = { zip: ['zip'], cfb: ['cfb', 'zip'] };

/** Converts an attachment to a PDF, and returns its path. Throws an `EngineError` if that is not possible. */
export async function attachmentPdf(attachment: Attachment, folder: string, context: Workspace): Promise<string> {
  if (attachment.missing) throw new EngineError(attachment.missing);
  if (attachment.bytes.length === 0) throw new EngineError('it is empty');
  const format = await formatOf(attachment);
  if (format === undefined) throw new EngineError('its format has no pages');
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'input');
  await writeFile(path, attachment.bytes);
  const input: InputFile = { path, name: attachment.name, format, size: attachment.bytes.length };
  const space = { ...context, folder, progress: () => {} };
  try {
    if (format === 'pdf') {
      const { path: opened } = await openPdf(path, {}, space);
      await checkPictures(opened);
      return opened;
    }
    const work = { operation: 'convert' as const, inputs: [input], outputFormat: 'pdf', options: {}, folder };
    if (rasterType(attachment.bytes)) {
      // Loaded only if needed: it imports the image decoders.
      const { writePdf } = await import('../image/encoders/pdf.ts');
      const output = join(folder, 'picture.pdf');
      await writePdf(output, [input], { ...work, options: pictureOptions }, space);
      return output;
    }
    const { outputs } = await convert(work, input, space);
    return outputs[0]?.path ?? '';
  } catch (error) {
    if (error instanceof ProgramError) throw new EngineError('it could not be converted', { cause: error });
    throw error;
  }
}

/** Returns the format of an attachment by its content, and by its name if several have the same. */
async function formatOf({ name, bytes }: Attachment): Promise<string | undefined> {
  const extension = extensionOf(name);
  if (bytes.subarray(0, 1024).includes('%PDF-')) return 'pdf';
  const raster = rasterType(bytes)?.replace('image/', '').replace('jpeg', 'jpg');
  if (raster) return raster;
  const named = officeFormat(extension) ?? markupFormat(extension);
  const found = detectDocument(bytes.subarray(0, 65_536), name) ?? (await fileTypeFromBuffer(bytes))?.ext;
  if (found === undefined || found === 'xml')
    return named?.reads && !['zip', 'cfb', 'gzip', 'iwork'].includes(named.container ?? '') && !bytes.includes(0)
      ? (named.aliasOf ?? named.ext)
      : bytes.includes(0) || !isPlain(extension)
        ? undefined
        : 'txt';
  if (named?.reads && (containers[found]?.includes(named.container ?? '') || named.contents?.includes(found)))
    return named.aliasOf ?? named.ext;
  return (officeFormat(found) ?? markupFormat(found))?.reads ? found : undefined;
}

/** Returns whether an extension is that of plain text. */
function isPlain(extension: string): boolean {
  return [
    '',
    'txt',
    'text',
    'log',
    'ics',
    'vcf',
    'json',
    'xml',
    'yaml',
    'yml',
    'ini',
    'conf',
    'patch',
    'diff',
  ].includes(extension);
}
