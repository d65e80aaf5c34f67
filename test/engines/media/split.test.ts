import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { leaveToBreadth } from '../../support/breadth.ts';
import { ffmpeg } from './samples.ts';
import { type SplitRequest, splitRun } from './split-run.ts';
import { run, testFile, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const execute = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await testFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const moving = (seconds: number, rate = '25', size = '160x90') => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`,
];
const tone = (seconds: number, layout = 'mono') => [
  '-f',
  'lavfi',
  '-i',
  `sine=440:sample_rate=48000:duration=${seconds},aformat=channel_layouts=${layout}`,
];
const h264 = (...params: string[]) => [
  '-c:v',
  'libx264',
  '-preset',
  'veryfast',
  '-pix_fmt',
  'yuv420p',
  '-x264-params',
  ['keyint=30', 'min-keyint=10', ...params].join(':'),
];
const aac = ['-c:a', 'aac'];
/** Drops pictures at irregular intervals. */
const irregular = [
  '-vf',
  "select='not(eq(mod(n*n,7),2)+eq(mod(n,11),5))'",
  '-fps_mode',
  'passthrough',
  '-enc_time_base',
  '1/90000',
];

/** A recording with the colours of HDR10, and its brightness in cd/m² if that is declared. */
function hdr10(seconds: number, brightest?: number): string[] {
  const display = 'G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)';
  const declared = brightest ? `:hdr10=1:master-display=${display}:max-cll=${brightest},400` : '';
  const colours = 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
  return [
    ...[...moving(seconds), '-pix_fmt', 'yuv420p10le', '-c:v', 'libx265', '-preset', 'ultrafast'],
    ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc', '-x265-params'],
    `log-level=none:keyint=25:min-keyint=25:${colours}${declared}`,
  ];
}

interface Source {
  format: string;
  make: string[];
  /** Makes a second file that follows the first one without a new encoding. */
  followedBy?: string[];
  /** Made from the first, with streams copied. */
  remake?: string[];
  to: 'mp4' | 'mkv' | 'webm' | 'mov';
  options?: Record<string, unknown>;
  /** Filters that a whole run applies. */
  filters?: string;
  pixels?: string;
}

const lossless = {
  mp4: { video_codec: 'libx264', video_crf: 0 },
  mov: { video_codec: 'libx264', video_crf: 0 },
  mkv: { video_codec: 'ffv1' },
  webm: { video_codec: 'libvpx-vp9', video_crf: 10 },
};

const sources: Record<string, Source> = {
  'a constant rate without B-frames': { format: 'mp4', make: [...moving(6), ...h264('bframes=0')], to: 'mp4' },
  'B-frames at the rate of television, with sound': {
    format: 'mp4',
    make: [...moving(6, '30000/1001'), ...tone(6), ...h264('bframes=3'), ...aac],
    to: 'mp4',
  },
  'open groups of pictures': {
    format: 'mp4',
    make: [...moving(6), ...tone(6), ...h264('open-gop=1', 'bframes=3'), ...aac],
    to: 'mkv',
  },
  'a variable rate in MP4': {
    format: 'mp4',
    make: [...moving(8), ...tone(8), ...irregular, ...h264('bframes=3', 'open-gop=1'), ...aac],
    to: 'mp4',
  },
  'a variable rate in Matroska': {
    format: 'mkv',
    make: [...moving(8), ...tone(8), ...irregular, ...h264('bframes=3'), ...aac],
    to: 'webm',
  },
  'a variable rate to Matroska': {
    format: 'mkv',
    make: [...moving(8), ...irregular, ...h264('open-gop=1')],
    to: 'mkv',
  },
  'interlaced pictures': {
    format: 'mp4',
    make: [...moving(6, '50', '160x96'), '-vf', 'interlace', ...h264('tff=1', 'bframes=2'), '-flags', '+ildct+ilme'],
    to: 'mp4',
    filters: 'yadif=deint=interlaced',
  },
  'a rotation': {
    format: 'mp4',
    make: [...moving(6), ...tone(6), ...h264(), ...aac],
    remake: ['-metadata:s:v:0', 'rotate=90'],
    to: 'mp4',
  },
  HDR10: {
    make: hdr10(6, 1000),
    format: 'mkv',
    to: 'mkv',
    options: { compatibility: 'archive' },
    pixels: 'yuv420p10le',
  },
  'an odd duration': {
    format: 'mp4',
    make: [...moving(7.77, '24000/1001'), ...tone(7.31), ...h264('bframes=2'), ...aac],
    to: 'mkv',
  },
  '5.1 sound': { format: 'mkv', make: [...moving(6), ...tone(6, '5.1'), ...h264(), '-c:a', 'ac3'], to: 'webm' },
  'no sound, into WebM': {
    format: 'webm',
    make: [
      ...moving(5),
      '-c:v',
      'libvpx-vp9',
      '-deadline',
      'realtime',
      '-cpu-used',
      '8',
      '-g',
      '30',
      '-pix_fmt',
      'yuv420p',
    ],
    to: 'webm',
  },
  'sound that starts before the pictures': {
    format: 'mp4',
    make: ['-itsoffset', '0.517', ...moving(6), ...tone(6), ...h264('bframes=2'), ...aac],
    to: 'mp4',
  },
  'pictures that start before the sound': {
    format: 'mkv',
    make: [...moving(6), '-itsoffset', '0.483', ...tone(5), ...h264('bframes=2'), '-c:a', 'libopus'],
    to: 'mkv',
  },
  'HEVC with leading pictures': {
    format: 'mp4',
    make: [
      ...moving(6),
      ...tone(6),
      '-c:v',
      'libx265',
      '-preset',
      'ultrafast',
      '-pix_fmt',
      'yuv420p',
      '-x265-params',
      'log-level=none:keyint=30:min-keyint=30:open-gop=1:bframes=4',
      ...aac,
    ],
    to: 'mp4',
  },
  AV1: {
    format: 'mkv',
    make: [...moving(5), '-c:v', 'libsvtav1', '-preset', '12', '-g', '30', '-pix_fmt', 'yuv420p'],
    to: 'mkv',
  },
  'a refresh instead of key frames': {
    format: 'mp4',
    make: [...moving(8), ...h264('intra-refresh=1', 'bframes=0')],
    to: 'mp4',
  },
  ProRes: {
    format: 'mov',
    make: [...moving(4), ...tone(4), '-c:v', 'prores_ks', '-c:a', 'pcm_s16le'],
    to: 'mov',
    pixels: 'yuv420p',
    options: {},
  },
  'pixels that are not square': {
    format: 'mkv',
    make: [...moving(6, '60000/1001'), '-vf', 'setsar=16/11', ...h264()],
    to: 'webm',
  },
  'a start after zero': {
    format: 'mkv',
    make: [...moving(6), ...tone(6), ...h264('bframes=3'), ...aac, '-output_ts_offset', '0.321'],
    to: 'mp4',
  },
  'an edit list that begins inside a group of pictures': {
    format: 'mp4',
    make: [...moving(8), ...tone(8), ...h264('bframes=2', 'keyint=40', 'min-keyint=40'), ...aac],
    remake: ['-ss', '1.3'],
    to: 'mp4',
  },
  'MPEG-4 with B-frames': {
    format: 'mp4',
    make: [...moving(6), '-c:v', 'mpeg4', '-bf', '2', '-g', '30', '-q:v', '3'],
    to: 'mkv',
  },
};

const usual = [
  'B-frames at the rate of television, with sound',
  'open groups of pictures',
  'a variable rate in Matroska',
  'interlaced pictures',
  'HEVC with leading pictures',
];
leaveToBreadth([
  ...Object.keys(sources).filter((name) => !usual.includes(name)),
  'another frame rate',
  'subtitles that are drawn',
]);

/** The pictures of a file, decoded: a hash and the seconds from the start of the file for each. */
async function picturesOf(
  path: string,
  filters = 'null',
  pixels = 'yuv420p',
): Promise<{ hash: string; time: number }[]> {
  const { stdout } = await execute(
    'ffmpeg',
    [
      '-v',
      'error',
      '-i',
      path,
      '-map',
      '0:v:0',
      '-vf',
      `${filters},format=${pixels}`,
      '-fps_mode',
      'passthrough',
      '-enc_time_base',
      '1/90000',
      '-f',
      'framemd5',
      '-',
    ],
    { maxBuffer: 2 ** 26 },
  );
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, , pts, , , hash = ''] = line.split(/,\s*/);
      return { hash, time: Number(pts) / 90_000 };
    });
}

async function make(name: string, { format, make: args, followedBy, remake }: Source): Promise<string> {
  const path = join(folder, `${name.replaceAll(/\W/g, '-')}.${format}`);
  await ffmpeg(...args, path);
  if (followedBy) {
    const next = `${path}.next.${format}`;
    await ffmpeg(...followedBy, next);
    const list = await testFile('list', `ffconcat version 1.0\nfile '${path}'\nfile '${next}'\n`);
    await ffmpeg('-f', 'concat', '-safe', '0', '-i', list, '-c', 'copy', `${path}.both.${format}`);
    return `${path}.both.${format}`;
  }
  if (!remake) return path;
  const again = `${path}.${format}`;
  const seek = remake[0] === '-ss';
  await ffmpeg(...(seek ? remake : []), '-i', path, '-c', 'copy', ...(seek ? [] : remake), again);
  return again;
}

/** Has the engine encode VP9 without loss, for which it has no option. */
async function makeVp9Lossless(): Promise<void> {
  const path = join(folder, 'lossless-ffmpeg');
  await writeFile(
    path,
    `#!/bin/bash
args=()
for arg; do
  [[ $before == -crf:v:0 ]] && arg=0
  args+=("$arg")
  [[ $arg == libvpx-vp9 ]] && args+=(-lossless 1)
  before=$arg
done
exec ffmpeg "\${args[@]}"
`,
  );
  await chmod(path, 0o755);
  vi.stubEnv('LATHE_FFMPEG', path);
}

describe('A split run without loss has every picture of the source at its time, for', () => {
  beforeEach(async () => {
    await makeVp9Lossless();
  });

  test.each(Object.keys(sources))('%s', async (name) => {
    const source = sources[name];
    if (!source) throw new Error(name);
    const path = await make(name, source);
    const request: SplitRequest = {
      operation: 'convert',
      source: { path, format: source.format },
      outputFormat: source.to,
      options: { ...lossless[source.to], ...source.options },
      folder,
    };

    const made = await splitRun(request, 1.1);

    expect(made.starts.length).toBeGreaterThan(2);
    const [expected, found] = await Promise.all([
      picturesOf(path, source.filters, source.pixels),
      picturesOf(made.path, undefined, source.pixels),
    ]);
    expect(found.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    const sinceFirst = (pictures: { time: number }[]) => pictures.map(({ time }) => time - (pictures[0]?.time ?? 0));
    const times = sinceFirst(expected);
    const off = sinceFirst(found).map((time, index) => Math.abs(time - (times[index] ?? 0)));
    expect(Math.max(...off)).toBeLessThan(0.0011);
  });
});

describe('A split run without loss has the pictures of a whole run with', () => {
  const filtered: Record<string, { source: Source; words?: string; options: Record<string, unknown> }> = {
    'tones of HDR10 for other screens': {
      // The brightness is declared in the first chunk only.
      source: { format: 'mkv', make: hdr10(1, 4000), followedBy: hdr10(5), to: 'mp4' },
      options: {},
    },
    'another frame rate': {
      source: { format: 'mp4', make: [...moving(6), ...irregular, ...h264('bframes=2')], to: 'mp4' },
      options: { fps: 24 },
    },
    'subtitles that are drawn': {
      source: { format: 'mkv', make: [...moving(6, '25', '320x180'), ...h264('bframes=2')], to: 'mp4' },
      words: '1\n00:00:00,500 --> 00:00:01,500\nOne\n\n2\n00:00:01,600 --> 00:00:05,500\nOver two seams\n',
      options: { subtitles_mode: 'hard' },
    },
  };

  test.each(Object.keys(filtered))('%s', async (name) => {
    const { source, words, options: more } = filtered[name] ?? {};
    if (!source) throw new Error(name);
    const plain = await make(name, source);
    const path = words ? `${plain}.mkv` : plain;
    if (words) await ffmpeg('-i', plain, '-i', await testFile('words.srt', words), '-c', 'copy', path);
    const options = { ...lossless[source.to], ...more };
    const whole = await run('convert', { path, format: source.format }, source.to, options);
    const split = await splitRun(
      { operation: 'convert', source: { path, format: source.format }, outputFormat: source.to, options, folder },
      1.1,
    );

    expect(split.starts.length).toBeGreaterThan(2);
    const [expected, found] = [await picturesOf(whole.path), await picturesOf(split.path)];
    expect(found.length).toBeGreaterThan(100);
    expect(found.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
  });
});
