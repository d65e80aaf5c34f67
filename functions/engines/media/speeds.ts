import { type AudioEncoder, audioEncoders, type VideoEncoder } from './encoders.ts';
import { type Preset, presets, usualPreset } from './presets.ts';

/** An encoder of video, or the writer of an animation. */
export type Writer = VideoEncoder | 'gif' | 'webp' | 'webpLossless' | 'apng';

/** Megapixels per second of CPU time, and the number of used cores out of six. */
export type Speed = [megapixels: number, cores: number];

/** The speed at 640 × 360 and at 1920 × 1080. */
type Speeds = [...small: Speed, ...large: Speed];

/**
 * Measured by `npm run bench -- encoders` with ffmpeg 5.1 on an Intel Xeon of 2023 with busy hyper-threads, as in a busy
 * function. The video is a zoom into a fractal with noise, for which H.264 takes 20 Mbit/s at 1080p, more than most cameras.
 * Slow presets are measured at the small size only. VP8 is measured with one thread, because its threads spin while they wait.
 * An encoder without presets has one speed.
 */
const speeds: Record<Writer, Partial<Record<Preset, Speeds>> & Record<typeof usualPreset, Speeds>> = {
  libx264: {
    ultrafast: [58, 2.2, 98, 4.5],
    superfast: [27, 4.6, 29, 6],
    veryfast: [28, 5, 25, 6],
    faster: [12, 6, 17, 6],
    fast: [9.5, 6, 11, 5.9],
    medium: [7.9, 6, 9.1, 5.8],
    slow: [3.1, 4.8, 3.1, 4.8],
    slower: [1.9, 5.7, 1.9, 5.7],
    veryslow: [1.6, 5.2, 1.6, 5.2],
  },
  libx265: {
    ultrafast: [14, 5.7, 17, 5.8],
    superfast: [9.7, 5.5, 12, 5.8],
    veryfast: [7.1, 4.4, 8.8, 5.7],
    faster: [6, 5, 8, 5.8],
    fast: [5.3, 4.5, 8.2, 5.9],
    medium: [4.3, 4.8, 6.3, 5.9],
    slow: [1.9, 4.6, 1.9, 4.6],
    slower: [0.3, 3.8, 0.3, 3.8],
    veryslow: [0.19, 3.7, 0.19, 3.7],
  },
  libsvtav1: {
    ultrafast: [33, 3.8, 30, 4.3],
    superfast: [22, 2.9, 26, 3.4],
    veryfast: [5.4, 2.4, 25, 3.3],
    faster: [4.7, 2.5, 14, 2.6],
    fast: [2.8, 2.2, 6.8, 2.5],
    medium: [1.6, 2.2, 3.9, 2.4],
    slow: [0.97, 2.2, 0.97, 2.2],
    slower: [0.51, 2.3, 0.51, 2.3],
    veryslow: [0.31, 2.3, 0.31, 2.3],
  },
  'libvpx-vp9': {
    veryfast: [18, 2.9, 23, 4.4],
    faster: [8.3, 3.5, 10, 5.2],
    fast: [1.9, 4.2, 2.8, 4.8],
    medium: [0.99, 4.6, 1.8, 5.4],
    slow: [0.66, 4.9, 0.66, 4.9],
    slower: [0.21, 5.2, 0.21, 5.2],
    veryslow: [0.21, 5.2, 0.21, 5.2],
  },
  libvpx: {
    ultrafast: [36, 2, 36, 2],
    superfast: [30, 2, 30, 2],
    veryfast: [24, 2, 24, 2],
    faster: [19, 2, 19, 2],
    fast: [8.3, 2, 8.3, 2],
    medium: [6.8, 2, 6.8, 2],
    slow: [4.7, 2, 4.7, 2],
    slower: [3.1, 2, 3.1, 2],
    veryslow: [3.1, 2, 3.1, 2],
  },
  mpeg4: { veryfast: [53, 2.2, 79, 3] },
  mpeg2video: { veryfast: [69, 2, 76, 3.4] },
  mpeg1video: { veryfast: [66, 1.9, 71, 3.4] },
  wmv2: { veryfast: [46, 1, 59, 1] },
  flv: { veryfast: [63, 1, 90, 1] },
  libtheora: { veryfast: [11, 1, 13, 1] },
  rv20: { veryfast: [48, 1, 78, 1] },
  dvvideo: { veryfast: [45, 3.1, 45, 3.1] },
  mjpeg: { veryfast: [45, 3.1, 66, 6] },
  prores_ks: { veryfast: [3.4, 5.1, 3.1, 5.9] },
  ffv1: { veryfast: [17, 2.5, 25, 2.9] },
  wrapped_avframe: { veryfast: [300, 1, 300, 1] },
  // Both runs together.
  gif: { veryfast: [2.7, 1, 2.7, 1] },
  webp: { ultrafast: [16, 1, 16, 1], superfast: [13, 1, 13, 1], veryfast: [5.2, 1, 5.2, 1] },
  webpLossless: { veryfast: [0.65, 1, 0.65, 1] },
  apng: { veryfast: [2.4, 1, 2.4, 1] },
};

/** H.264, HEVC, VP9 and AV1 at high bit rates; most others are faster. */
export const decodingSpeed: Speed = [90, 6];

const filterSpeeds: [name: RegExp, megapixels: number][] = [
  [/^scale=/, 360],
  [/^yadif/, 250],
  [/^tonemap=/, 51],
  [/lutrgb=/, 80],
];

/** Seconds of stereo per second of CPU time for encoders without a measured speed. */
const usualAudioSpeed = 120;

const smallPixels = 640 * 360;
const largePixels = 1920 * 1080;

/** Returns the speed of a writer at a size, interpolated between the two measured ones. */
export function speedOf(writer: Writer, preset: Preset, pixels: number): Speed {
  const known = speeds[writer][preset] ?? speeds[writer][usualPreset];
  const [megapixels, cores, largeMegapixels, largeCores] = known;
  const share = Math.log(pixels / smallPixels) / Math.log(largePixels / smallPixels);
  const between = (small: number, large: number) => small * (large / small) ** Math.max(0, Math.min(1, share));
  return [between(megapixels, largeMegapixels), between(cores, largeCores)];
}

/** Lists the presets that make a difference to a writer, the fastest first. */
export function presetsOf(writer: Writer): Preset[] {
  return presets.filter((preset) => speeds[writer][preset] !== undefined);
}

/** Estimates the CPU time of filters. */
export function filterSeconds(filters: string[], megapixels: number): number {
  const costs = filters.map((filter) => filterSpeeds.find(([name]) => name.test(filter))?.[1]);
  return costs.reduce<number>((sum, speed) => sum + (speed === undefined ? 0 : megapixels / speed), 0);
}

/** Estimates the CPU time of encoding audio. */
export function audioSeconds(encoder: AudioEncoder, seconds: number): number {
  return seconds / (audioEncoders[encoder].speed ?? usualAudioSpeed);
}
