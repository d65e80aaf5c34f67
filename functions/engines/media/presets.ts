/** Names of x264 for how thoroughly a video is compressed, the fastest first; other encoders have the like. */
export const presets = [
  'ultrafast',
  'superfast',
  'veryfast',
  'faster',
  'fast',
  'medium',
  'slow',
  'slower',
  'veryslow',
] as const;

export type Preset = (typeof presets)[number];

/** The preset of short videos; longer ones get a faster one where this would take too long. */
export const usualPreset: Preset = 'veryfast';
