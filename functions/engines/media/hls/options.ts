import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { EngineError } from '../../runtime/engine.ts';
import type { VideoEncoder } from '../encoders.ts';
import { type Cut, cutOf, numberOf, thousandsOf, wordOf } from '../values.ts';

/** The options of a ladder, in the engine's own terms. */
export interface StreamRequest {
  cut: Cut | undefined;
  heights: number[];
  segmentSeconds: number;
  encoder: VideoEncoder;
  crf: number | undefined;
  preset: string | undefined;
  audio: { bitRate: number | undefined; channels: number | undefined };
  hasSubtitles: boolean;
  /** Seconds between thumbnails, or 0 for none. */
  thumbnailSeconds: number;
}

const heightRange = { min: 64, max: 4320 };

/** Reads the options of a conversion to HLS and DASH. */
export function streamRequest(options: OptionValues, seconds: number | undefined): StreamRequest {
  const heights = String(options.renditions).split(',').map(Number);
  const wrong = heights.find((height) => height < heightRange.min || height > heightRange.max);
  if (wrong !== undefined)
    throw new EngineError(
      `Expected heights from ${heightRange.min} to ${heightRange.max} for renditions but received ${wrong}.`,
    );
  return {
    cut: cutOf(options, ['trim_start', 'trim_end'], seconds),
    heights,
    segmentSeconds: numberOf(options, 'segment_seconds') ?? 6,
    encoder: wordOf(options, 'video_codec') === 'libx265' ? 'libx265' : 'libx264',
    crf: numberOf(options, 'video_crf'),
    preset: wordOf(options, 'preset'),
    audio: { bitRate: thousandsOf(options, 'audio_bitrate'), channels: numberOf(options, 'channels') },
    hasSubtitles: options.subtitles_mode !== 'none',
    thumbnailSeconds: numberOf(options, 'thumbnail_seconds') ?? 0,
  };
}
