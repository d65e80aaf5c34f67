import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { partsOf, planOf } from '../../../functions/worker/split/plan-parts.ts';
import { leaveToBreadth } from '../../support/breadth.ts';
import { serveFile } from '../../support/ranged-store.ts';
import { ffmpeg } from './samples.ts';
import { runPart, type SplitRequest, splitRun, surveyOf } from './split-run.ts';
import { testFile, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const execute = promisify(execFile);
const duration = 24;
/** Noise takes many bytes, so that no part of the file is in the first megabytes by chance. */
const pictures = ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=25:duration=${duration},noise=alls=60:allf=t`];
const tone = ['-f', 'lavfi', '-i', `sine=440:sample_rate=48000:duration=${duration}`];
const words = '1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:13,000 --> 00:00:13,900\nBye\n';
const chapter = (start: number, end: number, title: string) =>
  `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start}\nEND=${end}\ntitle=${title}\n`;
const tags = `;FFMETADATA1\ntitle=Film\n${chapter(0, 12_500, 'One')}${chapter(12_500, 24_000, 'Two')}`;

let folder: string;
let end: string;
beforeAll(async () => {
  folder = await testFolder();
  end = join(folder, 'end.mp4');
  await ffmpeg(
    ...[...pictures, ...tone, '-i', await testFile('words.srt', words), '-i', await testFile('tags.txt', tags)],
    ...['-map', '0', '-map', '1', '-map', '2', '-map_metadata', '3', '-map_chapters', '3'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '6', '-pix_fmt', 'yuv420p'],
    ...['-x264-params', 'keyint=50:min-keyint=25:open-gop=1:bframes=3', '-c:a', 'aac', '-c:s', 'mov_text'],
    // As cameras do: a second of sound after a second of pictures.
    ...['-chunk_duration', '1000000', end],
  );
});

leaveToBreadth(['QuickTime', 'an index at the start']);

/** Everything in a file, decoded. */
async function decoded(path: string): Promise<string[]> {
  const { stdout } = await execute(
    'ffmpeg',
    ['-v', 'error', '-i', path, '-map', '0:v', '-map', '0:a', '-map', '0:s?', '-c:s', 'copy', '-f', 'framemd5', '-'],
    { maxBuffer: 2 ** 26 },
  );
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

async function chaptersOf(path: string): Promise<string[]> {
  const { stdout } = await execute('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'chapter_tags=title',
    '-of',
    'csv=p=0',
    path,
  ]);
  return stdout.trim().split('\n');
}

describe('A split run that reads ranges has the pictures, the sound and the subtitles of one that reads everything, of', () => {
  test.each([
    ['an index at the end', 'mp4', []],
    ['an index at the start', 'mp4', ['-movflags', '+faststart']],
    ['QuickTime', 'mov', []],
    ['Matroska', 'mkv', ['-c:s', 'srt']],
  ])('%s', async (name, format, args) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.${format}`);
    const chunked = ['-chunk_duration', '1000000'];
    await ffmpeg('-i', end, '-map', '0:v', '-map', '0:a', '-map', '0:s', '-c', 'copy', ...chunked, ...args, path);
    const request: SplitRequest = {
      operation: 'convert',
      source: { path, format },
      outputFormat: 'mkv',
      options: { video_codec: 'ffv1' },
      folder,
    };
    const whole = await splitRun(request, 5);
    await using store = await serveFile(path);
    const made = await splitRun({ ...request, store }, 5, format === 'mkv' ? {} : { read: 'index' });
    expect(made.starts).toEqual(whole.starts);
    expect(made.starts.length).toBeGreaterThan(2);
    expect(await decoded(made.path)).toEqual(await decoded(whole.path));
    expect(await chaptersOf(made.path)).toEqual(['One', 'Two']);
    if (format === 'mkv') return;
    expect(made.read.sound).toBeLessThan(10_000_000);
    expect(made.read.join).toBeLessThan(10_000_000);
  });
});

describe('A part is refused', () => {
  const options = { video_codec: 'libx264', preset: 'ultrafast' };
  const request = (): SplitRequest => ({
    operation: 'convert',
    source: { path: end, format: 'mp4' },
    outputFormat: 'mkv',
    options,
    folder,
  });

  test('if it reads a hole, or has other pictures than the survey found', async () => {
    await using store = await serveFile(end);
    const survey = await surveyOf({ ...request(), store }, { read: 'index' });
    const [first = 0, , second = 0] = (survey.boundaries ?? []).filter((time) => time > 11);
    const [sound, , part] = partsOf(planOf(survey, 0, [first, second]));
    const ranges = part?.read.ranges ?? [];
    const [from, to] = ranges.find(([start]) => start > 9_000_000) ?? [0, 0];
    const run = (changed: PartRequest, own: [number, number], joined = ranges) =>
      runPart({ ...request(), store }, changed, [], {
        ranges: joined.map((range) => (range[0] === from ? own : range)),
      });
    const chunk = part?.request;
    if (chunk?.kind !== 'chunk' || !chunk.pictures || from === 0) throw new Error(JSON.stringify(part));

    await expect(run(chunk, [from + 1_000_000, to])).rejects.toThrow('could not be found by its index');
    await expect(run(chunk, [from, to - 12_000_000])).rejects.toThrow('could not be found by its index');
    await expect(run({ ...chunk, pictures: chunk.pictures + 1 }, [from, to])).rejects.toThrow(
      `has ${chunk.pictures} pictures instead of the ${chunk.pictures + 1}`,
    );
    await expect(run({ kind: 'sound' }, [from, to])).rejects.toThrow('could not be found by its index');
    expect(sound?.read.ranges?.length).toBeGreaterThan(3);
    expect((await run(chunk, [from, to])).outputs).toHaveLength(1);
  });

  test('if its source has no index', async () => {
    const path = join(folder, 'fragmented.mp4');
    await ffmpeg('-i', end, '-map', '0:v', '-c', 'copy', '-movflags', '+frag_keyframe+empty_moov', path);
    await using store = await serveFile(path);
    const fragmented = { ...request(), source: { path, format: 'mp4' }, store };
    await expect(surveyOf(fragmented, { read: 'index' })).rejects.toThrow(EngineError);
  });
});
