import { constants, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputFile, Work } from './engine.ts';

/** Copies an input to a folder of its own, which programs are confined to. Not a link, because it may become an output. */
export async function bringInput(
  input: InputFile,
  work: Work,
  index: number,
): Promise<{ input: InputFile; folder: string }> {
  const folder = join(work.folder, `work-${index}`);
  await mkdir(folder);
  const path = join(folder, 'input');
  await copyFile(input.path, path, constants.COPYFILE_FICLONE);
  return { input: { ...input, path }, folder };
}
