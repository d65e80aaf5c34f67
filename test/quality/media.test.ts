import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, vi } from 'vitest';
import { program } from '../engines/image/programs.ts';
import { ffmpeg } from '../engines/media/samples.ts';
import { type QualityCase, testQuality } from './case.ts';
import { frames, only, pixels, tags, tracks } from './readers.ts';

// Each case runs several programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000 });

const near = (value: number, within = 4) =>
  expect.toSatisfy((found: number) => Math.abs(found - value) <= within, `within ${within} of ${value}`);
const colour = (within: number, ...channels: number[]) => channels.map((channel) => near(channel, within));

/** Makes a file by ffmpeg, as arguments that come before its path. */
const made =
  (name: string, ...args: string[]) =>
  async (folder: string) => {
    const path = join(folder, name);
    await ffmpeg(...args, path);
    return path;
  };

const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '10', '-pix_fmt', 'yuv420p'];
const lavfi = (graph: string) => ['-f', 'lavfi', '-i', graph];
/** A second of small pictures, and of a tone. */
const brief = lavfi('testsrc=size=64x48:rate=25:duration=1');
const tone = lavfi('sine=frequency=440:sample_rate=48000:duration=1');

/** A second of white paper (203 cd/m² by BT.2408), red as bright and dark grey in BT.2020: the numbers are the standard's. */
const hdr =
  (transfer: 'smpte2084' | 'arib-std-b67', white: number, grey: number) =>
  async (folder: string): Promise<string> => {
    const raw = join(folder, 'hdr.yuv');
    const path = join(folder, 'hdr.mkv');
    const coded = [[white, white, white] as const, [white, 0, 0] as const, [grey, grey, grey] as const].map(
      ([r, g, b]) => {
        const luma = 0.2627 * r + 0.678 * g + 0.0593 * b;
        return [64 + 876 * luma, 512 + (896 * (b - luma)) / 1.8814, 512 + (896 * (r - luma)) / 1.4746];
      },
    );
    const plane = (channel: number, width: number, height: number) =>
      Uint16Array.from({ length: width * height }, (_, at) =>
        Math.round(coded[Math.floor(((at % width) * 3) / width)]?.[channel] ?? 0),
      );
    const frame = [plane(0, 96, 64), plane(1, 48, 32), plane(2, 48, 32)].map(({ buffer }) => Buffer.from(buffer));
    await writeFile(raw, Buffer.concat(Array.from({ length: 25 }, () => frame).flat()));
    await ffmpeg(
      ...['-f', 'rawvideo', '-pix_fmt', 'yuv420p10le', '-s', '96x64', '-r', '25', '-i', raw],
      ...['-vf', `setparams=range=tv:color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`],
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-crf', '8', '-x265-params', 'log-level=none', path],
    );
    return path;
  };
const hdr10 = hdr('smpte2084', 0.58, 0.38);
const hlg = hdr('arib-std-b67', 0.75, 0.38);
const inStandardRange = [colour(6, 235, 235, 235), colour(8, 216, 0, 0), colour(8, 145, 145, 145)];
const patches = pixels([16, 32], [48, 32], [80, 32]);

/** Four seconds of which each frame is two steps brighter than the one before: at 2 s, 100 of 200. */
const brightening = made(
  'brightening.mp4',
  ...lavfi("color=black:size=64x48:rate=25:duration=4,geq=lum='16+N*2':cb=128:cr=128"),
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '4', '-pix_fmt', 'yuv420p'],
);

/** An animation of three colours, red for 0.30 s, green for 0.60 s and blue for 0.95 s, by ImageMagick, libvips or by hand. */
const threeColours = (ext: 'gif' | 'webp' | 'apng') => async (folder: string) => {
  const gif = join(folder, 'three.gif');
  const path = join(folder, `three.${ext}`);
  const frame = (delay: number, name: string) => ['-delay', String(delay), `xc:${name}`];
  const all = [...frame(30, 'red'), ...frame(60, 'lime'), ...frame(95, 'blue')];
  await program('/usr/bin/convert', '-size', '64x48', ...all, '-loop', '0', gif);
  if (ext === 'webp') await sharp(gif, { animated: true }).webp({ lossless: true }).toFile(path);
  if (ext === 'apng') await writeFile(path, animatedPng([30, 60, 95], ['ff0000', '00ff00', '0000ff']));
  return path;
};

/** Writes an animated PNG of plain colours, with delays in hundredths of a second: what ffmpeg writes has no last delay. */
function animatedPng(shown: number[], colours: string[]): Buffer {
  const [width, height] = [64, 48];
  const chunk = (type: string, ...words: (number | Buffer)[]) => {
    const data = Buffer.concat(words.map((word) => (typeof word === 'number' ? uint32(word) : word)));
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
  };
  let sequence = 0;
  const drawn = colours.flatMap((name, at) => {
    const line = Buffer.concat([Buffer.alloc(1), ...Array.from({ length: width }, () => Buffer.from(name, 'hex'))]);
    const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)));
    const times = Buffer.from([0, shown[at] ?? 0, 0, 100, 0, 0]);
    return [
      chunk('fcTL', sequence++, width, height, 0, 0, times),
      at === 0 ? chunk('IDAT', pixels) : chunk('fdAT', sequence++, pixels),
    ];
  });
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', width, height, Buffer.from([8, 2, 0, 0, 0])),
    chunk('acTL', colours.length, 0),
    ...drawn,
    chunk('IEND'),
  ]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A recording as phones make it: place, device and date by the names of QuickTime, and what its owner wrote. */
const recording = (name: string, ...more: string[]) =>
  made(
    name,
    ...[...brief, ...tone, ...x264, '-c:a', 'aac', ...more],
    ...Object.entries({
      'com.apple.quicktime.location.ISO6709': '+48.1000+011.5000+500.000/',
      'com.apple.quicktime.make': 'Apple',
      'com.apple.quicktime.model': 'iPhone 15 Pro',
      'com.apple.quicktime.software': '17.1',
      location: '+48.1000+011.5000/',
      make: 'Apple',
      model: 'iPhone 15 Pro',
      title: 'Our trip',
      artist: 'Ann',
      creation_time: '2024-05-06T05:08:09Z',
    }).flatMap(([key, value]) => ['-metadata', `${key}=${value}`]),
  );
/** What exiftool finds of it, whatever the format calls it. */
const recorded = only(async (path) => {
  const all = JSON.stringify(await tags('all', 'ee')(path));
  const found = await tags('Title', 'Artist')(path);
  return {
    ...found,
    isDated: /2024:05:06 05:08:09|2024-05-06T05:08:09/.test(all),
    isPlaced: /48\.1|\+48/.test(all),
    hasDevice: /iphone|apple/i.test(all),
  };
});
const clean = { Title: 'Our trip', Artist: 'Ann', isDated: true, isPlaced: false, hasDevice: false };

/** Two languages and a stereo and a mono track in Matroska. */
const bilingual = made(
  'bilingual.mkv',
  ...[...brief, ...tone, ...lavfi('sine=frequency=880:sample_rate=48000:duration=1')],
  ...['-map', '0', '-map', '1', '-map', '2', ...x264, '-c:a', 'ac3', '-ac:a:0', '2', '-ac:a:1', '1'],
  ...['-metadata:s:a:0', 'language=deu', '-metadata:s:a:1', 'language=hrv'],
);

/** A second of one codec each for pictures and sound. */
const coded = (name: string, video: string[], audio: string[]) => made(name, ...brief, ...tone, ...video, ...audio);
const codecs = only(async (path) =>
  (await tracks('Format', 'BitDepth', 'ChromaSubsampling')(path))
    .slice(1)
    .map((track) =>
      [track.Format, track['@type'] === 'Video' ? `${track.BitDepth} bits ${track.ChromaSubsampling}` : '']
        .filter((fact) => fact !== '')
        .join(', '),
    ),
);
const h264 = 'AVC, 8 bits 4:2:0';
const aac = ['-c:a', 'aac'];
const tenBits = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le'];
const fullChroma = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv444p'];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p'];

const cases: QualityCase[] = [
  ...(['mp4', 'mkv', 'webm', 'mov', 'm4v', 'avi'] as const).map(
    (to): QualityCase => ({
      name: `a phone's video becomes a ${to} without place and device, with its title and date`,
      input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
      to,
      read: recorded,
      // AVI has no field for the time of a recording.
      expected: { ...clean, ...(to === 'avi' ? { isDated: false } : {}) },
      ...(to === 'mp4' ? { usual: true } : {}),
    }),
  ),
  ...(['mp4', 'mkv', 'mov'] as const).map(
    (to): QualityCase => ({
      name: `strip: false keeps place and device of a phone's video in ${to}`,
      input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
      to,
      options: { strip: false },
      read: recorded,
      expected: { ...clean, isPlaced: true, hasDevice: true },
    }),
  ),
  {
    name: 'an Android video loses its place when it is re-encoded',
    input: recording('android.mp4'),
    to: 'mp4',
    options: { width: 32 },
    read: recorded,
    expected: clean,
  },
  {
    name: 'an Android video loses its place when it is trimmed',
    input: recording('android.mp4'),
    operation: 'trim',
    to: 'mp4',
    options: { trim_end: 0.5 },
    read: recorded,
    expected: clean,
  },
  {
    name: 'a video that is small enough loses its place all the same',
    input: recording('android.mp4'),
    operation: 'compress',
    to: 'mp4',
    options: { compress_video: 'by_size', video_compress_max_filesize: 100 },
    read: recorded,
    expected: clean,
  },
  ...(['mp3', 'flac', 'ogg', 'opus', 'm4a', 'wav', 'aiff'] as const).map(
    (to): QualityCase => ({
      name: `the sound of a phone's video becomes a ${to} without place and device`,
      input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
      to,
      read: only(async (path) => {
        const { isPlaced, hasDevice, ...found } = await recorded([{ path, name: '', format: to }]);
        return { title: 'Title' in found ? found.Title : undefined, isPlaced, hasDevice };
      }),
      expected: { title: 'Our trip', isPlaced: false, hasDevice: false },
    }),
  ),
  ...(['mp4', 'mov', 'webm', 'mkv', 'ts'] as const).map(
    (to): QualityCase => ({
      name: `two languages of sound stay in ${to}`,
      input: bilingual,
      to,
      read: only(async (path) =>
        (await tracks('Language', 'Channels')(path)).filter((track) => track['@type'] === 'Audio'),
      ),
      expected: [
        { '@type': 'Audio', Channels: '2', Language: 'de' },
        { '@type': 'Audio', Channels: '1', Language: 'hr' },
      ],
      ...(to === 'mov' ? { usual: true } : {}),
    }),
  ),
  {
    name: 'mp3 of two sound tracks holds the first, and says so',
    input: bilingual,
    to: 'mp3',
    read: codecs,
    expected: ['MPEG Audio'],
    warnings: ['mp3 holds one audio track: the first of 2 is kept. Convert to mka to keep all.'],
  },
  {
    name: 'flac of 24 bits and 96 kHz becomes an aiff with its bits, tags and cover',
    input: async (folder) => {
      const cover = join(folder, 'cover.png');
      await program('/usr/bin/convert', '-size', '32x32', 'xc:red', cover);
      return made(
        'music.flac',
        ...[
          '-f',
          'lavfi',
          '-i',
          'sine=frequency=440:sample_rate=96000:duration=1',
          '-i',
          cover,
          '-map',
          '0',
          '-map',
          '1',
        ],
        ...['-c:a', 'flac', '-sample_fmt', 's32', '-c:v', 'copy', '-disposition:v', 'attached_pic'],
        ...['-metadata', 'title=Song', '-metadata', 'artist=Ann', '-metadata', 'album=Best'],
      )(folder);
    },
    to: 'aiff',
    read: only(tags('SampleSize', 'SampleRate', 'Title', 'Artist', 'Album', 'PictureMIMEType')),
    expected: {
      SampleSize: 24,
      SampleRate: 96_000,
      Title: 'Song',
      Artist: 'Ann',
      Album: 'Best',
      PictureMIMEType: 'image/png',
    },
    usual: true,
  },
  ...(
    [
      ['MPEG-4 part 2 and AC-3', 'mpeg4.mkv', ['-c:v', 'mpeg4'], ['-c:a', 'ac3']],
      ['10-bit H.264', 'ten.mkv', tenBits, aac],
      ['4:4:4 H.264', 'full.mkv', fullChroma, aac],
      ['HEVC', 'hevc.mkv', hevc, aac],
      ['H.264 and AC-3', 'ac3.mkv', x264, ['-c:a', 'ac3']],
      ['ProRes and PCM', 'prores.mov', ['-c:v', 'prores_ks'], ['-c:a', 'pcm_s16le']],
    ] as const
  ).flatMap(([what, name, video, audio]) =>
    (['mp4', 'mov', 'm4v'] as const).map(
      (to): QualityCase => ({
        name: `${what} become${what.includes(' and ') ? '' : 's'} H.264 and AAC in ${to}`,
        input: coded(name, [...video], [...audio]),
        to,
        read: codecs,
        expected: [h264, 'AAC'],
        ...(to === 'mp4' && name === 'mpeg4.mkv' ? { usual: true } : {}),
      }),
    ),
  ),
  {
    name: 'compatibility any copies MPEG-4 part 2 and AC-3 into mp4',
    input: coded('mpeg4.mkv', ['-c:v', 'mpeg4'], ['-c:a', 'ac3']),
    to: 'mp4',
    options: { compatibility: 'any' },
    read: codecs,
    expected: ['MPEG-4 Visual, 8 bits 4:2:0', 'AC-3'],
  },
  {
    name: 'compatibility any copies HEVC into mp4',
    input: coded('hevc.mkv', hevc, aac),
    to: 'mp4',
    options: { compatibility: 'any' },
    read: codecs,
    expected: ['HEVC, 8 bits 4:2:0', 'AAC'],
  },
  {
    name: 'compatibility archive keeps 10 bits, 4:2:2 and lossless sound in mp4',
    input: coded('prores.mov', ['-c:v', 'prores_ks', '-pix_fmt', 'yuv422p10le'], ['-c:a', 'pcm_s16le']),
    to: 'mp4',
    options: { compatibility: 'archive' },
    read: codecs,
    expected: ['AVC, 10 bits 4:2:2', 'ALAC'],
  },
  {
    name: 'compatibility archive keeps HDR10 when it is re-encoded',
    input: hdr10,
    to: 'mp4',
    options: { compatibility: 'archive', width: 48 },
    read: only(tracks('Format', 'BitDepth', 'transfer_characteristics', 'colour_primaries')),
    expected: expect.arrayContaining([
      { '@type': 'Video', Format: 'AVC', BitDepth: '10', transfer_characteristics: 'PQ', colour_primaries: 'BT.2020' },
    ]),
  },
  {
    name: 'video_codec libx265 is obeyed in mp4, whatever plays it',
    input: coded('hevc.mkv', hevc, ['-c:a', 'ac3']),
    to: 'mp4',
    options: { video_codec: 'libx265', audio_codec: 'copy' },
    read: codecs,
    expected: ['HEVC, 8 bits 4:2:0', 'AC-3'],
  },
  {
    name: '10-bit VP9 becomes one of 8 bits in webm',
    input: coded(
      'ten.webm',
      ['-c:v', 'libvpx-vp9', '-pix_fmt', 'yuv420p10le', '-deadline', 'realtime', '-cpu-used', '8'],
      ['-c:a', 'libopus'],
    ),
    to: 'webm',
    read: codecs,
    expected: ['VP9, 8 bits 4:2:0', 'Opus'],
  },
  {
    name: 'a cut of MPEG-4 part 2 and AC-3 to mp4 plays everywhere',
    input: coded('mpeg4.mkv', ['-c:v', 'mpeg4'], ['-c:a', 'ac3']),
    operation: 'trim',
    to: 'mp4',
    options: { trim_end: 0.5 },
    read: codecs,
    expected: [h264, 'AAC'],
  },
  ...(['png', 'jpg', 'gif', 'webp', 'apng'] as const).flatMap((to): QualityCase[] => [
    {
      name: `HDR10 becomes a ${to} in standard range`,
      input: hdr10,
      to,
      read: only(patches),
      expected: inStandardRange,
      ...(to === 'png' ? { usual: true } : {}),
    },
    { name: `HLG becomes a ${to} in standard range`, input: hlg, to, read: only(patches), expected: inStandardRange },
  ]),
  {
    name: 'HDR10 becomes an mp4 in standard range',
    input: hdr10,
    to: 'mp4',
    options: { video_codec: 'libx264' },
    read: only(async (path) => (await Promise.all([16, 48, 80].map((x) => frames([x, 32], 0.5)(path)))).flat()),
    expected: inStandardRange,
  },
  ...(['mp4', 'webm', 'mkv', 'avi'] as const).map(
    (to): QualityCase => ({
      name: `fps keeps time in ${to}: 4 s stay 4 s, and the frame at 2 s is that of 2 s`,
      input: brightening,
      to,
      options: { fps: 10 },
      read: only(async (path) => {
        const [general] = await tracks('Duration')(path);
        return { seconds: Number(general?.Duration), grey: (await frames([20, 20], 2, 3)(path)).map(([red]) => red) };
      }),
      expected: { seconds: expect.closeTo(4, 1), grey: [near(116, 5), near(175, 5)] },
      ...(to === 'mp4' ? { usual: true } : {}),
    }),
  ),
  ...(['gif', 'webp', 'apng'] as const).map(
    (to): QualityCase => ({
      name: `a video of one frame becomes a ${to}`,
      input: made('one.mp4', ...lavfi('color=0x2080c0:size=64x48:rate=25:duration=0.04'), ...x264),
      to,
      read: only(pixels([20, 20])),
      expected: [colour(6, 0x20, 0x80, 0xc0)],
    }),
  ),
  ...(['mp4', 'webm', 'mkv', 'avi', 'mov'] as const).flatMap((to) =>
    (['gif', 'webp', 'apng'] as const).map(
      (from): QualityCase => ({
        name: `each frame of a ${from} is shown as long in ${to}, the last one too`,
        input: threeColours(from),
        to,
        read: only(async (path) => {
          const [general] = await tracks('Duration')(path);
          const shown = await frames([20, 20], 0.2, 0.4, 0.8, 1, 1.75)(path);
          return {
            seconds: Number(general?.Duration),
            shown: shown.map((pixel) => pixel.map((v) => (v > 128 ? 1 : 0))),
          };
        }),
        expected: {
          seconds: expect.closeTo(1.85, 1),
          shown: [
            [1, 0, 0],
            [0, 1, 0],
            [0, 1, 0],
            [0, 0, 1],
            [0, 0, 1],
          ],
        },
        ...(to === 'mp4' && from === 'gif' ? { usual: true } : {}),
      }),
    ),
  ),
];

testQuality(cases);
