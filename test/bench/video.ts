import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { videoArgs } from '../../functions/engines/media/codecs.ts';
import type { VideoEncoder } from '../../functions/engines/media/encoders.ts';
import { mediaFormat } from '../../functions/engines/media/formats.ts';
import { ffmpegPath } from '../../functions/engines/media/programs.ts';
import { type Cost, costOf, ffmpeg, lambdaCores } from './ffmpeg-cost.ts';
import { median } from './table.ts';

const seconds = 4;
const framesPerSecond = 30;
/** The video that `npm run cost` prices. */
const pricedSeconds = 300;
const rounds = 3;

/** Encoder settings: the engine's defaults, or others for comparison. */
interface Setting {
  name: string;
  ext: 'mp4' | 'webm';
  video: string[];
  /** Settings for comparison run once. */
  compared?: true;
}

export interface VideoCost extends Cost {
  name: string;
  /** For 5 minutes of video. */
  pricedCpuSeconds: number;
  megabitsPerSecond: number;
  ssim: number;
  vmaf: number | undefined;
}

const byDefault = (encoder: VideoEncoder, ext: 'mp4' | 'webm'): Setting => ({
  name: `${ext} by default`,
  ext,
  video: videoArgs(encoder, {}, mediaFormat(ext)),
});

const vp9 = (name: string, ...args: string[]): Setting => ({
  name: `VP9 ${name}`,
  ext: 'webm',
  video: ['-c:v', 'libvpx-vp9', '-b:v', '0', '-row-mt', '1', ...args],
  compared: true,
});

const av1 = (preset: string): Setting => ({
  name: `AV1 preset ${preset}`,
  ext: 'webm',
  video: ['-c:v', 'libsvtav1', '-crf', '35', '-preset', preset, '-svtav1-params', `lp=${lambdaCores}`],
  compared: true,
});

const h264 = (preset: string): Setting => ({
  name: `H.264 ${preset}`,
  ext: 'mp4',
  video: ['-c:v', 'libx264', '-crf', '23', '-preset', preset],
  compared: true,
});

const settings: Setting[] = [
  byDefault('libx264', 'mp4'),
  byDefault('libvpx-vp9', 'webm'),
  h264('superfast'),
  h264('faster'),
  vp9('real time 7', '-crf', '33', '-deadline', 'realtime', '-cpu-used', '7'),
  vp9('real time 5', '-crf', '33', '-deadline', 'realtime', '-cpu-used', '5'),
  vp9('good 5', '-crf', '33', '-deadline', 'good', '-cpu-used', '5'),
  av1('12'),
  av1('10'),
];

/**
 * Measures the cost of converting a camera video from H.264 at 8 Mbit/s, including sound, and the result: size,
 * similarity to the input by SSIM, and by VMAF if LATHE_BENCH_VMAF names an ffmpeg that has it. The video is a zoom
 * into a fractal, or the file in LATHE_BENCH_CLIP, with sensor grain.
 */
export async function benchVideo(): Promise<VideoCost[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-video-'));
  const folder = temporary.path;
  const input = join(folder, 'input.mp4');
  const { picture, filter } = sourceOf(process.env.LATHE_BENCH_CLIP);
  await ffmpeg([
    ...picture,
    ...['-f', 'lavfi', '-i', 'anoisesrc=color=pink:amplitude=0.2:sample_rate=48000', '-ac', '2'],
    ...['-vf', filter, '-map', '0:v', '-map', '1:a', '-t', String(seconds), '-r', String(framesPerSecond)],
    ...['-c:v', 'libx264', '-b:v', '8M', '-maxrate', '12M', '-bufsize', '16M', '-pix_fmt', 'yuv420p'],
    ...['-c:a', 'aac', '-b:a', '128k', input],
  ]);
  const rows: VideoCost[] = [];
  for (const setting of settings) rows.push(await measure(setting, input, folder));
  return rows;
}

function sourceOf(clip: string | undefined): { picture: string[]; filter: string } {
  const filter = 'scale=1920:1080:flags=lanczos,noise=alls=7:allf=t';
  if (clip) return { picture: ['-i', clip], filter };
  const zoom = 'mandelbrot=size=1920x1080:rate=30:start_scale=0.6:end_scale=0.02:end_pts=120';
  return { picture: ['-f', 'lavfi', '-i', zoom], filter };
}

async function measure({ name, ext, video, compared }: Setting, input: string, folder: string): Promise<VideoCost> {
  const output = join(folder, `output.${ext}`);
  const audio = ext === 'webm' ? ['-c:a', 'libopus'] : ['-c:a', 'aac'];
  const threads = ['-threads', String(lambdaCores)];
  const costs: Cost[] = [];
  for (let round = 0; round < (compared ? 1 : rounds); round++)
    costs.push(await costOf([...threads, '-i', input, ...video, '-pix_fmt', 'yuv420p', ...threads, ...audio, output]));
  const cpuSeconds = median(costs.map((cost) => cost.cpuSeconds));
  return {
    name,
    cpuSeconds,
    cores: Math.min(lambdaCores, median(costs.map((cost) => cost.cores))),
    pricedCpuSeconds: (cpuSeconds * pricedSeconds) / seconds,
    megabitsPerSecond: ((await stat(output)).size * 8) / seconds / 1e6,
    ssim: (await score(ffmpegPath(), output, input, 'ssim', /All:([\d.]+)/)) ?? Number.NaN,
    vmaf: await score(process.env.LATHE_BENCH_VMAF, output, input, 'libvmaf', /VMAF score: ([\d.]+)/),
  };
}

/** Returns the similarity of two videos, as printed by a filter of ffmpeg. */
async function score(
  program: string | undefined,
  output: string,
  input: string,
  filter: string,
  pattern: RegExp,
): Promise<number | undefined> {
  if (!program) return undefined;
  // By frame number: WebM rounds times to milliseconds, which would compare a third of its frames with the one before.
  const inStep = '[0:v]settb=1/30,setpts=N[a];[1:v]settb=1/30,setpts=N[b]';
  const child = spawn(
    program,
    ['-nostdin', '-i', output, '-i', input, '-lavfi', `${inStep};[a][b]${filter}`, '-f', 'null', '-'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  const [, value] = pattern.exec(printed) ?? [];
  if (code !== 0 || value === undefined) throw new Error(`${filter} gave no score: ${printed}`);
  return Number(value);
}
