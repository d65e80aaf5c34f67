import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../runtime/engine.ts';
import { type Pdf, runTool } from '../runtime/pdf-file.ts';
import type { Job } from './job.ts';

/** More does not fit on the disk several times. */
const maxBytes = 2 * 1024 ** 3;
/** Files that inflate to more are bombs, unless they are still small. */
const maxRatio = 100;
const harmlessBytes = 200 * 1024 ** 2;

/** Writes a PDF whose streams are not compressed, and whose pages inherit nothing. Photos stay as they are. */
export async function withoutCompression({ path }: Pdf, job: Job): Promise<string> {
  const plain = join(job.folder, 'plain.pdf');
  const args = ['--stream-data=uncompress', '--decode-level=generalized', '--object-streams=disable'];
  await runTool('qpdf', [path, '--pages', '.', '1-z', '--', ...args, '--warning-exit-0', plain], job);
  const { size } = await stat(plain);
  if (size > maxBytes || (size > harmlessBytes && size > maxRatio * job.input.size))
    throw new EngineError('The PDF is too large for this operation when it is uncompressed. Split it.');
  return plain;
}
