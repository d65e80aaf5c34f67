/** Presets of x264, the fastest first. Other encoders have similar ones. */
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

/** The preset of short videos. Longer ones get a faster one if this would take too long. */
export const usualPreset = 'veryfast' satisfies Preset;
