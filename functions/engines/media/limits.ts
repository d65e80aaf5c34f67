import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';

/** Limits beyond which a small file would cost hours or gigabytes: rejected before anything is decoded. */
export const limits = {
  streams: 64,
  /** 8K, the largest size that is offered. */
  pixels: 7680 * 4320,
  framesPerSecond: 300,
  seconds: 12 * 3600,
  /** Disk space that an output may take in addition to the input. */
  outputBytes: 4_000_000_000,
  /** Frames of an animation, or extracted from a video. */
  animationFrames: 3000,
  stills: maxFilesPerTask,
  /** Segments of all tracks of HLS and DASH. */
  segments: 20_000,
  /** Thumbnails of a video in HLS and DASH. */
  thumbnails: 1000,
  /** Frames of an animated image that becomes a video, and their total number of pixels. */
  inputFrames: 10_000,
  inputPixels: 5_000_000_000,
  /** Total pixels of the frames of an animation that are decoded at once. */
  animationPixels: 250_000_000,
} as const;
