import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { videoArgs } from '../../functions/engines/media/codecs.ts';
import type { VideoEncoder } from '../../functions/engines/media/encoders.ts';
import { mediaFormat } from '../../functions/engines/media/formats.ts';
import { presets } from '../../functions/engines/media/presets.ts';
import { lambdaCores as cores, costOf, ffmpeg } from './ffmpeg-cost.ts';

/** Encoders with a format for each, and those that have presets. */
const encoders: [VideoEncoder, string][] = [
  ['libx264', 'mp4'],
  ['libx265', 'mp4'],
  ['libsvtav1', 'mp4'],
  ['libvpx-vp9', 'webm'],
  ['libvpx', 'webm'],
  ['mpeg4', 'avi'],
  ['mpeg2video', 'mpeg'],
  ['mpeg1video', 'mpg'],
  ['wmv2', 'wmv'],
  ['flv', 'flv'],
  ['libtheora', 'ogv'],
  ['rv20', 'rm'],
  ['mjpeg', 'avi'],
  ['prores_ks', 'mov'],
  ['ffv1', 'mkv'],
];
const withPresets: VideoEncoder[] = ['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9', 'libvpx'];

/** Slow presets are measured on the small size only: the large one would take an hour. */
const sizes = [
  { name: 'small', width: 640, height: 360, frames: 60, fewFrames: 30, slowest: 'veryslow' },
  { name: 'large', width: 1920, height: 1080, frames: 36, fewFrames: 12, slowest: 'medium' },
] as const;

/** The cost of a filter or animation writer, by its table in the engine. */
const others: [name: string, args: string[]][] = [
  ['scaling', ['-vf', 'scale=1280:720', '-c:v', 'wrapped_avframe']],
  ['deinterlacing', ['-vf', 'yadif', '-c:v', 'wrapped_avframe']],
  [
    'toneMapping',
    [
      '-vf',
      'setparams=color_trc=smpte2084:color_primaries=bt2020:colorspace=bt2020nc,zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv,format=yuv420p',
      '-c:v',
      'wrapped_avframe',
    ],
  ],
  [
    'flattening',
    [
      '-vf',
      'format=rgba,split[a][b];[a]lutrgb=r=255:g=255:b=255:a=255[c];[c][b]overlay=format=auto,format=yuv420p',
      '-c:v',
      'wrapped_avframe',
    ],
  ],
  ['gifPalette', ['-vf', 'palettegen=stats_mode=full', '-c:v', 'wrapped_avframe']],
  [
    'gif',
    [
      '-filter_complex',
      '[0:v]split[a][b];[a]trim=end_frame=1,palettegen[p];[b][p]paletteuse=dither=sierra2_4a',
      '-c:v',
      'gif',
    ],
  ],
  ['webp', ['-c:v', 'libwebp_anim', '-quality', '75']],
  ['webpLossless', ['-c:v', 'libwebp_anim', '-lossless', '1', '-pix_fmt', 'bgra']],
  ['apng', ['-c:v', 'apng', '-pix_fmt', 'rgb24']],
];

/**
 * Measures the megapixels that each encoder writes per second of CPU time, and how many of Lambda's cores it can use.
 */
export async function benchEncoders(print: (line: string) => void): Promise<void> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'bench-encoders-'));
  const folder = temporary.path;
  for (const { name, width, height, frames, fewFrames, slowest } of sizes) {
    const source = join(folder, `${name}.y4m`);
    await ffmpeg([
      ...['-f', 'lavfi', '-i', `mandelbrot=size=${width}x${height}:rate=30:start_scale=0.6:end_scale=0.02:end_pts=60`],
      ...['-vf', 'noise=alls=8:allf=t', '-frames:v', String(frames), '-pix_fmt', 'yuv420p', source],
    ]);
    const measure = async (label: string, args: string[], count: number) => {
      const cost = await costOf(['-i', source, '-frames:v', String(count), ...args, '-f', 'null', '-']);
      const megapixels = (width * height * count) / 1e6;
      print(`${name} ${label}: [${(megapixels / cost.cpuSeconds).toPrecision(2)}, ${cost.cores.toFixed(1)}]`);
    };
    for (const [encoder, ext] of encoders) {
      const measured = presets.slice(0, presets.indexOf(slowest) + 1);
      for (const preset of withPresets.includes(encoder) ? measured : [undefined]) {
        const few = preset !== undefined && presets.indexOf(preset) > presets.indexOf('medium');
        const args = [...videoArgs(encoder, { preset }, mediaFormat(ext)), ...threads(encoder)];
        await measure(`${encoder} ${preset ?? ''}`, args, few ? fewFrames : frames);
      }
    }
    for (const [label, args] of others) await measure(label, args, frames);
  }
}

function threads(encoder: VideoEncoder): string[] {
  if (encoder === 'libx265') return ['-x265-params', `log-level=none:pools=${cores}`];
  if (encoder === 'libsvtav1') return ['-svtav1-params', `lp=${cores}`];
  // The threads of VP8 spin while they wait, which would count as work.
  return ['-threads', String(encoder === 'libvpx' ? 1 : cores)];
}
