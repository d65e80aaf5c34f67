import type { Component } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { components as shared } from '../runtime/components.ts';
import { mediaFormats } from './formats.ts';

const ffmpeg: Component = { label: 'ffmpeg', apt: ['ffmpeg'], brew: ['ffmpeg'] };

/** The encoder of animated WebP, which is not one of the video encoders. */
const animationEncoder = 'libwebp_anim';

/** The encoders of all formats. Builds of ffmpeg may lack some of them. */
export const encoders: string[] = [
  ...new Set([
    ...mediaFormats.flatMap(({ video, audio }) => [...(video?.encoders ?? []), ...(audio?.encoders ?? [])]),
    animationEncoder,
  ]),
];

/** Components of the media engine. */
export const components: Record<string, Component> = {
  sharp: shared.sharp,
  ffmpeg,
  ffprobe: { ...ffmpeg, label: 'ffprobe' },
  // Homebrew's SoX is built without AMR, and its ffmpeg determines the encoders.
  sox: { label: 'SoX with AMR', apt: ['sox', 'libsox-fmt-base'] },
  ...Object.fromEntries(encoders.map((encoder) => [encoder, { label: `ffmpeg with ${encoder}`, apt: ['ffmpeg'] }])),
};

const byExt = new Map(mediaFormats.map((format) => [format.ext, format]));

/** Returns the components for a pair of formats: ffmpeg with the usual encoders of the output, and SoX for speech. */
export function requires(_operation: ProcessingOperation, _from: string, to: string): string[] {
  const target = byExt.get(to);
  const usual = [target?.video?.encoders[0], target?.audio?.encoders[0]].filter((encoder) => encoder !== undefined);
  return [
    'sharp',
    'ffmpeg',
    'ffprobe',
    ...usual,
    ...(to === 'webp' && target?.kind === 'animation' ? [animationEncoder] : []),
    ...(to === 'amr' ? ['sox'] : []),
  ];
}
