import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkPdf, limitByPages, openPdf, protectPdf } from '../../runtime/pdf-file.ts';
import type { Operation } from '../job.ts';
import { PdfObjects } from '../objects.ts';
import { removeSignatures } from '../signatures.ts';

const maxPasswordBytes = 127;

/** Encrypts a PDF with AES-256. */
export const encrypt: Operation = async (job) => {
  const { options } = job.work;
  const [user = '', owner = user] = [options.user_password, options.owner_password].map((given) =>
    given === undefined ? undefined : String(given),
  );
  if (!owner) throw new EngineError('Set user_password, owner_password, or both.');
  for (const [name, value] of Object.entries({ user_password: user, owner_password: owner }))
    if (Buffer.byteLength(value) > maxPasswordBytes)
      throw new EngineError(`The option ${name} is longer than ${maxPasswordBytes} bytes in UTF-8.`);
  const yesOrNo = (permitted: boolean) => (permitted ? 'y' : 'n');
  const may = (name: string) => options[name] !== false;
  const isRestricted = options.print !== 'full' || !['copy', 'modify', 'annotate', 'forms'].every(may);
  if (isRestricted && user === owner)
    throw new EngineError(
      'Permissions only bind readers without the owner password. Set an owner_password that differs from user_password.',
    );
  const pdf = await openPdf(job.input.path, options, job);
  await limitByPages(pdf, job);
  const objects = await PdfObjects.read(pdf.path, job);
  const warnings = removeSignatures(objects);
  const plain = join(job.folder, 'plain.pdf');
  await objects.write(plain, job);
  const path = join(job.folder, 'encrypted.pdf');
  const permissions = {
    print: String(options.print),
    extract: yesOrNo(may('copy')),
    modifyOther: yesOrNo(may('modify')),
    assemble: yesOrNo(may('modify')),
    annotate: yesOrNo(may('annotate')),
    form: yesOrNo(may('forms') || may('annotate')),
  };
  await protectPdf(plain, path, { user, owner, permissions }, job);
  // Opens it as its readers will.
  await checkPdf((await openPdf(path, { password: owner }, job)).path, job.folder, job, pdf.pages);
  return { outputs: [{ path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }], warnings };
};
