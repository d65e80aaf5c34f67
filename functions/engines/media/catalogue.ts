import type { Capability, EngineCatalogue, Format } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { detectMedia } from './detect.ts';
import { audioFormats, type MediaFormat, mediaFormats, pictureFormats, videoFormats } from './formats.ts';
import {
  animationOptions,
  compressAudioOptions,
  compressors,
  compressVideoOptions,
  convertOptions,
  cropOptions,
  gifOptions,
  stillOptions,
  trimOptions,
} from './options.ts';
import { components, requires } from './requires.ts';

/** Formats that most players support. Offered in addition to the input's own. */
const commonVideo = ['mp4', 'mkv', 'mov', 'webm'];
const commonAudio = ['mp3', 'm4a', 'ogg', 'opus', 'flac', 'wav'];
/** Audio formats with a size that the bit rate determines in fine steps. */
const sizedAudio = ['mp3', 'm4a', 'm4b', 'm4r', 'aac', 'ogg', 'oga', 'opus', 'wma', 'mka', 'weba'];

const readable = (formats: MediaFormat[]) => formats.filter(({ demuxer }) => demuxer !== undefined);
const writable = (formats: MediaFormat[]) => formats.filter(({ muxer }) => muxer !== undefined);
const names = ({ ext, aliases = [] }: MediaFormat) => [ext, ...aliases];
const allNames = (formats: MediaFormat[]) => formats.flatMap(names);

const videoIn = allNames(readable(videoFormats));
const audioIn = allNames(readable(audioFormats));
const animationIn = ['gif', 'apng', 'webp'];
/** Video formats that may have audio. */
const soundIn = allNames(readable(videoFormats).filter(({ audio }) => audio !== undefined));

const formats: Format[] = mediaFormats.flatMap(({ ext, mediaType, aliases = [], contents }): Format[] => [
  { ext, mediaType, ...(contents ? { contents: contents.filter((name) => name !== ext) } : {}) },
  ...aliases.map((alias): Format => ({ ext: alias, mediaType, aliasOf: ext })),
]);

/** Returns whether bit rates determine the size of a format. Uncompressed audio would outweigh the video. */
const isSized = ({ video, audio }: MediaFormat) =>
  compressors.some((encoder) => encoder === video?.encoders[0]) && !audio?.encoders[0]?.startsWith('pcm');
const sizedVideo = writable(videoFormats).filter((format) => isSized(format) && !format.geometry && !format.untimed);
const sizedAvi = writable(videoFormats).filter(({ ext }) => ext === 'avi');

/** Lists pairs that keep the format or convert to a common one. */
function keeping(
  operation: ProcessingOperation,
  from: MediaFormat[],
  common: string[],
  options: (target: MediaFormat) => Capability['options'],
): Capability[] {
  const others = from.filter(({ ext }) => !common.includes(ext));
  return [
    ...writable(mediaFormats)
      .filter(({ ext }) => common.includes(ext))
      .map((target) => ({ operation, from: allNames(readable(from)), to: names(target), options: options(target) })),
    ...writable(others).map((target) => ({
      operation,
      from: names(target),
      to: names(target),
      options: options(target),
    })),
  ];
}

export const catalogue: EngineCatalogue = {
  engine: 'media',
  summary: 'Converts, compresses, trims and crops video and audio with ffmpeg',
  resources: {
    packaging: 'image',
    // Five cores, which Lambda allocates with memory. Encoders of VP9 and AV1 use fewer, so a sixth core would be wasted.
    // H.264 takes a sixth longer than with the maximum, for the same price.
    memoryMegabytes: 8_845,
    // The maximum of Lambda: half for the input, half for the output.
    diskMegabytes: 10_240,
    // The maximum of Lambda.
    timeoutSeconds: 900,
    typicalSeconds: 30,
    // The most expensive engine by far. This also limits the cost of a flood of videos.
    maxConcurrency: 50,
  },
  formats,
  capabilities: [
    ...writable(videoFormats).map(
      (target): Capability => ({
        operation: 'convert',
        from: [...videoIn, ...animationIn],
        to: names(target),
        options: convertOptions(target),
      }),
    ),
    ...writable(audioFormats).map(
      (target): Capability => ({
        operation: 'convert',
        from: [...soundIn, ...audioIn],
        to: names(target),
        options: convertOptions(target),
      }),
    ),
    ...pictureFormats.map(
      (target): Capability => ({
        operation: 'convert',
        from: videoIn,
        to: names(target),
        options:
          target.ext === 'gif'
            ? gifOptions
            : target.kind === 'animation'
              ? animationOptions(target.ext)
              : stillOptions(target.ext),
      }),
    ),
    ...keeping('trim', videoFormats, commonVideo, () => trimOptions),
    ...keeping('trim', audioFormats, commonAudio, () => trimOptions),
    ...keeping('crop', videoFormats, commonVideo, () => cropOptions),
    ...commonVideo.flatMap((ext) =>
      writable(videoFormats)
        .filter((format) => format.ext === ext)
        .map(
          (target): Capability => ({
            operation: 'compress',
            from: videoIn,
            to: names(target),
            options: compressVideoOptions(target),
          }),
        ),
    ),
    ...[...sizedVideo, ...sizedAvi]
      .filter(({ ext }) => !commonVideo.includes(ext))
      .map(
        (target): Capability => ({
          operation: 'compress',
          from: names(target),
          to: names(target),
          options: compressVideoOptions(target),
        }),
      ),
    {
      operation: 'compress',
      from: audioIn,
      to: allNames(audioFormats.filter(({ ext }) => ['mp3', 'm4a', 'ogg', 'opus'].includes(ext))),
      options: compressAudioOptions,
    },
    ...audioFormats
      .filter(({ ext }) => sizedAudio.includes(ext) && !['mp3', 'm4a', 'ogg', 'opus'].includes(ext))
      .map(
        (target): Capability => ({
          operation: 'compress',
          from: names(target),
          to: names(target),
          options: compressAudioOptions,
        }),
      ),
  ],
  components,
  requires,
  detect: detectMedia,
};
