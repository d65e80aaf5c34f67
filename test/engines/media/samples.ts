import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { dff, dsf, monkeysAudio, toneSamples } from './handmade.ts';

const execute = promisify(execFile);

/** The tone of every sample; all formats, down to telephone speech, can hold it. */
export const toneHertz = 440;
export const pictureSize = { width: 160, height: 120 };

const pattern = (more = '') => ['-f', 'lavfi', '-i', `testsrc=size=160x120:rate=25:duration=1${more}`];
const tone = ['-f', 'lavfi', '-i', `sine=frequency=${toneHertz}:sample_rate=44100:duration=1,volume=4`];

/** Runs ffmpeg as a test's own tool. */
export async function ffmpeg(...args: string[]): Promise<string> {
  const { stderr } = await execute('ffmpeg', ['-hide_banner', '-nostdin', '-y', '-v', 'info', ...args], {
    maxBuffer: 2 ** 26,
  });
  return stderr;
}

const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '12', '-pix_fmt', 'yuv420p'];
const television = ['-vf', 'scale=720:576,setdar=4/3', '-r', '25'];

/** How a sample of each video format is made; not the arguments of the engine. */
const videos: Record<string, string[]> = {
  mp4: [...x264, '-c:a', 'aac', '-ac', '2', '-f', 'mp4'],
  m4v: [...x264, '-c:a', 'aac', '-ac', '2', '-f', 'ipod'],
  mov: ['-c:v', 'prores_ks', '-c:a', 'pcm_s16le', '-f', 'mov'],
  f4v: [...x264, '-c:a', 'aac', '-f', 'f4v'],
  '3gp': ['-c:v', 'h263', '-q:v', '5', '-s', '176x144', '-c:a', 'aac', '-ar', '16000', '-ac', '1', '-f', '3gp'],
  '3g2': ['-c:v', 'mpeg4', '-q:v', '2', '-c:a', 'aac', '-f', '3g2'],
  ismv: [...x264, '-c:a', 'aac', '-f', 'ismv'],
  mkv: [
    '-c:v',
    'libx265',
    '-x265-params',
    'log-level=none',
    '-crf',
    '14',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'flac',
    '-f',
    'matroska',
  ],
  webm: ['-c:v', 'libvpx', '-b:v', '2M', '-c:a', 'libvorbis', '-f', 'webm'],
  avi: ['-c:v', 'msmpeg4', '-q:v', '2', '-c:a', 'libmp3lame', '-f', 'avi'],
  divx: ['-c:v', 'mpeg4', '-vtag', 'DIVX', '-bf', '2', '-q:v', '2', '-c:a', 'libmp3lame', '-f', 'avi'],
  xvid: ['-c:v', 'libxvid', '-q:v', '2', '-c:a', 'libmp3lame', '-f', 'avi'],
  wmv: ['-c:v', 'wmv1', '-q:v', '2', '-c:a', 'wmav1', '-f', 'asf'],
  asf: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'mp2', '-f', 'asf'],
  flv: ['-c:v', 'flv', '-q:v', '2', '-c:a', 'libmp3lame', '-f', 'flv'],
  mpg: ['-c:v', 'mpeg1video', '-q:v', '2', '-c:a', 'mp2', '-f', 'mpeg'],
  mpeg: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'mp2', '-f', 'svcd'],
  vob: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'ac3', '-ar', '48000', '-f', 'vob'],
  ts: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'mp2', '-f', 'mpegts'],
  mts: [...x264, '-c:a', 'ac3', '-mpegts_m2ts_mode', '1', '-f', 'mpegts'],
  m2ts: [...x264, '-c:a', 'ac3', '-ar', '48000', '-mpegts_m2ts_mode', '1', '-f', 'mpegts'],
  ogv: ['-c:v', 'libtheora', '-q:v', '10', '-c:a', 'libvorbis', '-f', 'ogg'],
  mxf: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'pcm_s16le', '-ar', '48000', '-f', 'mxf'],
  dv: [...television, '-pix_fmt', 'yuv420p', '-ar', '48000', '-ac', '2', '-f', 'dv'],
  rm: ['-c:v', 'rv10', '-q:v', '2', '-s', '176x144', '-c:a', 'ac3', '-f', 'rm'],
  swf: ['-c:v', 'flv', '-q:v', '2', '-c:a', 'libmp3lame', '-ar', '44100', '-f', 'swf'],
  wtv: ['-c:v', 'mpeg2video', '-q:v', '2', '-c:a', 'mp2', '-f', 'wtv'],
  nut: ['-c:v', 'ffv1', '-c:a', 'pcm_s16le', '-f', 'nut'],
  ivf: ['-an', '-c:v', 'libvpx', '-b:v', '2M', '-f', 'ivf'],
  mjpeg: ['-an', '-c:v', 'mjpeg', '-q:v', '2', '-f', 'mjpeg'],
  h264: ['-an', ...x264, '-f', 'h264'],
  hevc: [
    '-an',
    '-c:v',
    'libx265',
    '-x265-params',
    'log-level=none',
    '-crf',
    '14',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-f',
    'hevc',
  ],
  m2v: ['-an', '-c:v', 'mpeg2video', '-q:v', '2', '-f', 'mpeg2video'],
  m1v: ['-an', '-c:v', 'mpeg1video', '-q:v', '2', '-f', 'mpeg1video'],
  y4m: ['-an', '-pix_fmt', 'yuv420p', '-f', 'yuv4mpegpipe'],
};

/** Sound formats that only ffmpeg writes here. */
const sounds: Record<string, string[]> = {
  mp3: ['-c:a', 'libmp3lame', '-f', 'mp3'],
  rf64: ['-rf64', 'always', '-f', 'wav'],
  opus: ['-c:a', 'libopus', '-f', 'opus'],
  oga: ['-c:a', 'flac', '-f', 'oga'],
  spx: ['-c:a', 'libspeex', '-ar', '16000', '-f', 'spx'],
  m4a: ['-c:a', 'alac', '-f', 'ipod'],
  m4b: ['-c:a', 'aac', '-f', 'ipod'],
  m4r: ['-c:a', 'aac', '-f', 'ipod'],
  aac: ['-c:a', 'aac', '-f', 'adts'],
  wma: ['-c:a', 'wmav2', '-f', 'asf'],
  ac3: ['-c:a', 'ac3', '-f', 'ac3'],
  eac3: ['-c:a', 'eac3', '-f', 'eac3'],
  dts: ['-c:a', 'dca', '-strict', '-2', '-f', 'dts'],
  thd: ['-c:a', 'truehd', '-strict', '-2', '-f', 'truehd'],
  mlp: ['-c:a', 'mlp', '-strict', '-2', '-f', 'mlp'],
  mp2: ['-c:a', 'libtwolame', '-f', 'mp2'],
  mka: ['-c:a', 'libvorbis', '-f', 'matroska'],
  weba: ['-c:a', 'libopus', '-f', 'webm'],
  tta: ['-c:a', 'tta', '-f', 'tta'],
  g722: ['-c:a', 'g722', '-ar', '16000', '-ac', '1', '-f', 'g722'],
  ra: ['-c:a', 'ac3', '-f', 'rm'],
  adx: ['-c:a', 'adpcm_adx', '-f', 'adx'],
  mmf: ['-c:a', 'adpcm_yamaha', '-ar', '22050', '-f', 'mmf'],
  ast: ['-c:a', 'pcm_s16be_planar', '-f', 'ast'],
};

/** Sound formats that sox writes, which shares no code with ffmpeg, by its name for them. */
const soxSounds: Record<string, { type: string; args?: string[] }> = {
  wav: { type: 'wav' },
  w64: { type: 'w64' },
  flac: { type: 'flac' },
  ogg: { type: 'ogg' },
  aiff: { type: 'aiff' },
  aifc: { type: 'aifc' },
  amr: { type: 'amr-nb', args: ['-r', '8000'] },
  au: { type: 'au' },
  caf: { type: 'caf' },
  wv: { type: 'wv' },
  voc: { type: 'voc' },
  gsm: { type: 'gsm', args: ['-r', '8000'] },
  sox: { type: 'sox' },
  sf: { type: 'sf' },
  avr: { type: 'avr' },
  sph: { type: 'sph' },
  pvf: { type: 'pvf' },
  '8svx': { type: '8svx' },
};

/** Sound formats that nothing here writes. */
const handmade: Record<string, () => Buffer> = {
  ape: () => monkeysAudio(toneSamples(toneHertz)),
  dsf: () => dsf(toneHertz),
  dff: () => dff(toneHertz),
};

/** Makes a sample of a format: one second of a moving pattern, of a tone, or of both. */
export async function makeSample(format: string, folder: string): Promise<string> {
  const path = join(folder, `sample.${format}`);
  const video = videos[format];
  const sound = sounds[format];
  const soxSound = soxSounds[format];
  if (video) await ffmpeg(...pattern(), ...tone, '-shortest', ...video, path);
  else if (sound) await ffmpeg(...tone, ...sound, path);
  else if (soxSound) await writeBySox(path, soxSound.type, soxSound.args ?? []);
  else if (format === 'mpc') await writeMusepack(path, folder);
  else if (handmade[format]) await writeFile(path, handmade[format]());
  else if (format === 'gif')
    await ffmpeg(...pattern(), '-vf', 'split[a][b];[a]palettegen[p];[b][p]paletteuse', '-f', 'gif', path);
  else if (format === 'apng') await ffmpeg(...pattern(), '-plays', '0', '-f', 'apng', path);
  else if (format === 'webp') await writeWebp(path, folder);
  else throw new Error(`No sample is known of ${format}.`);
  return path;
}

/**
 * Makes samples of many formats and returns their paths: those that ffmpeg writes from the pattern and the tone by two
 * processes of it, since each takes longer to start than to write one.
 */
export async function makeSamples(formats: string[], folder: string): Promise<Map<string, string>> {
  const pathOf = (format: string) => join(folder, `sample.${format}`);
  const outputs = (ways: Record<string, string[]>, more: string[]) =>
    formats.flatMap((format) => (ways[format] ? [...more, ...ways[format], pathOf(format)] : []));
  const moving = outputs(videos, ['-shortest']);
  const heard = outputs(sounds, []);
  if (moving.length > 0) await ffmpeg(...pattern(), ...tone, ...moving);
  if (heard.length > 0) await ffmpeg(...tone, ...heard);
  const others = formats.filter((format) => !videos[format] && !sounds[format]);
  for (const format of others) await makeSample(format, folder);
  return new Map(formats.map((format) => [format, pathOf(format)]));
}

async function writeBySox(path: string, type: string, args: string[]): Promise<void> {
  await execute('sox', [
    '-n',
    '-b',
    '16',
    '-r',
    '44100',
    '-c',
    '1',
    ...args,
    '-t',
    type,
    path,
    'synth',
    '1',
    'sine',
    String(toneHertz),
    'gain',
    '-6',
  ]);
}

async function writeMusepack(path: string, folder: string): Promise<void> {
  const wav = join(folder, 'musepack.wav');
  await execute('sox', [
    '-n',
    '-b',
    '16',
    '-r',
    '44100',
    '-c',
    '2',
    wav,
    'synth',
    '1',
    'sine',
    String(toneHertz),
    'gain',
    '-6',
  ]);
  await execute('mpcenc', ['--silent', '--overwrite', wav, path]);
}

/** Writes an animated WebP with libvips, from frames in the same tempo as the other samples. */
async function writeWebp(path: string, folder: string): Promise<void> {
  const raw = join(folder, 'webp.rgb');
  await ffmpeg(...pattern(), '-f', 'rawvideo', '-pix_fmt', 'rgb24', raw);
  const { width, height } = pictureSize;
  await sharp(await readFile(raw), {
    raw: { width, height: height * 25, channels: 3, pageHeight: height },
  })
    .webp({ loop: 0, delay: Array.from({ length: 25 }, () => 40), quality: 90 })
    .toFile(path);
}
