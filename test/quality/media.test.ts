import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, vi } from 'vitest';
import { program } from '../engines/image/programs.ts';
import { ffmpeg } from '../engines/media/samples.ts';
import { eachTo, type QualityCase, testQuality } from './case.ts';
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

/** Four seconds in which each frame is two steps brighter than the one before: at 2 s, 100 of 200. */
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

/** Red, green and blue in thirds, by ImageMagick. */
const thirds = (width: number, height: number) => async (path: string) => {
  const third = `${width / 3}x${height}`;
  await program('/usr/bin/convert', '-size', third, 'xc:#f00000', 'xc:#00c000', 'xc:#2040e0', '+append', path);
};
const thirdsOf = (width: number) =>
  only(async (path) =>
    (await Promise.all([1, 3, 5].map((sixth) => frames([(width * sixth) / 6, 20], 0)(path)))).flat(),
  );
const asThirds = [colour(8, 240, 0, 0), colour(8, 0, 192, 0), colour(8, 32, 64, 224)];
/** A second of them as H.264 by BT.709, with or without its name. */
const largeVideo = (name: string, matrix: 1 | 2) => async (folder: string) => {
  const picture = join(folder, 'thirds.png');
  await thirds(1280 - 2, 720)(picture);
  return made(
    name,
    ...['-loop', '1', '-t', '1', '-r', '5', '-i', picture],
    ...['-vf', 'format=rgb24,scale=out_color_matrix=bt709,format=yuv420p', ...x264],
    ...['-bsf:v', `h264_metadata=matrix_coefficients=${matrix}`],
  )(folder);
};

/** Black but for a flash from 1 s to 1.2 s, with a beep at the same time; the sound starts late. */
const flash = made(
  'flash.mkv',
  ...lavfi("color=black:size=64x48:rate=25:duration=2,drawbox=c=white:t=fill:enable='between(t,1,1.16)'"),
  ...lavfi("aevalsrc='if(between(t,0.5,0.7),sin(2*PI*1000*t),0)':duration=1.5"),
  ...['-filter_complex', '[1]asetpts=PTS+0.5/TB[late]', '-map', '0', '-map', '[late]', ...x264, ...aac],
);

/** Two slides, of 3 s and of 5 s. */
const slides = async (folder: string) => {
  const list = join(folder, 'slides.txt');
  for (const name of ['red', 'blue'])
    await program('/usr/bin/convert', '-size', '64x48', `xc:${name}`, join(folder, `${name}.png`));
  const entries = ['file red.png', 'duration 3', 'file blue.png', 'duration 5', 'file blue.png'];
  await writeFile(list, ['ffconcat version 1.0', ...entries].join('\n'));
  return made('slides.mp4', '-f', 'concat', '-i', list, '-vsync', 'vfr', ...x264)(folder);
};

const cases: QualityCase[] = [
  ...(['jpg', 'png', 'webp', 'gif', 'apng'] as const).flatMap((to) =>
    ([1, 2] as const).map(
      (matrix): QualityCase => ({
        name: `a large video ${matrix === 1 ? 'of BT.709' : 'without a named matrix'} has its colours in ${to}`,
        input: largeVideo('large.mp4', matrix),
        to,
        read: only(async (path) => {
          const width = to === 'jpg' || to === 'png' ? 1278 : 640;
          return pixels([width / 6, 20], [width / 2, 20], [(width * 5) / 6, 20])(path);
        }),
        expected: asThirds,
        usual: to === 'jpg' && matrix === 1,
      }),
    ),
  ),
  {
    name: 'a large video without a named matrix has its colours when it is scaled down',
    input: largeVideo('large.mp4', 2),
    to: 'mp4',
    options: { width: 320 },
    read: thirdsOf(320),
    expected: asThirds,
  },
  ...([1278, 318] as const).map(
    (width): QualityCase => ({
      name: `a GIF of ${width} pixels names the matrix of its colours in mp4`,
      input: async (folder) => {
        const picture = join(folder, 'thirds.png');
        const path = join(folder, 'thirds.gif');
        await thirds(width, width === 318 ? 240 : 720)(picture);
        await program('/usr/bin/convert', '-delay', '20', picture, '(', picture, '-negate', ')', path);
        return path;
      },
      to: 'mp4',
      read: only(async (path) => ({
        colours: await thirdsOf(width)([{ path, name: '', format: '' }]),
        matrix: (await tracks('matrix_coefficients')(path))[1]?.matrix_coefficients,
      })),
      expected: { colours: asThirds, matrix: width === 318 ? 'BT.601' : 'BT.709' },
    }),
  ),
  ...eachTo(['mp4', 'webm', 'avi', 'wmv', 'mpg'], (to) => ({
    name: `sound that starts late stays with its picture in ${to}`,
    input: flash,
    read: only(async (path) => ({
      before: (await frames([20, 20], 0.9)(path)).flat()[0],
      during: (await frames([20, 20], 1.1)(path)).flat()[0],
      beep: /silence_end: ([\d.]+)/.exec(
        await ffmpeg('-i', path, '-af', 'silencedetect=d=0.1:n=-30dB', '-f', 'null', '-'),
      )?.[1],
    })),
    expected: {
      before: near(0, 20),
      during: near(255, 20),
      beep: expect.toSatisfy((seconds: string) => Math.abs(Number(seconds) - 1) < 0.06),
    },
  })),
  ...eachTo(['webm', 'avi', 'mp4'], (to) => ({
    name: `slides are shown as long in ${to}`,
    input: slides,
    options: { width: 32 },
    read: only(async (path) => ({
      seconds: Number((await tracks('Duration')(path))[0]?.Duration),
      shown: (await frames([10, 10], 2, 3, 7)(path)).map((pixel) => pixel.map((v) => (v > 128 ? 1 : 0))),
    })),
    expected: {
      seconds: expect.closeTo(8, 1),
      shown: [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
      ],
    },
  })),
  {
    name: 'interlaced H.264 becomes progressive in mp4',
    input: made(
      'camera.mts',
      ...[...lavfi('testsrc=size=720x576:rate=50:duration=1'), ...tone, '-vf', 'tinterlace=interleave_top'],
      ...['-flags', '+ilme+ildct', ...x264, '-x264opts', 'tff=1', '-c:a', 'ac3'],
      ...['-f', 'mpegts', '-mpegts_m2ts_mode', '1'],
    ),
    to: 'mp4',
    read: only(async (path) => (await tracks('Format', 'ScanType')(path)).slice(1)),
    expected: [
      { '@type': 'Video', Format: 'AVC', ScanType: 'Progressive' },
      { '@type': 'Audio', Format: 'AAC' },
    ],
  },
  ...eachTo(['au', 'caf', 'aiff', 'flac', 'wv', 'tta', 'w64'], (to) => ({
    name: `24 bits of sound are the same in ${to}`,
    input: async (folder) => {
      const path = join(folder, 'deep.wav');
      await program('sox', '-n', '-b', '24', '-r', '96000', '-c', '2', path, 'synth', '1', 'pinknoise', 'gain', '-6');
      await program('sox', path, '-t', 's32', join(folder, '..', 'expected.raw'));
      return path;
    },
    read: only(async (path) => {
      // ffmpeg writes what sox cannot read in one of them, and reads it without loss.
      const raw =
        to === 'tta'
          ? await program('ffmpeg', '-v', 'error', '-i', path, '-f', 's32le', '-')
          : await program('sox', '-t', to, path, '-t', 's32', '-');
      return raw.equals(await readFile(join(path, '..', 'expected.raw')));
    }),
    expected: true,
  })),
  {
    name: 'subtitles and chapters keep their languages and titles in mp4',
    input: async (folder) => {
      const text = join(folder, 'text.srt');
      const meta = join(folder, 'chapters.txt');
      await writeFile(text, '1\n00:00:00,100 --> 00:00:00,900\nHallo\n');
      const chapter = (start: number, title: string) =>
        ['[CHAPTER]', 'TIMEBASE=1/1000', `START=${start}`, `END=${start + 500}`, `title=${title}`].join('\n');
      await writeFile(meta, [';FFMETADATA1', chapter(0, 'One'), chapter(500, 'Zwei ü')].join('\n'));
      return made(
        'rich.mkv',
        ...[...brief, ...tone, '-i', text, '-i', text, '-i', meta],
        ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-map_chapters', '4', ...x264, ...aac, '-c:s', 'srt'],
        ...['-metadata:s:s:0', 'language=ger', '-metadata:s:s:1', 'language=eng', '-metadata:s:s:1', 'title=Signs'],
      )(folder);
    },
    to: 'mp4',
    read: only(async (path) => ({
      texts: (await tracks('Language', 'Title')(path)).filter((track) => track['@type'] === 'Text'),
      chapters: (await tags('ChapterList')(path)).ChapterList,
    })),
    expected: {
      texts: [
        { '@type': 'Text', Language: 'de' },
        { '@type': 'Text', Language: 'en', Title: 'Signs' },
      ],
      chapters: ['0 One', '0.5 Zwei ü'],
    },
  },
  {
    name: 'subtitles that avi cannot hold are named',
    input: async (folder) => {
      const text = join(folder, 'text.srt');
      await writeFile(text, '1\n00:00:00,100 --> 00:00:00,900\nHallo\n');
      return made('titled.mkv', ...brief, '-i', text, ...x264, '-c:s', 'srt')(folder);
    },
    to: 'avi',
    read: only(async (path) => (await tracks()(path)).map((track) => track['@type'])),
    expected: ['General', 'Video'],
    warnings: [expect.stringMatching(/^The subtitles are left out: avi cannot hold them/)],
  },
  ...eachTo(['mp4', 'webm', 'jpg', 'gif'], (to) => ({
    name: `a video that a phone stored sideways is upright in ${to}`,
    input: async (folder) =>
      made(
        'turned.mp4',
        '-i',
        await made('flat.mp4', ...brief, ...x264)(folder),
        '-c',
        'copy',
        '-metadata:s:v',
        'rotate=90',
      )(folder),
    read: only(async (path) => {
      const { ImageSize, Rotation } = await tags('ImageSize', 'Rotation')(path);
      return { ImageSize, Rotation: Rotation ?? 0 };
    }),
    expected: to === 'mp4' ? { ImageSize: '64 48', Rotation: 270 } : { ImageSize: '48 64', Rotation: 0 },
  })),
  ...eachTo(['mp4', 'mkv', 'webm', 'mov', 'm4v', 'avi'], (to) => ({
    name: `a phone's video becomes a ${to} without place and device, with its title and date`,
    input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
    read: recorded,
    // AVI has no field for the time of a recording.
    expected: { ...clean, ...(to === 'avi' ? { isDated: false } : {}) },
    usual: to === 'mp4',
  })),
  ...eachTo(['mp4', 'mkv', 'mov'], (to) => ({
    name: `strip: false keeps place and device of a phone's video in ${to}`,
    input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
    options: { strip: false },
    read: recorded,
    expected: { ...clean, isPlaced: true, hasDevice: true },
  })),
  {
    name: "the name of the camera is not that of an action camera's tracks in mp4",
    input: made(
      'action.mp4',
      ...[...brief, ...tone, ...x264, ...aac],
      ...['-metadata:s:v', 'handler_name=GoPro AVC', '-metadata:s:a', 'handler_name=GoPro AAC'],
    ),
    to: 'mp4',
    read: only(async (path) => /gopro/i.test(JSON.stringify(await tags('all', 'ee')(path)))),
    expected: false,
  },
  {
    name: 'an Android video loses its place when it is re-encoded',
    input: recording('android.mp4', '-movflags', 'use_metadata_tags'),
    to: 'mp4',
    options: { width: 32 },
    read: recorded,
    expected: clean,
  },
  {
    name: 'an Android video loses its place when it is trimmed',
    input: recording('android.mp4', '-movflags', 'use_metadata_tags'),
    operation: 'trim',
    to: 'mp4',
    options: { trim_end: 0.5 },
    read: recorded,
    expected: clean,
  },
  {
    name: 'a video that is small enough loses its place all the same',
    input: recording('android.mp4', '-movflags', 'use_metadata_tags'),
    operation: 'compress',
    to: 'mp4',
    options: { compress_video: 'by_size', video_compress_max_filesize: 100 },
    read: recorded,
    expected: clean,
  },
  ...eachTo(['mp3', 'flac', 'ogg', 'opus', 'm4a', 'wav', 'aiff'], (to) => ({
    name: `the sound of a phone's video becomes a ${to} without place and device`,
    input: recording('phone.mov', '-movflags', 'use_metadata_tags'),
    read: only(async (path) => {
      const { isPlaced, hasDevice, ...found } = await recorded([{ path, name: '', format: to }]);
      return { title: 'Title' in found ? found.Title : undefined, isPlaced, hasDevice };
    }),
    expected: { title: 'Our trip', isPlaced: false, hasDevice: false },
  })),
  ...eachTo(['mp4', 'mov', 'webm', 'mkv', 'ts'], (to) => ({
    name: `two languages of sound stay in ${to}`,
    input: bilingual,
    read: only(async (path) =>
      (await tracks('Language', 'Channels')(path)).filter((track) => track['@type'] === 'Audio'),
    ),
    expected: [
      { '@type': 'Audio', Channels: '2', Language: 'de' },
      { '@type': 'Audio', Channels: '1', Language: 'hr' },
    ],
    usual: to === 'mov',
  })),
  ...eachTo(['avi', 'wmv', 'mpg', 'vob', 'mxf', 'mka'], (to) => ({
    name: `two sound tracks stay in ${to}`,
    input: bilingual,
    read: only(async (path) => (await tracks()(path)).filter((track) => track['@type'] === 'Audio').length),
    expected: 2,
  })),
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
        ...[...lavfi('sine=frequency=440:sample_rate=96000:duration=1'), '-i', cover, '-map', '0', '-map', '1'],
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
    eachTo(['mp4', 'mov', 'm4v'], (to) => ({
      name: `${what} become${what.includes(' and ') ? '' : 's'} H.264 and AAC in ${to}`,
      input: coded(name, [...video], [...audio]),
      read: codecs,
      expected: [h264, 'AAC'],
      usual: to === 'mp4' && name === 'mpeg4.mkv',
    })),
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
      usual: to === 'png',
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
  ...eachTo(['mp4', 'webm', 'mkv', 'avi'], (to) => ({
    name: `fps keeps time in ${to}: 4 s stay 4 s, and the frame at 2 s is that of 2 s`,
    input: brightening,
    options: { fps: 10 },
    read: only(async (path) => {
      const [general] = await tracks('Duration')(path);
      return { seconds: Number(general?.Duration), grey: (await frames([20, 20], 2, 3)(path)).map(([red]) => red) };
    }),
    expected: { seconds: expect.closeTo(4, 1), grey: [near(116, 5), near(175, 5)] },
    usual: to === 'mp4',
  })),
  ...eachTo(['gif', 'webp', 'apng'], (to) => ({
    name: `a video of one frame becomes a ${to}`,
    input: made('one.mp4', ...lavfi('color=0x2080c0:size=64x48:rate=25:duration=0.04'), ...x264),
    read: only(pixels([20, 20])),
    expected: [colour(6, 0x20, 0x80, 0xc0)],
  })),
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
        usual: to === 'mp4' && from === 'gif',
      }),
    ),
  ),
];

testQuality(cases);
