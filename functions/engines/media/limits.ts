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
  /** Pictures in an animation or of a video taken apart. */
  animationFrames: 3000,
  stills: maxFilesPerTask,
  /** Pictures of an animated image that is to become a video, and all their pixels together. */
  inputFrames: 10_000,
  inputPixels: 5_000_000_000,
  /** All frames of an animation together, decoded at once. */
  animationPixels: 250_000_000,
} as const;
