import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { archiveFormats } from './formats.ts';

/** Components of the archive engine. */
export const components = {
  '7zz': { label: '7-Zip', apt: ['7zip'], brew: ['sevenzip'] },
  bsdtar: { label: 'libarchive', apt: ['libarchive-tools'], brew: ['libarchive'] },
};

/** Returns the programs for a pair of formats: 7-Zip lists all archives, libarchive reads some formats and writes most. */
export function requires(_operation: ProcessingOperation, from: string, to: string): (keyof typeof components)[] {
  const isSevenZip = archiveFormats[from]?.type !== undefined && archiveFormats[to]?.write?.format === '7z';
  return isSevenZip ? ['7zz'] : ['7zz', 'bsdtar'];
}
