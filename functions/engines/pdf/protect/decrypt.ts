import { withExtension } from '../../../../shared/files/names.ts';
import { limitByPages, openPdf } from '../../runtime/pdf-file.ts';
import type { Operation } from '../job.ts';

/** Removes the encryption of a PDF. */
export const decrypt: Operation = async (job) => {
  const pdf = await openPdf(job.input.path, job.work.options, job);
  await limitByPages(pdf, job);
  const warnings = pdf.path === job.input.path ? ['The PDF was not encrypted and is unchanged.'] : [];
  return { outputs: [{ path: pdf.path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }], warnings };
};
