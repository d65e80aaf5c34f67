/** The properties of each container: plain data that planning, detection and the catalogue read. */

import { type AudioEncoder, codecOf, type VideoEncoder } from './encoders.ts';

interface VideoTrack {
  /** Encoders of the container; defaults to the first. */
  encoders: VideoEncoder[];
  /** Codecs, by ffprobe's names, that can be copied and that common players support. */
  copies: string[];
  /** Width and height must be multiples of this. Defaults to two. */
  multiple?: number;
}

interface AudioTrack {
  encoders: AudioEncoder[];
  copies: string[];
  /** Sample rates that the container supports, if the encoder does not know them. */
  rates?: number[];
  /** Maximum number of channels. */
  channels?: number;
  /** Minimum number of channels. */
  minChannels?: number;
}

export interface MediaFormat {
  ext: string;
  kind: 'video' | 'audio' | 'animation' | 'still' | 'stream';
  mediaType: string;
  aliases?: string[];
  /** The format of its files, if it is that of a container for several. */
  storedAs?: string;
  /** Names of the format in content detection. */
  contents?: string[];
  /** ffmpeg's demuxer; omitted if the format is only written. */
  demuxer?: string;
  /** Demuxers of other versions of the format, by the signature of such files. */
  demuxers?: Record<string, string>;
  /** ffmpeg's muxer; omitted if the format is only read. */
  muxer?: string;
  muxerArgs?: string[];
  /** Codec tag by which players of this format identify MPEG-4 video. */
  fourcc?: string;
  video?: VideoTrack;
  audio?: AudioTrack;
  /** The codec of its text subtitles. `any` supports all. */
  subtitles?: 'mov_text' | 'webvtt' | 'any';
  /** Supports several audio tracks. */
  manyTracks?: boolean;
  /** Codecs that all current browsers and phones play, for formats that people expect to play everywhere. */
  web?: { video: string[]; audio: string[] };
  /** Can store cover art with the audio. */
  cover?: boolean;
  /** Stores the rotation of phone videos as metadata, so that copying keeps it. */
  keepsRotation?: boolean;
  /** Has no reliable time stamps, so its streams cannot be copied to other containers. */
  untimed?: boolean;
  /** Seeking is inexact, so the demuxer seeks to an earlier time and the rest is decoded. */
  looseSeek?: boolean;
  /** Raw video, without a container that declares its duration. */
  bare?: boolean;
  /** Its header contains the duration, so that a shorter result means a truncated file. */
  knowsDuration?: boolean;
  /** Its encoder counts the last block as a whole one, so the reported progress is ahead by up to this. */
  blockSeconds?: number;
  /** Its only pixel format, if it has just one. */
  geometry?: 'dv';
}

/** Returns a track whose codecs can all be copied, and others in addition. */
function track<Encoder extends VideoEncoder | AudioEncoder>(encoders: Encoder[], ...others: string[]) {
  return { encoders, copies: [...encoders.map(codecOf), ...others] };
}

/** Returns a track that is always encoded. */
function encoded<Encoder extends VideoEncoder | AudioEncoder>(...encoders: Encoder[]) {
  return { encoders, copies: [] };
}

/** Returns a format of video. The muxer is also the demuxer, if the traits do not name another. */
function video(ext: string, mediaType: string, muxer: string, more: Partial<MediaFormat>): MediaFormat {
  return { ext, kind: 'video', mediaType, demuxer: muxer, muxer, ...more };
}

/** Returns a format of audio in the same way. */
function audio(
  ext: string,
  mediaType: string,
  muxer: string,
  sound: AudioTrack,
  more: Partial<MediaFormat> = {},
): MediaFormat {
  return { ext, kind: 'audio', mediaType, demuxer: muxer, muxer, audio: sound, ...more };
}

/** Returns a format of audio that is only read. */
function readOnly(ext: string, mediaType: string, demuxer: string, more: Partial<MediaFormat> = {}): MediaFormat {
  return { ext, kind: 'audio', mediaType, demuxer, ...more };
}

const iso = {
  demuxer: 'mov',
  contents: ['mp4', 'mov', 'm4v', 'm4a', 'm4b', 'm4p', '3gp', '3g2', 'f4v', 'f4a', 'f4b', 'mj2'],
  knowsDuration: true,
  keepsRotation: true,
} satisfies Partial<MediaFormat>;
const asf = { contents: ['asf', 'wmv', 'wma'], knowsDuration: true } satisfies Partial<MediaFormat>;
const matroska = {
  contents: ['mkv', 'webm', 'mka', 'weba'],
  demuxer: 'matroska',
  knowsDuration: true,
} satisfies Partial<MediaFormat>;
const ogg = {
  contents: ['ogg', 'oga', 'ogv', 'ogx', 'ogm', 'opus', 'spx'],
  demuxer: 'ogg',
  knowsDuration: true,
} satisfies Partial<MediaFormat>;
const bare = { bare: true, untimed: true } satisfies Partial<MediaFormat>;

/** What people expect to play everywhere. HEVC and AV1 play on some devices only: others lack hardware or a licence. */
const isoForAll = {
  ...iso,
  web: { video: ['h264'], audio: ['aac'] },
  subtitles: 'mov_text',
  manyTracks: true,
} satisfies Partial<MediaFormat>;
const phone = {
  ...iso,
  video: track(['libx264', 'mpeg4'], 'h263'),
  audio: track(['aac'], 'amr_nb', 'amr_wb'),
} satisfies Partial<MediaFormat>;
const avi = {
  contents: ['avi'],
  untimed: true,
  knowsDuration: true,
  manyTracks: true,
  fourcc: 'xvid',
  audio: track(['libmp3lame', 'ac3', 'pcm_s16le'], 'mp2'),
} satisfies Partial<MediaFormat>;
const windowsAudio: AudioTrack = { ...track(['wmav2'], 'wmav1', 'wmapro'), channels: 2 };
const windowsVideo = {
  ...asf,
  manyTracks: true,
  video: track(['wmv2'], 'wmv1', 'wmv3', 'vc1'),
  audio: windowsAudio,
} satisfies Partial<MediaFormat>;
// The muxer is not ffmpeg's mpeg, the MPEG-1 system stream, which does not hold MPEG-2 video.
const programStream = {
  contents: ['mpg', 'vob', 'mpeg'],
  demuxer: 'mpeg',
  looseSeek: true,
  manyTracks: true,
  video: track(['mpeg2video', 'mpeg1video']),
  audio: track(['mp2', 'ac3'], 'mp3'),
} satisfies Partial<MediaFormat>;
const transportStream = {
  contents: ['ts', 'mts', 'm2ts'],
  looseSeek: true,
  manyTracks: true,
  video: track(['libx264', 'libx265', 'mpeg2video']),
} satisfies Partial<MediaFormat>;
const discStream = {
  ...transportStream,
  muxerArgs: ['-mpegts_m2ts_mode', '1'],
  audio: track(['ac3', 'aac', 'mp2']),
} satisfies Partial<MediaFormat>;
const openVideo = track(['libvpx-vp9', 'libvpx', 'libsvtav1']);
const openAudio = track(['libopus', 'libvorbis']);
const flashRates = [11_025, 22_050, 44_100];

export const videoFormats: MediaFormat[] = [
  video('mp4', 'video/mp4', 'mp4', {
    ...isoForAll,
    aliases: ['mp4v'],
    video: track(['libx264', 'libx265', 'libsvtav1', 'mpeg4']),
    audio: track(['aac', 'libmp3lame', 'ac3', 'eac3', 'alac']),
    cover: true,
  }),
  video('m4v', 'video/x-m4v', 'ipod', {
    ...isoForAll,
    video: track(['libx264', 'mpeg4']),
    audio: track(['aac', 'ac3', 'alac']),
    cover: true,
  }),
  video('mov', 'video/quicktime', 'mov', {
    ...isoForAll,
    aliases: ['qt'],
    video: track(['libx264', 'libx265', 'prores_ks', 'mpeg4', 'mjpeg'], 'dvvideo'),
    audio: track(['aac', 'libmp3lame', 'ac3', 'alac', 'pcm_s16le'], 'pcm_s16be', 'pcm_s24le'),
  }),
  video('f4v', 'video/x-f4v', 'f4v', { ...iso, video: track(['libx264']), audio: track(['aac'], 'mp3') }),
  video('3gp', 'video/3gpp', '3gp', { ...phone, aliases: ['3gpp'] }),
  video('3g2', 'video/3gpp2', '3g2', { ...phone, aliases: ['3gpp2'] }),
  video('ismv', 'video/mp4', 'ismv', {
    ...iso,
    keepsRotation: false,
    video: track(['libx264']),
    audio: track(['aac']),
  }),
  video('mkv', 'video/x-matroska', 'matroska', {
    ...matroska,
    aliases: ['mk3d'],
    video: track(
      [
        ...(['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9', 'libvpx'] as const),
        ...(['mpeg4', 'mpeg2video', 'prores_ks', 'mjpeg', 'ffv1'] as const),
      ],
      ...['mpeg1video', 'theora'],
    ),
    audio: track(
      ['aac', 'libmp3lame', 'libopus', 'libvorbis', 'flac', 'ac3', 'eac3', 'pcm_s16le'],
      ...['dts', 'truehd', 'mp2', 'alac', 'pcm_s24le'],
    ),
    subtitles: 'any',
    manyTracks: true,
  }),
  video('webm', 'video/webm', 'webm', {
    ...matroska,
    video: openVideo,
    audio: openAudio,
    web: { video: openVideo.copies, audio: openAudio.copies },
    subtitles: 'webvtt',
    manyTracks: true,
  }),
  video('avi', 'video/x-msvideo', 'avi', {
    ...avi,
    video: {
      encoders: ['mpeg4', 'libx264', 'mjpeg'],
      copies: ['mpeg4', 'mjpeg', 'msmpeg4v3', 'msmpeg4v2'],
    },
  }),
  video('divx', 'video/x-msvideo', 'avi', { ...avi, fourcc: 'DX50', video: encoded('mpeg4') }),
  video('xvid', 'video/x-msvideo', 'avi', { ...avi, video: encoded('mpeg4') }),
  video('wmv', 'video/x-ms-wmv', 'asf', windowsVideo),
  video('asf', 'video/x-ms-asf', 'asf', { ...windowsVideo, aliases: ['wm', 'dvr-ms'] }),
  video('flv', 'video/x-flv', 'flv', {
    knowsDuration: true,
    video: track(['libx264', 'flv'], 'vp6f'),
    audio: { ...track(['aac', 'libmp3lame']), rates: flashRates },
  }),
  video('mpg', 'video/mpeg', 'vob', { ...programStream, aliases: ['mpe', 'm2p', 'vro'] }),
  video('mpeg', 'video/mpeg', 'vob', programStream),
  video('vob', 'video/dvd', 'vob', { ...programStream, audio: { ...track(['ac3', 'mp2']), rates: [48_000] } }),
  video('ts', 'video/mp2t', 'mpegts', {
    ...transportStream,
    aliases: ['m2t', 'trp', 'tod'],
    audio: track(['aac', 'libmp3lame', 'mp2', 'ac3', 'eac3']),
  }),
  video('mts', 'video/mp2t', 'mpegts', discStream),
  video('m2ts', 'video/mp2t', 'mpegts', discStream),
  video('ogv', 'video/ogg', 'ogv', {
    ...ogg,
    aliases: ['ogx'],
    video: track(['libtheora']),
    audio: track(['libvorbis', 'libopus', 'flac']),
  }),
  video('mxf', 'application/mxf', 'mxf', {
    knowsDuration: true,
    manyTracks: true,
    video: encoded('mpeg2video'),
    audio: { ...encoded('pcm_s16le', 'pcm_s24le'), rates: [48_000] },
  }),
  video('dv', 'video/x-dv', 'dv', {
    aliases: ['dif'],
    untimed: true,
    geometry: 'dv',
    video: encoded('dvvideo'),
    audio: { ...encoded('pcm_s16le'), rates: [48_000], channels: 2, minChannels: 2 },
  }),
  video('rm', 'application/vnd.rn-realmedia', 'rm', {
    aliases: ['rmvb'],
    contents: ['rm', 'ra'],
    untimed: true,
    video: { ...encoded('rv20'), multiple: 4 },
    audio: { ...encoded('ac3'), channels: 2 },
  }),
  video('swf', 'application/x-shockwave-flash', 'swf', {
    untimed: true,
    video: encoded('flv'),
    audio: { ...encoded('libmp3lame'), rates: flashRates },
  }),
  video('wtv', 'video/x-ms-wtv', 'wtv', { untimed: true, video: encoded('mpeg2video'), audio: encoded('mp2', 'ac3') }),
  video('nut', 'video/x-nut', 'nut', {
    manyTracks: true,
    video: track(['libx264', 'mpeg4', 'ffv1'], 'hevc', 'vp9', 'vp8'),
    audio: track(['aac', 'libmp3lame', 'libvorbis', 'flac'], 'pcm_s16le'),
  }),
  video('ivf', 'video/x-ivf', 'ivf', { video: openVideo }),
  video('mjpeg', 'video/x-motion-jpeg', 'mjpeg', {
    ...bare,
    aliases: ['mjpg'],
    contents: ['jpg'],
    video: encoded('mjpeg'),
  }),
  video('h264', 'video/h264', 'h264', { ...bare, aliases: ['264', 'avc'], video: track(['libx264']) }),
  video('hevc', 'video/h265', 'hevc', { ...bare, aliases: ['h265', '265'], video: track(['libx265']) }),
  video('m2v', 'video/mpeg', 'mpeg2video', {
    ...bare,
    contents: ['mpg', 'm2v'],
    demuxer: 'mpegvideo',
    video: track(['mpeg2video']),
  }),
  video('m1v', 'video/mpeg', 'mpeg1video', {
    ...bare,
    aliases: ['mpv'],
    contents: ['mpg', 'm2v', 'm1v'],
    demuxer: 'mpegvideo',
    video: track(['mpeg1video']),
  }),
  video('y4m', 'video/x-yuv4mpeg', 'yuv4mpegpipe', { untimed: true, video: encoded('wrapped_avframe') }),
];

const pcm = track(['pcm_s16le', 'pcm_s24le', 'pcm_s32le'], 'pcm_u8', 'pcm_f32le', 'pcm_f64le');
const bigEndian = track(['pcm_s16be', 'pcm_s24be'], 'pcm_s32be');
const apple = track(['aac', 'alac']);
const telephone = { rates: [8000], channels: 1 };

export const audioFormats: MediaFormat[] = [
  audio('mp3', 'audio/mpeg', 'mp3', track(['libmp3lame']), { cover: true }),
  audio('wav', 'audio/wav', 'wav', pcm, { aliases: ['wave', 'bwf'], knowsDuration: true }),
  audio('rf64', 'audio/wav', 'wav', pcm, { contents: ['wav', 'rf64'], muxerArgs: ['-rf64', 'always'] }),
  audio('w64', 'audio/x-w64', 'w64', pcm),
  audio('flac', 'audio/flac', 'flac', track(['flac']), { cover: true, knowsDuration: true }),
  audio(
    'ogg',
    'audio/ogg',
    'ogg',
    { encoders: ['libvorbis', 'libopus', 'flac'], copies: ['vorbis', 'opus'] },
    { ...ogg, aliases: ['mogg'] },
  ),
  audio('oga', 'audio/ogg', 'oga', track(['libvorbis', 'libopus', 'flac']), ogg),
  audio('opus', 'audio/opus', 'opus', track(['libopus']), ogg),
  audio('spx', 'audio/x-speex', 'spx', { ...track(['libspeex']), rates: [8000, 16_000, 32_000], channels: 2 }, ogg),
  audio('m4a', 'audio/mp4', 'ipod', apple, { ...iso, cover: true, aliases: ['f4a'] }),
  audio('m4b', 'audio/mp4', 'ipod', apple, { ...iso, cover: true }),
  audio('m4r', 'audio/mp4', 'ipod', track(['aac']), iso),
  audio('aac', 'audio/aac', 'adts', track(['aac']), { demuxer: 'aac', aliases: ['adts'] }),
  audio('wma', 'audio/x-ms-wma', 'asf', windowsAudio, asf),
  audio('aiff', 'audio/aiff', 'aiff', bigEndian, {
    cover: true,
    muxerArgs: ['-write_id3v2', '1'],
    contents: ['aif', 'aifc'],
    aliases: ['aif'],
    knowsDuration: true,
  }),
  audio('aifc', 'audio/aiff', 'aiff', encoded('pcm_s16le'), { contents: ['aif', 'aiff'], knowsDuration: true }),
  audio('ac3', 'audio/ac3', 'ac3', track(['ac3'])),
  audio('eac3', 'audio/eac3', 'eac3', track(['eac3']), { contents: ['ac3'], aliases: ['ec3'] }),
  audio('dts', 'audio/vnd.dts', 'dts', track(['dca'])),
  // Read only: ffmpeg's encoders for them are experimental, and some of their output cannot be decoded.
  readOnly('thd', 'audio/vnd.dolby.mlp', 'truehd', { aliases: ['truehd'] }),
  readOnly('mlp', 'audio/vnd.dolby.mlp', 'mlp'),
  // Debian's ffmpeg has no encoder for AMR, so sox writes it from our own wav.
  audio('amr', 'audio/amr', 'amr', { ...encoded('pcm_s16le'), ...telephone }),
  audio('au', 'audio/basic', 'au', bigEndian, { aliases: ['snd'] }),
  audio('caf', 'audio/x-caf', 'caf', track(['pcm_s16le', 'pcm_s24le', 'alac'], 'pcm_s16be'), { knowsDuration: true }),
  audio('mp2', 'audio/mpeg', 'mp2', track(['mp2']), { demuxer: 'mp3', aliases: ['mpa'] }),
  audio(
    'mka',
    'audio/x-matroska',
    'matroska',
    track(
      ['aac', 'libmp3lame', 'libopus', 'libvorbis', 'flac', 'ac3'],
      ...['eac3', 'dts', 'alac', 'mp2', 'pcm_s16le', 'pcm_s24le'],
    ),
    { ...matroska, manyTracks: true },
  ),
  audio('weba', 'audio/webm', 'webm', openAudio, matroska),
  audio('wv', 'audio/x-wavpack', 'wv', track(['wavpack']), { knowsDuration: true, blockSeconds: 1 }),
  audio('tta', 'audio/x-tta', 'tta', track(['tta']), { blockSeconds: 1.05 }),
  audio('voc', 'audio/x-voc', 'voc', encoded('pcm_s16le')),
  audio('gsm', 'audio/x-gsm', 'gsm', { ...track(['libgsm']), ...telephone }),
  audio('g722', 'audio/g722', 'g722', { ...encoded('g722'), rates: [16_000], channels: 1 }),
  audio(
    'ra',
    'audio/vnd.rn-realaudio',
    'rm',
    { ...encoded('ac3'), channels: 2 },
    { contents: ['rm', 'ra'], untimed: true },
  ),
  audio('adx', 'audio/x-adx', 'adx', { ...encoded('adpcm_adx'), channels: 2 }),
  audio('mmf', 'application/vnd.smaf', 'mmf', {
    ...encoded('adpcm_yamaha'),
    rates: [8000, ...flashRates],
    channels: 1,
  }),
  audio('sox', 'audio/x-sox', 'sox', encoded('pcm_s32le')),
  audio('sf', 'audio/x-ircam', 'ircam', encoded('pcm_s16le'), { aliases: ['ircam'] }),
  audio('ast', 'audio/x-ast', 'ast', encoded('pcm_s16be_planar')),
  readOnly('mpc', 'audio/x-musepack', 'mpc8', { demuxers: { 'MP+': 'mpc' }, knowsDuration: true }),
  readOnly('ape', 'audio/x-ape', 'ape', { knowsDuration: true }),
  readOnly('avr', 'audio/x-avr', 'avr'),
  readOnly('sph', 'audio/x-nist', 'nistsphere', { aliases: ['nist'] }),
  readOnly('pvf', 'audio/x-pvf', 'pvf'),
  readOnly('8svx', 'audio/x-8svx', 'iff', { aliases: ['iff'] }),
  readOnly('dsf', 'audio/x-dsf', 'dsf', { knowsDuration: true }),
  readOnly('dff', 'audio/x-dff', 'iff', { knowsDuration: true }),
];

export const pictureFormats: MediaFormat[] = [
  { ext: 'gif', kind: 'animation', mediaType: 'image/gif', demuxer: 'gif', muxer: 'gif' },
  { ext: 'apng', kind: 'animation', mediaType: 'image/apng', demuxer: 'apng', muxer: 'apng' },
  { ext: 'webp', kind: 'animation', mediaType: 'image/webp', muxer: 'webp' },
  { ext: 'jpg', kind: 'still', mediaType: 'image/jpeg', aliases: ['jpeg'], muxer: 'image2' },
  { ext: 'png', kind: 'still', mediaType: 'image/png', muxer: 'image2' },
];

/** Segments with playlists and a manifest. Both have those of both, because the segments are the same. */
const stream = {
  kind: 'stream',
  mediaType: 'application/zip',
  storedAs: 'zip',
  video: encoded('libx264', 'libx265'),
  audio: { ...encoded('aac'), channels: 6 },
} satisfies Partial<MediaFormat>;

export const streamFormats: MediaFormat[] = [
  { ...stream, ext: 'hls' },
  { ...stream, ext: 'dash' },
];

export const mediaFormats: MediaFormat[] = [...videoFormats, ...audioFormats, ...pictureFormats, ...streamFormats];

const byExtension = new Map(mediaFormats.map((format) => [format.ext, format]));

/** Finds a format by its canonical extension. */
export function mediaFormat(ext: string): MediaFormat {
  const format = byExtension.get(ext);
  if (!format) throw new Error(`The catalogue lists ${ext}, which this engine does not know.`);
  return format;
}
