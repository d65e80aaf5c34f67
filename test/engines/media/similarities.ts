import { readFile } from 'node:fs/promises';
import { ffmpeg } from './samples.ts';

/** Measures the structural similarity of each picture of a video to that of its source. */
export async function similarities(path: string, source: string): Promise<number[]> {
  const stats = `${path}.ssim`;
  await ffmpeg('-i', path, '-i', source, '-filter_complex', `[0:v][1:v]ssim=stats_file=${stats}`, '-f', 'null', '-');
  return [...(await readFile(stats, 'utf8')).matchAll(/All:([\d.]+)/g)].map(([, all]) => Number(all));
}
