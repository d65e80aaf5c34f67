import type { OptionCondition, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { background, withPictureOptions } from '../image/encoding-options.ts';
import { audioEncoders, type VideoEncoder, videoEncoders } from './encoders.ts';
import type { MediaFormat } from './formats.ts';
import { presets, usualPreset } from './presets.ts';

const timePattern = String.raw`\d{1,6}(?:\.\d{1,6})?|(?:\d{1,3}:)?\d{1,2}:\d{2}(?:\.\d{1,6})?`;

function time(name: string, label: string, hint: string): OptionDescriptor {
  return {
    name,
    label,
    hint: `${hint} HH:MM:SS.cc or seconds.`,
    data_type: 'string',
    properties: { pattern: timePattern },
  };
}

type More = Partial<OptionDescriptor>;

const ranged =
  (data_type: 'integer' | 'number') =>
  (name: string, label: string, hint: string, [min, max]: [number, number], more: More = {}): OptionDescriptor => ({
    name,
    label,
    hint,
    data_type,
    properties: { min, max },
    ...more,
  });
const integer = ranged('integer');
const number = ranged('number');
const pixels = { units: 'px' };
const kilobits = { units: 'kbit/s' };

function choice(
  name: string,
  label: string,
  hint: string,
  values: [value: string, hint: string][],
  more: More = {},
): OptionDescriptor {
  return {
    name,
    label,
    hint,
    data_type: 'string',
    type: 'enum',
    enum_values: values.map(([value, valueHint]) => ({ value, hint: valueHint, label: valueHint })),
    ...more,
  };
}

function flag(name: string, label: string, hint: string, byDefault: boolean): OptionDescriptor {
  return { name, label, hint, data_type: 'boolean', default_value: String(byDefault) };
}

/** Returns items if a condition holds. */
function given<T>(condition: unknown, ...items: T[]): T[] {
  return condition ? items : [];
}

const videoLabels = (encoders: VideoEncoder[]) =>
  encoders.map((encoder): [string, string] => [encoder, videoEncoders[encoder].label]);

const resolutions: [string, string][] = [
  ['7680:4320', '8K'],
  ['3840:2160', '4K'],
  ['2560:1440', '1440p'],
  ['1920:1080', '1080p'],
  ['1280:720', '720p'],
  ['854:480', '480p'],
  ['640:360', '360p'],
  ['426:240', '240p'],
  ['256:144', '144p'],
];

const cut = [
  time('trim_start', 'Start', 'Start time of the output.'),
  time('trim_end', 'End', 'End time of the output. Defaults to the end of the file.'),
];

const size = [
  integer('width', 'Width', 'Width of the output, rounded to an even number.', [2, 7680], pixels),
  integer('height', 'Height', 'Height of the output, rounded to an even number.', [2, 7680], pixels),
  choice(
    'fit',
    'Fit',
    'How the video is resized to the width and height.',
    [
      ['max', 'Fits within the size, never enlarged'],
      ['crop', 'Fills the size and crops the excess'],
      ['scale', 'Stretches to exactly this size'],
    ],
    { default_value: 'max' },
  ),
];

const rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000];
const frequencies: [string, string][] = rates.map((rate) => [String(rate), `${rate / 1000} kHz`]);
/** The option of images, described for recordings. */
const strip = flag(
  'strip',
  'Remove place and device',
  'Removes what identifies a place or a device: location, maker, model, serial numbers and software. Titles, artists, other tags, chapters, languages, covers and the recording date are kept.',
  true,
);

function compatibility({ web }: MediaFormat): OptionDescriptor {
  const choices = [
    ...given<[string, string]>(web, ['web', 'Plays in every current browser and phone: what does not is re-encoded']),
    ['any', 'Copies everything that the format can hold'],
    [
      'archive',
      'Copies everything that the format can hold, and re-encodes the rest in high quality, with its bit depth, chroma and dynamic range, and lossless audio without loss',
    ],
  ] satisfies [string, string][];
  const hint = 'What the output is for. A codec that is requested by video_codec or audio_codec is used in any case.';
  return choice('compatibility', 'Compatibility', hint, choices, { default_value: web ? 'web' : 'any' });
}

function soundOptions({ audio, kind }: MediaFormat): OptionDescriptor[] {
  if (!audio) return [];
  const names = audio.encoders.flatMap((encoder): [string, string][] => {
    const { label } = audioEncoders[encoder];
    return label === undefined ? [] : [[encoder, label]];
  });
  const codecs: [string, string][] = [
    ['auto', 'Copied if the format allows it, otherwise the default codec'],
    ...names,
    ['copy', 'Copied without re-encoding'],
    ...given<[string, string]>(kind === 'video', ['none', 'No audio']),
  ];
  const isRated = audio.encoders.some((encoder) => audioEncoders[encoder].isRated);
  const frequency = (name: string, hint: string) =>
    choice(name, 'Sample rate', hint, frequencies, { data_type: 'integer', units: 'Hz' });
  return [
    ...given(
      names.length > 0,
      choice('audio_codec', 'Audio codec', 'Codec of the audio.', codecs, { default_value: 'auto' }),
    ),
    ...given(isRated, integer('audio_bitrate', 'Audio bit rate', 'Bit rate of the audio.', [8, 1024], kilobits)),
    ...given(
      !audio.rates,
      frequency('audio_frequency', 'Sample rate of the audio. The nearest rate that the codec supports is used.'),
      frequency('sample_rate', 'Alias of audio_frequency.'),
    ),
    ...given(audio.channels !== 1, integer('channels', 'Channels', '1 is mono, 2 is stereo, 6 is 5.1.', [1, 8])),
    number('volume', 'Volume', 'Volume multiplier: 1 leaves it unchanged, 2 doubles it.', [0, 10]),
  ];
}

/** Lists the options of a conversion to an audio or video format. */
export function convertOptions(format: MediaFormat): OptionDescriptor[] {
  const { video } = format;
  if (!video) return [...soundOptions(format), ...cut, strip];
  const x26 = video.encoders.some((encoder) => ['libx264', 'libx265'].includes(encoder));
  const hasPresets = x26 || video.encoders.some((encoder) => encoder.startsWith('libvpx') || encoder === 'libsvtav1');
  const allowed = format.web ? 'the format and the compatibility allows it' : 'the format allows it';
  return [
    choice(
      'video_codec',
      'Video codec',
      'Codec of the video.',
      [
        ['auto', `Copied if ${allowed}, otherwise the default codec`],
        ...videoLabels(video.encoders),
        ['copy', 'Copied without re-encoding'],
      ],
      { default_value: 'auto' },
    ),
    ...given(format.web || format.ext === 'mkv', compatibility(format)),
    ...given(
      video.encoders.some((encoder) => videoEncoders[encoder].hasFactor),
      integer(
        'video_crf',
        'Constant rate factor',
        'Quality of the video. Lower values look better and make larger files; 18 to 28 is typical.',
        [0, 51],
      ),
      integer(
        'video_bitrate',
        'Video bit rate',
        'Bit rate of the video. Overrides the constant rate factor.',
        [10, 200_000],
        kilobits,
      ),
    ),
    ...given(
      !format.geometry,
      choice(
        'video_resolution',
        'Resolution',
        'Scales the video up or down to fit this resolution, which is rotated for portrait videos.',
        resolutions,
      ),
      ...size,
      number('fps', 'Frame rate', 'Frames per second.', [1, 120], { units: 'fps' }),
      {
        name: 'aspect',
        label: 'Aspect ratio',
        hint: 'Display aspect ratio, such as 16:9.',
        data_type: 'string',
        properties: { pattern: String.raw`[1-9]\d{0,2}:[1-9]\d{0,2}` },
      },
    ),
    ...given(hasPresets, choice('preset', 'Preset', presetHint, presetChoices)),
    ...given(
      x26,
      choice(
        'profile',
        'Profile',
        'Profile that players must support. H.264 only.',
        [
          ['baseline', 'Baseline, for old phones'],
          ['main', 'Main'],
          ['high', 'High'],
        ],
        { conditions: [when('video_codec', ['libx264', 'auto'], false)] },
      ),
    ),
    ...soundOptions(format),
    choice(
      'subtitles_mode',
      'Subtitles',
      `How subtitles in the input are handled.${format.subtitles ? '' : ' Removed by default, with a warning.'}`,
      [
        ['none', 'Removed'],
        ['hard', 'Burned into the video'],
        ...given<[string, string]>(format.subtitles, ['soft', 'Kept as a subtitle track']),
      ],
      format.subtitles ? { default_value: 'soft' } : {},
    ),
    ...cut,
    strip,
    ...given(
      format.demuxer === 'mov' && format.ext !== 'ismv',
      flag('faststart', 'Fast start', 'Puts the index first, so that playback starts while loading.', true),
    ),
  ];
}

const presetHint = `Slower presets make smaller files at the same quality. Defaults to ${usualPreset}, or to a faster one if that would take too long.`;
const presetChoices: [string, string][] = presets.map((preset) => [preset, preset]);

function when(name: string, values: string[], required = true): OptionCondition {
  return { name, required, meta: values.map((value) => ({ value, label: value })) };
}

/** Maximum width or height: larger animations are hundreds of megabytes. */
export const maxAnimationSide = 4096;

const behindVideo: OptionDescriptor = {
  ...background,
  hint: 'Background colour for transparent areas of the video, and around it if it is padded or rotated.',
};

const fps = { default_value: '10', units: 'fps' };
const loops = (name: string) =>
  integer(name, 'Loops', 'How many times the animation plays; 0 loops forever.', [0, 65_535], { default_value: '0' });
const quality = (byDefault: string) =>
  integer('quality', 'Quality', 'Higher is better but larger.', [1, 100], { default_value: byDefault });

/** Options for converting a video to a GIF. */
export const gifOptions: OptionDescriptor[] = withAnimationOptions('gif', [
  time('cut_start_video_to_gif', 'Start', 'Start time of the animation.'),
  time('cut_end_gif', 'End', 'End time of the animation. Defaults to the end of the video.'),
  integer(
    'video_custom_width_gif',
    'Width',
    'Width of the animation; the aspect ratio is kept. Defaults to the width of the video, at most 640.',
    [2, 4096],
    pixels,
  ),
  number('gif_fps', 'Frame rate', 'Frames per second.', [1, 50], fps),
  loops('loop_count_video_to_gif'),
  integer(
    'video_to_gif_compression',
    'Compression',
    'Reduces colours and shading to make the file smaller.',
    [0, 100],
    {
      default_value: '0',
      units: '%',
    },
  ),
  flag('video_to_gif_optimize_static_bg', 'Static background', 'Optimises the palette for the moving parts.', false),
  flag('video_to_gif_transparency', 'Transparency', 'Keeps transparent areas; otherwise they become white.', false),
]);

/** Options for converting a video to an animated WebP or PNG. */
export function animationOptions(ext: string): OptionDescriptor[] {
  return withAnimationOptions(ext, [
    ...cut,
    integer(
      'width',
      'Width',
      'Width of the animation. Defaults to the width of the video, at most 640, unless a height is given.',
      [2, 4096],
      pixels,
    ),
    integer(
      'height',
      'Height',
      'Height of the animation. With a width, the animation fits within both.',
      [2, 4096],
      pixels,
    ),
    number('fps', 'Frame rate', 'Frames per second.', [1, 50], fps),
    loops('loop_count'),
    ...given(ext === 'webp', quality('75')),
  ]);
}

/** Adds the options of every image of a format, limited to the sizes of animations. */
function withAnimationOptions(ext: string, own: OptionDescriptor[]): OptionDescriptor[] {
  return withPictureOptions([...own, behindVideo], ext).map((option) =>
    option.name === 'image_custom_width' || option.name === 'image_custom_height'
      ? { ...option, properties: { min: 1, max: maxAnimationSide } }
      : option,
  );
}

/** Size options of a still: by this engine's names, and by those of all images. */
const stillSize = size.map(
  (option): OptionDescriptor =>
    option.name === 'fit'
      ? {
          ...option,
          hint: 'How the frame is resized to width and height, or to image_custom_width and image_custom_height, which can also enlarge it.',
          enum_values: [
            ...(option.enum_values ?? []),
            { value: 'pad', hint: 'Fits within the size and pads with the background colour', label: 'Padded' },
          ],
        }
      : option,
);

/** Options of extracting frames from a video. */
export function stillOptions(ext: string): OptionDescriptor[] {
  const own: OptionDescriptor[] = [
    time('frame_time', 'Time', 'Position of the frame. Defaults to the start.'),
    number(
      'fps',
      'Frames per second',
      'Extracts this many frames per second instead of a single frame; at most 500 frames.',
      [0.001, 60],
    ),
    ...cut.map((option): OptionDescriptor => ({ ...option, hint: `Only with fps. ${option.hint}` })),
    ...stillSize,
    ...given(ext === 'jpg', quality('90')),
    behindVideo,
  ];
  return withPictureOptions(own, ext);
}

/** Options of a conversion to HLS and DASH. */
export function streamOptions({ video }: MediaFormat): OptionDescriptor[] {
  return [
    {
      name: 'renditions',
      label: 'Renditions',
      hint: 'Heights of the renditions, separated by commas. Those above the height of the source are replaced by it. For portrait videos, they are widths.',
      data_type: 'string',
      default_value: '1080,720,480,360',
      properties: { pattern: String.raw`\d{2,4}(?:,\d{2,4}){0,7}` },
    },
    integer('segment_seconds', 'Segment length', 'Duration of a segment.', [1, 30], {
      default_value: '6',
      units: 's',
    }),
    choice('video_codec', 'Video codec', 'Codec of the video.', videoLabels(video?.encoders ?? []), {
      default_value: video?.encoders[0] ?? '',
    }),
    integer(
      'video_crf',
      'Constant rate factor',
      'Quality of the video. Lower values look better and make larger files; 18 to 28 is typical. Each rendition has a maximum bit rate in any case.',
      [0, 51],
    ),
    choice('preset', 'Preset', presetHint, presetChoices),
    integer('audio_bitrate', 'Audio bit rate', 'Bit rate of the audio.', [8, 1024], kilobits),
    integer('channels', 'Channels', 'At most 6, as in 5.1. Defaults to those of the source, at most 2.', [1, 6]),
    choice(
      'subtitles_mode',
      'Subtitles',
      'How subtitles in the input are handled.',
      [
        ['none', 'Removed'],
        ['soft', 'Kept as WebVTT'],
      ],
      { default_value: 'soft' },
    ),
    integer('thumbnail_seconds', 'Thumbnails', 'Seconds between thumbnails for seeking; 0 makes none.', [0, 600], {
      default_value: '10',
      units: 's',
    }),
    ...cut,
  ];
}

function percentage(name: string, condition: OptionCondition): OptionDescriptor {
  return number(name, 'Percentage', 'Output size as a percentage of the input.', [1, 100], {
    default_value: '60',
    units: '%',
    conditions: [condition],
  });
}

function fileSize(name: string, max: number, condition: OptionCondition): OptionDescriptor {
  const hint = 'Target size of the output. The output is at most 5% smaller and never larger.';
  return number(name, 'Size', hint, [0.001, max], { units: 'MB', conditions: [condition] });
}

/** Lists the options of compressing to a video format. */
export function compressVideoOptions(format: MediaFormat): OptionDescriptor[] {
  const encoders = format.video?.encoders.filter((encoder) => videoEncoders[encoder].isSized) ?? [];
  const x264Kin = encoders.filter((encoder) => encoder !== 'libx265');
  const by = (method: string) => when('compress_video', [method]);
  const factor = (name: string, default_value: string, condition: OptionCondition) =>
    integer(name, 'Constant rate factor', 'Lower is better but larger.', [18, 51], {
      default_value,
      conditions: [by('by_video_quality'), condition],
    });
  const side = (name: string, label: string, method: string) =>
    integer(name, label, `${label} of the output.`, [2, 7680], {
      ...pixels,
      conditions: [when('video_compression_resize_method', [method, 'by_width_height'])],
    });
  return [
    choice(
      'compress_video',
      'Compress',
      'Compression method.',
      [
        ['by_percentage', 'To a percentage of the input size'],
        ['by_size', 'To a file size'],
        ['by_video_quality', 'To a quality'],
        ['by_resolution', 'To a resolution'],
        ['by_max_bitrate', 'To a maximum bit rate'],
      ],
      { default_value: 'by_percentage' },
    ),
    choice('video_codec_compress', 'Codec', 'Codec of the video.', videoLabels(encoders), {
      default_value: encoders[0] ?? '',
    }),
    percentage('video_compress_quality_percentage', when('compress_video', ['by_percentage'], false)),
    fileSize('video_compress_max_filesize', 4000, by('by_size')),
    factor('video_compress_crf_x264', '28', when('video_codec_compress', x264Kin, false)),
    ...given(
      encoders.includes('libx265'),
      factor('video_compress_crf_x265', '30', when('video_codec_compress', ['libx265'])),
    ),
    integer('video_compress_max_bitrate', 'Maximum bit rate', 'Maximum bit rate of the video.', [10, 200_000], {
      ...kilobits,
      conditions: [by('by_max_bitrate')],
    }),
    integer(
      'video_compressor_bufsize',
      'Buffer size',
      'Size of the rate control buffer. Defaults to twice the maximum bit rate.',
      [10, 400_000],
      { units: 'kbit', conditions: [by('by_max_bitrate')] },
    ),
    choice(
      'video_compression_resize_method',
      'Resize',
      'How the resolution is specified.',
      [
        ['preset_resolutions', 'Preset resolution'],
        ['by_width_keep_ar', 'By width, keeping the aspect ratio'],
        ['by_height_keep_ar', 'By height, keeping the aspect ratio'],
        ['by_width_height', 'By width and height'],
      ],
      { default_value: 'preset_resolutions', conditions: [by('by_resolution')] },
    ),
    choice(
      'video_compression_resolution_preset',
      'Resolution',
      'Scales the video down to fit this resolution.',
      resolutions,
      {
        default_value: '1280:720',
        conditions: [by('by_resolution'), when('video_compression_resize_method', ['preset_resolutions'], false)],
      },
    ),
    side('video_custom_width_compress', 'Width', 'by_width_keep_ar'),
    side('video_custom_height_compress', 'Height', 'by_height_keep_ar'),
    ...given(
      encoders.some((encoder) => encoder.startsWith('lib') && encoder !== 'libtheora'),
      choice(
        'video_compress_speed',
        'Speed',
        `Slower presets look better at the same size. Defaults to ${usualPreset} (fast for VP9 to a size), or to a faster one if that would take too long.`,
        presetChoices,
      ),
    ),
    strip,
  ];
}

/** Options of compressing audio. */
export const compressAudioOptions: OptionDescriptor[] = [
  choice(
    'compress_audio',
    'Compress',
    'Compression method.',
    [
      ['by_bitrate', 'To a bit rate'],
      ['by_percentage', 'To a percentage of the input size'],
      ['by_size', 'To a file size'],
    ],
    { default_value: 'by_bitrate' },
  ),
  integer('audio_bitrate', 'Bit rate', 'Bit rate of the output.', [8, 320], {
    default_value: '96',
    ...kilobits,
    conditions: [when('compress_audio', ['by_bitrate'], false)],
  }),
  percentage('audio_compress_percentage', when('compress_audio', ['by_percentage'])),
  fileSize('audio_compress_max_filesize', 1000, when('compress_audio', ['by_size'])),
  strip,
];

/** Options of trimming. */
export const trimOptions: OptionDescriptor[] = [
  ...cut,
  choice(
    'trim_mode',
    'Mode',
    'Whether the cut is accurate or fast.',
    [
      ['accurate', 'Frame-accurate'],
      ['fast', 'Without re-encoding if the format allows it; starts at the preceding key frame'],
    ],
    { default_value: 'accurate' },
  ),
  strip,
];

const edge = { default_value: '0', ...pixels };

/** Options of cropping. */
export const cropOptions: OptionDescriptor[] = [
  integer('x', 'Left', 'Distance of the crop area from the left edge.', [0, 16_384], edge),
  integer('y', 'Top', 'Distance of the crop area from the top edge.', [0, 16_384], edge),
  integer(
    'width',
    'Width',
    'Width of the crop area, rounded down to an even number. By default, it extends to the right edge.',
    [2, 16_384],
    pixels,
  ),
  integer(
    'height',
    'Height',
    'Height of the crop area, rounded down to an even number. By default, it extends to the bottom edge.',
    [2, 16_384],
    pixels,
  ),
  strip,
];
