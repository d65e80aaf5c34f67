import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtempDisposable, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import { engine } from '../../functions/engines/media/run.ts';
import { quietContext } from '../support/sandboxed.ts';
import { median, type Row, timed } from './table.ts';

const execute = promisify(execFile);
const rounds = 7;

/** Measures a 1080p transcode through the engine against the same bare command, alternating, by the median. */
export async function benchMedia(): Promise<Row[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-media-'));
  const folder = temporary.path;
  const source = join(folder, 'source.mkv');
  await execute(ffmpegPath(), [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1920x1080:rate=30:duration=10'],
    ...[
      '-f',
      'lavfi',
      '-i',
      'sine=frequency=440:duration=10',
      '-c:v',
      'mpeg2video',
      '-q:v',
      '3',
      '-c:a',
      'flac',
      source,
    ],
  ]);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await timed(() => transcodeBare(source, join(folder, 'bare.mp4'))));
    ours.push(await timed(() => transcodeByEngine(source, join(folder, String(round)))));
  }
  return [{ name: '1080p to H.264', ours: median(ours), bare: median(bare) }];
}

async function transcodeBare(source: string, output: string): Promise<void> {
  await execute(ffmpegPath(), [
    ...['-v', 'error', '-nostdin', '-y', '-i', source, '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart', output],
  ]);
}

async function transcodeByEngine(source: string, folder: string): Promise<void> {
  await mkdir(join(folder, 'in'), { recursive: true });
  const path = join(folder, 'in', '0');
  await copyFile(source, path);
  await engine.run(
    {
      operation: 'convert',
      inputs: [{ path, name: 'source.mkv', format: 'mkv', size: (await stat(path)).size }],
      outputFormat: 'mp4',
      options: {},
      folder,
    },
    quietContext(),
  );
}
