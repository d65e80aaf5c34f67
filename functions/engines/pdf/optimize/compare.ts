import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Pdf, runTool } from '../../runtime/pdf-file.ts';
import type { Job } from '../job.ts';

const maxCompared = 12;
const dpi = 36;

/** Returns whether pages look the same: by their average difference from 0 to 255. Compares a dozen of them. */
export async function looksLike({ path, pages }: Pdf, other: string, tolerance: number, job: Job): Promise<boolean> {
  const step = Math.max(1, pages / maxCompared);
  for (let page = 1; page <= pages; page = Math.floor(page + step)) {
    const [before, after] = [await rendered(path, page, job), await rendered(other, page, job)];
    if (before.length !== after.length) return false;
    let sum = 0;
    for (let index = 0; index < before.length; index++) sum += Math.abs((before[index] ?? 0) - (after[index] ?? 0));
    if (sum / before.length > tolerance) return false;
  }
  return true;
}

async function rendered(path: string, page: number, job: Job): Promise<Buffer> {
  const file = join(job.folder, 'rendered');
  await runTool(
    'pdftoppm',
    ['-f', String(page), '-l', String(page), '-r', String(dpi), '-singlefile', '-png', path, file],
    job,
  );
  const { data } = await sharp(`${file}.png`).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  await rm(`${file}.png`);
  return data;
}
