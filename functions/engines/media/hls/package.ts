import type { Size } from '../plan.ts';
import type { Track } from './fragments.ts';
import type { TrackName } from './languages.ts';
import type { Rates, Segment } from './segments.ts';
import type { Sprites } from './thumbnails.ts';

/** A track that is written, in a folder of its name. */
export interface Streamed {
  name: string;
  track: Track;
  segments: Segment[];
  rates: Rates;
}

export interface StreamedVideo extends Streamed {
  size: Size;
  keyRates: Rates;
}

export interface StreamedSound extends Streamed {
  label: TrackName;
  channels: number;
  rate: number;
}

export interface StreamedCaptions {
  name: string;
  label: TrackName;
  segments: string[];
  whole: string;
  bytes: number;
}

/** All that playlists and manifest describe. */
export interface StreamPackage {
  videos: StreamedVideo[];
  sounds: StreamedSound[];
  captions: StreamedCaptions[];
  sprites: Sprites | undefined;
  /** Frames per second, and the same as an integer or a fraction. */
  rate: number;
  frameRate: string;
  seconds: number;
  segmentSeconds: number;
}
