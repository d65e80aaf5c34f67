import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import type { Client } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import { startService } from '../support/running-stack.ts';
import { countCallsOf, type JobCalls } from './calls.ts';
import { convertMany } from './jobs.ts';
import { median, type Row, timed } from './table.ts';

const execute = promisify(execFile);
const alone = 15;
const together = 50;
const rounds = 3;

/** Measures instant conversions from request to file, alone and many at once, against the same work by sharp and ffmpeg. */
export async function benchInstant(): Promise<Row[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-instant-'));
  const folder = temporary.path;
  const service = await startService();
  try {
    const picture = await photograph(600, 600);
    await writeFile(join(folder, 'picture.png'), picture);
    const toWebp = () => convertInstantly(service.client, picture, 'picture.png', 'webp');
    await manyAtOnce(2 * availableParallelism(), toWebp);
    await convertMany(folder, 2 * availableParallelism());
    const single = await alternate(alone, toWebp, () => convertMany(folder, 1));
    const many = await alternate(
      rounds,
      () => manyAtOnce(together, toWebp),
      () => convertMany(folder, together),
    );

    const video = join(folder, 'video.mp4');
    await execute(ffmpegPath(), [
      ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30:duration=3'],
      ...['-f', 'lavfi', '-i', 'sine=frequency=440:duration=3', '-c:v', 'libx264', '-c:a', 'aac', video],
    ]);
    const content = await readFile(video);
    const toMp3 = () => convertInstantly(service.client, content, 'video.mp4', 'mp3');
    await toMp3();
    const bare = ['-v', 'error', '-nostdin', '-y', '-i', video, '-vn', '-c:a', 'libmp3lame', join(folder, 'bare.mp3')];
    const sound = await alternate(alone, toMp3, () => execute(ffmpegPath(), bare));
    return [
      { name: '1 MB png to webp, alone', ...single },
      {
        name: `the same, each of ${together} at once`,
        ours: many.ours / together,
        bare: many.bare / together,
      },
      { name: '3 s mp4 to mp3', ...sound },
    ];
  } finally {
    await service.stop();
  }
}

/** Counts the AWS calls of an instant conversion. */
export function countInstantCalls(): Promise<JobCalls> {
  return countCallsOf((client, picture) => convertInstantly(client, picture, 'picture.png', 'webp'));
}

/** Measures two kinds of work in alternation, by their medians. */
async function alternate(count: number, ours: () => Promise<unknown>, bare: () => Promise<unknown>) {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let round = 0; round < count; round++) {
    times.bare.push(await timed(bare));
    times.ours.push(await timed(ours));
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}

async function manyAtOnce(count: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

async function convertInstantly(client: Client, file: Buffer, name: string, to: string): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(file)]), name);
  const response = await client.instant(`convert?output_format=${to}`, form);
  if (!response.ok) throw new Error(`Status ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
