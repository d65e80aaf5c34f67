import type { Capability, EngineCatalogue, Format } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { detectMedia } from './detect.ts';
import { videoEncoders } from './encoders.ts';
import {
  audioFormats,
  type MediaFormat,
  mediaFormat,
  mediaFormats,
  pictureFormats,
  streamFormats,
  videoFormats,
} from './formats.ts';
import {
  animationOptions,
  compressAudioOptions,
  compressVideoOptions,
  convertOptions,
  cropOptions,
  gifOptions,
  stillOptions,
  streamOptions,
  trimOptions,
} from './options.ts';
import { components, requires } from './requires.ts';

/** Formats that most players support. Offered in addition to the input's own. */
const commonVideo = ['mp4', 'mkv', 'mov', 'webm'];
const commonAudio = ['mp3', 'm4a', 'ogg', 'opus', 'flac', 'wav'];
/** Audio formats with a size that the bit rate determines in fine steps: those for every input, and the others. */
const commonSizedAudio = ['mp3', 'm4a', 'ogg', 'opus'];
const ownSizedAudio = ['m4b', 'm4r', 'aac', 'oga', 'wma', 'mka', 'weba'];

const readable = (formats: MediaFormat[]) => formats.filter(({ demuxer }) => demuxer !== undefined);
const writable = (formats: MediaFormat[]) => formats.filter(({ muxer }) => muxer !== undefined);
const names = ({ ext, aliases = [] }: MediaFormat) => [ext, ...aliases];
const allNames = (formats: MediaFormat[]) => formats.flatMap(names);

const videoIn = allNames(readable(videoFormats));
const audioIn = allNames(readable(audioFormats));
const animationIn = ['gif', 'apng', 'webp'];
/** Video formats that may have audio. */
const soundIn = allNames(readable(videoFormats).filter(({ audio }) => audio !== undefined));

const formats: Format[] = mediaFormats.flatMap(({ ext, mediaType, aliases = [], contents, storedAs }): Format[] => [
  {
    ext,
    mediaType,
    ...(contents ? { contents: contents.filter((name) => name !== ext) } : {}),
    ...(storedAs ? { storedAs } : {}),
  },
  ...aliases.map((alias): Format => ({ ext: alias, mediaType, aliasOf: ext })),
]);

/** Video formats whose size the bit rates determine. Uncompressed audio would outweigh the video. */
const sizedVideo = [
  ...writable(videoFormats).filter(({ video, audio, geometry, untimed }) => {
    const [encoder] = video?.encoders ?? [];
    const isSized = encoder !== undefined && videoEncoders[encoder].isSized;
    return isSized && !audio?.encoders[0]?.startsWith('pcm') && !geometry && !untimed;
  }),
  mediaFormat('avi'),
];

const pick = (formats: MediaFormat[], exts: string[]) => formats.filter(({ ext }) => exts.includes(ext));
const except = (formats: MediaFormat[], exts: string[]) => formats.filter(({ ext }) => !exts.includes(ext));

type OptionsOf = (target: MediaFormat) => Capability['options'];

/** Lists a capability per target, from given formats or from the target's own. */
function toEach(
  operation: ProcessingOperation,
  from: string[] | 'own',
  targets: MediaFormat[],
  options: OptionsOf,
): Capability[] {
  return targets.map((target) => ({
    operation,
    from: from === 'own' ? names(target) : from,
    to: names(target),
    options: options(target),
  }));
}

/** Lists pairs that keep the format or convert to a common one. */
function keeping(
  operation: ProcessingOperation,
  from: MediaFormat[],
  common: string[],
  options: OptionsOf,
): Capability[] {
  return [
    ...toEach(operation, allNames(readable(from)), writable(pick(mediaFormats, common)), options),
    ...toEach(operation, 'own', writable(except(from, common)), options),
  ];
}

function pictureOptions({ ext, kind }: MediaFormat): Capability['options'] {
  if (ext === 'gif') return gifOptions;
  return kind === 'animation' ? animationOptions(ext) : stillOptions(ext);
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
    splits: true,
  },
  formats,
  capabilities: [
    ...toEach('convert', [...videoIn, ...animationIn], writable(videoFormats), convertOptions),
    ...toEach('convert', [...soundIn, ...audioIn], writable(audioFormats), convertOptions),
    ...toEach('convert', videoIn, pictureFormats, pictureOptions),
    ...toEach('convert', [...videoIn, ...audioIn], streamFormats, streamOptions),
    ...keeping('trim', videoFormats, commonVideo, () => trimOptions),
    ...keeping('trim', audioFormats, commonAudio, () => trimOptions),
    ...keeping('crop', videoFormats, commonVideo, () => cropOptions),
    ...toEach('compress', videoIn, commonVideo.map(mediaFormat), compressVideoOptions),
    ...toEach('compress', 'own', except(sizedVideo, commonVideo), compressVideoOptions),
    {
      operation: 'compress',
      from: audioIn,
      to: allNames(pick(audioFormats, commonSizedAudio)),
      options: compressAudioOptions,
    },
    ...toEach('compress', 'own', pick(audioFormats, ownSizedAudio), () => compressAudioOptions),
  ],
  components,
  requires,
  detect: detectMedia,
};
