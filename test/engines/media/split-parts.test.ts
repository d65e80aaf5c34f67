import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { leaveToBreadth } from '../../support/breadth.ts';
import { ffmpeg } from './samples.ts';
import { runPart, type SplitRequest, splitRun, surveyOf } from './split-run.ts';
import { run, testFile, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const execute = promisify(execFile);

let folder: string;
let plain: string;
beforeAll(async () => {
  folder = await testFolder();
  plain = join(folder, 'plain.mp4');
  await ffmpeg(...pictures, ...tone, ...['-c:v', 'mpeg4', '-g', '30', '-q:v', '4', '-c:a', 'aac', plain]);
});

const pictures = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=4'];
const tone = ['-f', 'lavfi', '-i', 'sine=440:sample_rate=48000:duration=4'];

function requestOf(path: string, format: string, outputFormat: string, more: Partial<SplitRequest> = {}): SplitRequest {
  return { operation: 'convert', source: { path, format }, outputFormat, folder, ...more };
}

leaveToBreadth(['in mp4', 'in mov', 'compressed']);

/** What players see of a file, without what differs between any two encodings. */
async function described(path: string): Promise<unknown> {
  const entries = [
    'stream=codec_name,codec_type,codec_tag_string,profile,level,width,height,pix_fmt,sample_aspect_ratio,color_range',
    'stream=color_space,color_transfer,color_primaries,r_frame_rate,sample_rate,channels,channel_layout,extradata_size',
    'stream_disposition:stream_tags=language,title,handler_name,filename,mimetype:format_tags:chapter:chapter_tags',
  ];
  const { stdout } = await execute('ffprobe', [
    ...['-v', 'error', '-print_format', 'json', '-show_entries', entries.join(':')],
    path,
  ]);
  return JSON.parse(stdout);
}

/** The packets of the tracks that are not encoded pictures. */
async function packetsOf(path: string): Promise<string[]> {
  const { stdout } = await execute('ffprobe', [
    ...['-v', 'error', '-show_entries', 'packet=stream_index,pts_time,size,data_hash', '-show_data_hash', 'crc32'],
    ...['-of', 'csv', path],
  ]);
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('packet,0,'))
    .sort();
}

describe('Everything but the pictures of a split run is as in a whole run', () => {
  /** Two languages of sound, subtitles, chapters, an attached font, tags that identify a place. */
  async function rich(): Promise<string> {
    const lines = '1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:03,000 --> 00:00:03,900\nBye\n';
    const words = await testFile('words.srt', lines);
    const chapter = (start: number, end: number, title: string) =>
      `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start}\nEND=${end}\ntitle=${title}\n`;
    const tags = `;FFMETADATA1\ntitle=Film\nlocation=+48+011/\n${chapter(0, 2500, 'One')}${chapter(2500, 4000, 'Two')}`;
    const path = join(folder, 'rich.mkv');
    await ffmpeg(
      ...[...pictures, ...tone, ...tone, '-i', words, '-i', await testFile('tags.txt', tags)],
      ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-map_metadata', '4', '-map_chapters', '4'],
      ...['-c:v', 'mpeg4', '-g', '30', '-q:v', '4', '-c:a:0', 'aac', '-c:a:1', 'ac3', '-c:s', 'srt'],
      ...['-metadata:s:v:0', 'language=fre', '-metadata:s:v:0', 'title=Picture', '-metadata:s:a:0', 'language=ger'],
      ...['-metadata:s:a:1', 'language=eng', '-metadata:s:a:1', 'title=Commentary', '-disposition:a:1', 'comment'],
      ...['-metadata:s:s:0', 'language=spa', '-attach', words, '-metadata:s:t', 'mimetype=application/x-truetype-font'],
      path,
    );
    return path;
  }

  test.each([
    ['in mkv', 'mkv'],
    ['in mp4', 'mp4'],
    ['in mov', 'mov'],
  ])('%s', async (_, to) => {
    const path = await rich();
    const options = { video_codec: 'libx264' };
    const whole = await run('convert', { path, format: 'mkv' }, to, options);
    const split = await splitRun(requestOf(path, 'mkv', to, { options }), 1.1);

    expect(split.starts.length).toBeGreaterThan(2);
    expect(await described(split.path)).toEqual(await described(whole.path));
    const sound = (await packetsOf(whole.path)).length;
    expect(sound).toBeGreaterThan(100);
    expect(await packetsOf(split.path)).toEqual(await packetsOf(whole.path));
    expect(split.warnings).toEqual(whole.warnings);
  });

  test('compressed', async () => {
    const options = { compress_video: 'by_video_quality' };
    const whole = await run('compress', { path: plain, format: 'mp4' }, 'mp4', options);
    const split = await splitRun(requestOf(plain, 'mp4', 'mp4', { operation: 'compress', options }), 1.1);

    expect(await described(split.path)).toEqual(await described(whole.path));
    expect(Object.keys(split.details ?? {})).toEqual(Object.keys(whole.details ?? {}));
  });
});

describe('A survey says why a run is not split', () => {
  test.each([
    ['The video is not encoded.', 'mkv', {}],
    ['The video is trimmed.', 'mp4', { video_codec: 'libx264', trim_start: '1' }],
    ['Chunks cannot be joined to ogv.', 'ogv', {}],
    ['gif is not a format of video.', 'gif', {}],
  ])('%s', async (whole, to, options) => {
    expect(await surveyOf(requestOf(plain, 'mp4', to, { options }))).toMatchObject({ whole });
  });

  test('for a target size that it has', async () => {
    const options = { compress_video: 'by_size', video_compress_max_filesize: 4000 };
    const { whole } = await surveyOf(requestOf(plain, 'mp4', 'mp4', { operation: 'compress', options }));
    expect(whole).toBe('The file is already as small as requested.');
  });

  test('for a single group of pictures', async () => {
    const path = join(folder, 'one-group.mp4');
    await ffmpeg(...pictures, '-c:v', 'mpeg4', '-g', '600', '-sc_threshold', '1000000000', path);
    const { whole } = await surveyOf(requestOf(path, 'mp4', 'mp4', { options: { video_codec: 'libx264' } }));
    expect(whole).toMatch(/no key frames/);
  });
});

test('Chunks of different encodings are not joined', async () => {
  const options = { video_codec: 'libx264' };
  const request = requestOf(plain, 'mp4', 'mp4', { options });
  const { start, boundaries = [] } = await surveyOf(request);
  const [middle = 0] = boundaries;
  const chunk = async (index: number, from: number, more: Record<string, unknown>, to?: number) => {
    const part: PartRequest = { kind: 'chunk', index, from, ...(to === undefined ? {} : { to }) };
    const { outputs } = await runPart({ ...request, options: { ...options, ...more } }, part);
    return { path: outputs[0]?.path ?? '', format: 'mp4' };
  };
  const parts = [await chunk(0, start, {}, middle), await chunk(1, middle, { profile: 'baseline' })];

  const joined = runPart(request, { kind: 'join', starts: [start, middle], sound: false }, parts);
  await expect(joined).rejects.toThrow(/encoded differently/);
});

describe('A part refuses what a whole run refuses:', () => {
  const parts: PartRequest[] = [
    { kind: 'survey' },
    { kind: 'chunk', index: 1, from: 1, to: 2 },
    { kind: 'measure', index: 1, from: 1, to: 2 },
    { kind: 'sound' },
    { kind: 'join', starts: [0], sound: false },
  ];

  test('a playlist under the name of a video', async () => {
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${plain}\n#EXT-X-ENDLIST\n`;
    const path = await testFile('playlist.mp4', playlist);
    for (const part of parts) {
      const more = part.kind === 'join' ? [{ path: plain, format: 'mp4' }] : [];
      await expect(runPart(requestOf(path, 'mp4', 'mp4'), part, more), part.kind).rejects.toThrow(EngineError);
    }
  });

  test('a playlist or a list in place of a chunk', async () => {
    const path = join(folder, 'list.mp4');
    await writeFile(path, `ffconcat version 1.0\nfile '${plain}'\n`);
    const request = requestOf(plain, 'mp4', 'mp4', { options: { video_codec: 'libx264' } });
    const joined = runPart(request, { kind: 'join', starts: [0], sound: false }, [{ path, format: 'mp4' }]);
    await expect(joined).rejects.toThrow(EngineError);
  });

  test('a video that ends in the middle', async () => {
    const path = join(folder, 'cut.mp4');
    await copyFile(plain, path);
    await execute('truncate', ['-s', '20000', path]);
    await expect(surveyOf(requestOf(path, 'mp4', 'mp4', { options: { video_codec: 'libx264' } }))).rejects.toThrow(
      EngineError,
    );
  });
});
