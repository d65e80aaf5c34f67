import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import { checkPdf } from '../../runtime/pdf-file.ts';
import type { Operation } from '../job.ts';
import { removeSignatures } from '../signatures.ts';
import { pagesOfList } from './ranges.ts';
import { openInput, readPages } from './select.ts';

/** Rotates pages of a PDF clockwise. */
export const rotate: Operation = async (job) => {
  const { options } = job.work;
  const { pdf, warnings } = await openInput(job);
  const objects = await readPages(pdf, pagesOfList(undefined, pdf.pages), job);
  warnings.push(...removeSignatures(objects));
  for (const number of new Set(pagesOfList(options.page_range, pdf.pages))) {
    const page = objects.pages[number - 1];
    const angle = objects.lookup(objects.dict(page)?.['/Rotate']);
    const turned = ((typeof angle === 'number' ? angle : 0) + Number(options.angle)) % 360;
    objects.update(page, { '/Rotate': turned < 0 ? turned + 360 : turned });
  }
  const path = join(job.folder, 'rotated.pdf');
  await objects.write(path, job);
  await checkPdf(path, job.folder, job, pdf.pages);
  return { outputs: [{ path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }], warnings };
};
