/** The properties of each container: plain data that planning, detection and the catalogue read. */

export type MediaKind = 'video' | 'audio' | 'animation' | 'still';

export type VideoEncoder =
  | 'libx264'
  | 'libx265'
  | 'libsvtav1'
  | 'libvpx-vp9'
  | 'libvpx'
  | 'mpeg4'
  | 'mpeg2video'
  | 'mpeg1video'
  | 'wmv2'
  | 'flv'
  | 'libtheora'
  | 'rv20'
  | 'dvvideo'
  | 'mjpeg'
  | 'prores_ks'
  | 'ffv1'
  | 'wrapped_avframe';

export type AudioEncoder =
  | 'aac'
  | 'libmp3lame'
  | 'libopus'
  | 'libvorbis'
  | 'flac'
  | 'alac'
  | 'ac3'
  | 'eac3'
  | 'mp2'
  | 'wmav2'
  | 'dca'
  | 'wavpack'
  | 'tta'
  | 'libspeex'
  | 'libgsm'
  | 'g722'
  | 'adpcm_adx'
  | 'adpcm_yamaha'
  | 'pcm_s16le'
  | 'pcm_s16be'
  | 'pcm_s24le'
  | 'pcm_s24be'
  | 'pcm_s32le'
  | 'pcm_s16be_planar';

export interface VideoTrack {
  /** Encoders of the container; defaults to the first. */
  encoders: VideoEncoder[];
  /** Codecs, by ffprobe's names, that can be copied and that common players support. */
  copies: string[];
  /** Width and height must be multiples of this. Defaults to two. */
  multiple?: number;
}

export interface AudioTrack {
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
  kind: MediaKind;
  mediaType: string;
  aliases?: string[];
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

const iso = ['mp4', 'mov', 'm4v', 'm4a', 'm4b', 'm4p', '3gp', '3g2', 'f4v', 'f4a', 'f4b', 'mj2'];
const asf = ['asf', 'wmv', 'wma'];
const matroska = ['mkv', 'webm', 'mka', 'weba'];
const ogg = ['ogg', 'oga', 'ogv', 'ogx', 'ogm', 'opus', 'spx'];
const transport = ['ts', 'mts', 'm2ts'];
const program = ['mpg', 'vob', 'mpeg'];

const isoVideo: VideoTrack = {
  encoders: ['libx264', 'libx265', 'libsvtav1', 'mpeg4'],
  copies: ['h264', 'hevc', 'av1', 'mpeg4'],
};
const isoAudio: AudioTrack = {
  encoders: ['aac', 'libmp3lame', 'ac3', 'eac3', 'alac'],
  copies: ['aac', 'mp3', 'ac3', 'eac3', 'alac'],
};
/** HEVC and AV1 play on some devices only. Others lack hardware; Firefox and Linux lack a licence. */
const webIso = { video: ['h264'], audio: ['aac'] };
const isoTraits = { demuxer: 'mov', contents: iso, knowsDuration: true, keepsRotation: true } as const;
const phoneTracks = {
  video: { encoders: ['libx264', 'mpeg4'], copies: ['h264', 'mpeg4', 'h263'] },
  audio: { encoders: ['aac'], copies: ['aac', 'amr_nb', 'amr_wb'] },
} satisfies Partial<MediaFormat>;
const aviTraits = {
  mediaType: 'video/x-msvideo',
  contents: ['avi'],
  demuxer: 'avi',
  muxer: 'avi',
  untimed: true,
  knowsDuration: true,
  manyTracks: true,
  video: { encoders: ['mpeg4', 'libx264', 'mjpeg'], copies: ['mpeg4', 'mjpeg', 'msmpeg4v3', 'msmpeg4v2'] },
  audio: { encoders: ['libmp3lame', 'ac3', 'pcm_s16le'], copies: ['mp3', 'ac3', 'pcm_s16le', 'mp2'] },
} satisfies Partial<MediaFormat>;
const windowsVideo = {
  contents: asf,
  demuxer: 'asf',
  muxer: 'asf',
  knowsDuration: true,
  manyTracks: true,
  video: { encoders: ['wmv2'], copies: ['wmv1', 'wmv2', 'wmv3', 'vc1'] },
  audio: { encoders: ['wmav2'], copies: ['wmav1', 'wmav2', 'wmapro'], channels: 2 },
} satisfies Partial<MediaFormat>;
const programStream = {
  contents: program,
  demuxer: 'mpeg',
  looseSeek: true,
  // Not ffmpeg's mpeg, the MPEG-1 system stream, which does not hold MPEG-2 video.
  muxer: 'vob',
  manyTracks: true,
  video: { encoders: ['mpeg2video', 'mpeg1video'], copies: ['mpeg2video', 'mpeg1video'] },
} satisfies Partial<MediaFormat>;
const transportStream = {
  mediaType: 'video/mp2t',
  contents: transport,
  demuxer: 'mpegts',
  looseSeek: true,
  muxer: 'mpegts',
  manyTracks: true,
  video: { encoders: ['libx264', 'libx265', 'mpeg2video'], copies: ['h264', 'hevc', 'mpeg2video'] },
} satisfies Partial<MediaFormat>;

export const videoFormats: MediaFormat[] = [
  {
    ...isoTraits,
    ext: 'mp4',
    kind: 'video',
    mediaType: 'video/mp4',
    aliases: ['mp4v'],
    muxer: 'mp4',
    video: isoVideo,
    audio: isoAudio,
    web: webIso,
    cover: true,
    subtitles: 'mov_text',
    manyTracks: true,
  },
  {
    ...isoTraits,
    ext: 'm4v',
    kind: 'video',
    mediaType: 'video/x-m4v',
    muxer: 'ipod',
    video: { encoders: ['libx264', 'mpeg4'], copies: ['h264', 'mpeg4'] },
    audio: { encoders: ['aac', 'ac3', 'alac'], copies: ['aac', 'ac3', 'alac'] },
    web: webIso,
    cover: true,
    subtitles: 'mov_text',
    manyTracks: true,
  },
  {
    ...isoTraits,
    ext: 'mov',
    kind: 'video',
    mediaType: 'video/quicktime',
    aliases: ['qt'],
    muxer: 'mov',
    video: {
      encoders: ['libx264', 'libx265', 'prores_ks', 'mpeg4', 'mjpeg'],
      copies: ['h264', 'hevc', 'mpeg4', 'prores', 'mjpeg', 'dvvideo'],
    },
    audio: {
      encoders: ['aac', 'libmp3lame', 'ac3', 'alac', 'pcm_s16le'],
      copies: ['aac', 'mp3', 'ac3', 'alac', 'pcm_s16le', 'pcm_s16be', 'pcm_s24le'],
    },
    web: webIso,
    subtitles: 'mov_text',
    manyTracks: true,
  },
  {
    ...isoTraits,
    ext: 'f4v',
    kind: 'video',
    mediaType: 'video/x-f4v',
    muxer: 'f4v',
    video: { encoders: ['libx264'], copies: ['h264'] },
    audio: { encoders: ['aac'], copies: ['aac', 'mp3'] },
  },
  {
    ...isoTraits,
    ...phoneTracks,
    ext: '3gp',
    kind: 'video',
    mediaType: 'video/3gpp',
    aliases: ['3gpp'],
    muxer: '3gp',
  },
  {
    ...isoTraits,
    ...phoneTracks,
    ext: '3g2',
    kind: 'video',
    mediaType: 'video/3gpp2',
    aliases: ['3gpp2'],
    muxer: '3g2',
  },
  {
    ...isoTraits,
    ext: 'ismv',
    kind: 'video',
    mediaType: 'video/mp4',
    muxer: 'ismv',
    keepsRotation: false,
    video: { encoders: ['libx264'], copies: ['h264'] },
    audio: { encoders: ['aac'], copies: ['aac'] },
  },
  {
    ext: 'mkv',
    kind: 'video',
    mediaType: 'video/x-matroska',
    aliases: ['mk3d'],
    contents: matroska,
    demuxer: 'matroska',
    muxer: 'matroska',
    knowsDuration: true,
    video: {
      encoders: [
        'libx264',
        'libx265',
        'libsvtav1',
        'libvpx-vp9',
        'libvpx',
        'mpeg4',
        'mpeg2video',
        'prores_ks',
        'mjpeg',
        'ffv1',
      ],
      copies: [
        'h264',
        'hevc',
        'av1',
        'vp8',
        'vp9',
        'mpeg4',
        'mpeg2video',
        'mpeg1video',
        'theora',
        'prores',
        'mjpeg',
        'ffv1',
      ],
    },
    audio: {
      encoders: ['aac', 'libmp3lame', 'libopus', 'libvorbis', 'flac', 'ac3', 'eac3', 'pcm_s16le'],
      copies: [
        'aac',
        'mp3',
        'opus',
        'vorbis',
        'flac',
        'ac3',
        'eac3',
        'dts',
        'truehd',
        'mp2',
        'alac',
        'pcm_s16le',
        'pcm_s24le',
      ],
    },
    subtitles: 'any',
    manyTracks: true,
  },
  {
    ext: 'webm',
    kind: 'video',
    mediaType: 'video/webm',
    contents: matroska,
    demuxer: 'matroska',
    muxer: 'webm',
    knowsDuration: true,
    video: { encoders: ['libvpx-vp9', 'libvpx', 'libsvtav1'], copies: ['vp8', 'vp9', 'av1'] },
    audio: { encoders: ['libopus', 'libvorbis'], copies: ['opus', 'vorbis'] },
    web: { video: ['vp8', 'vp9', 'av1'], audio: ['opus', 'vorbis'] },
    subtitles: 'webvtt',
    manyTracks: true,
  },
  { ...aviTraits, ext: 'avi', kind: 'video', fourcc: 'xvid' },
  {
    ...aviTraits,
    ext: 'divx',
    kind: 'video',
    fourcc: 'DX50',
    video: { ...aviTraits.video, encoders: ['mpeg4'], copies: [] },
  },
  {
    ...aviTraits,
    ext: 'xvid',
    kind: 'video',
    fourcc: 'xvid',
    video: { ...aviTraits.video, encoders: ['mpeg4'], copies: [] },
  },
  { ...windowsVideo, ext: 'wmv', kind: 'video', mediaType: 'video/x-ms-wmv' },
  { ...windowsVideo, ext: 'asf', kind: 'video', mediaType: 'video/x-ms-asf', aliases: ['wm', 'dvr-ms'] },
  {
    ext: 'flv',
    kind: 'video',
    mediaType: 'video/x-flv',
    demuxer: 'flv',
    muxer: 'flv',
    knowsDuration: true,
    video: { encoders: ['libx264', 'flv'], copies: ['h264', 'flv1', 'vp6f'] },
    audio: { encoders: ['aac', 'libmp3lame'], copies: ['aac', 'mp3'], rates: [11_025, 22_050, 44_100] },
  },
  {
    ...programStream,
    ext: 'mpg',
    kind: 'video',
    mediaType: 'video/mpeg',
    aliases: ['mpe', 'm2p', 'vro'],
    audio: { encoders: ['mp2', 'ac3'], copies: ['mp2', 'ac3', 'mp3'] },
  },
  {
    ...programStream,
    ext: 'mpeg',
    kind: 'video',
    mediaType: 'video/mpeg',
    audio: { encoders: ['mp2', 'ac3'], copies: ['mp2', 'ac3', 'mp3'] },
  },
  {
    ...programStream,
    ext: 'vob',
    kind: 'video',
    mediaType: 'video/dvd',
    audio: { encoders: ['ac3', 'mp2'], copies: ['ac3', 'mp2'], rates: [48_000] },
  },
  {
    ...transportStream,
    ext: 'ts',
    kind: 'video',
    aliases: ['m2t', 'trp', 'tod'],
    audio: { encoders: ['aac', 'libmp3lame', 'mp2', 'ac3', 'eac3'], copies: ['aac', 'mp3', 'mp2', 'ac3', 'eac3'] },
  },
  {
    ...transportStream,
    ext: 'mts',
    kind: 'video',
    muxerArgs: ['-mpegts_m2ts_mode', '1'],
    audio: { encoders: ['ac3', 'aac', 'mp2'], copies: ['ac3', 'aac', 'mp2'] },
  },
  {
    ...transportStream,
    ext: 'm2ts',
    kind: 'video',
    muxerArgs: ['-mpegts_m2ts_mode', '1'],
    audio: { encoders: ['ac3', 'aac', 'mp2'], copies: ['ac3', 'aac', 'mp2'] },
  },
  {
    ext: 'ogv',
    kind: 'video',
    mediaType: 'video/ogg',
    aliases: ['ogx'],
    contents: ogg,
    demuxer: 'ogg',
    muxer: 'ogv',
    knowsDuration: true,
    video: { encoders: ['libtheora'], copies: ['theora'] },
    audio: { encoders: ['libvorbis', 'libopus', 'flac'], copies: ['vorbis', 'opus', 'flac'] },
  },
  {
    ext: 'mxf',
    kind: 'video',
    mediaType: 'application/mxf',
    demuxer: 'mxf',
    muxer: 'mxf',
    knowsDuration: true,
    manyTracks: true,
    video: { encoders: ['mpeg2video'], copies: [] },
    audio: { encoders: ['pcm_s16le', 'pcm_s24le'], copies: [], rates: [48_000] },
  },
  {
    ext: 'dv',
    kind: 'video',
    mediaType: 'video/x-dv',
    aliases: ['dif'],
    demuxer: 'dv',
    muxer: 'dv',
    untimed: true,
    geometry: 'dv',
    video: { encoders: ['dvvideo'], copies: [] },
    audio: { encoders: ['pcm_s16le'], copies: [], rates: [48_000], channels: 2, minChannels: 2 },
  },
  {
    ext: 'rm',
    kind: 'video',
    mediaType: 'application/vnd.rn-realmedia',
    aliases: ['rmvb'],
    contents: ['rm', 'ra'],
    demuxer: 'rm',
    muxer: 'rm',
    untimed: true,
    video: { encoders: ['rv20'], copies: [], multiple: 4 },
    audio: { encoders: ['ac3'], copies: [], channels: 2 },
  },
  {
    ext: 'swf',
    kind: 'video',
    mediaType: 'application/x-shockwave-flash',
    demuxer: 'swf',
    muxer: 'swf',
    untimed: true,
    video: { encoders: ['flv'], copies: [] },
    audio: { encoders: ['libmp3lame'], copies: [], rates: [11_025, 22_050, 44_100] },
  },
  {
    ext: 'wtv',
    kind: 'video',
    mediaType: 'video/x-ms-wtv',
    demuxer: 'wtv',
    muxer: 'wtv',
    untimed: true,
    video: { encoders: ['mpeg2video'], copies: [] },
    audio: { encoders: ['mp2', 'ac3'], copies: [] },
  },
  {
    ext: 'nut',
    kind: 'video',
    mediaType: 'video/x-nut',
    demuxer: 'nut',
    muxer: 'nut',
    manyTracks: true,
    video: { encoders: ['libx264', 'mpeg4', 'ffv1'], copies: ['h264', 'hevc', 'mpeg4', 'vp9', 'vp8', 'ffv1'] },
    audio: {
      encoders: ['aac', 'libmp3lame', 'libvorbis', 'flac'],
      copies: ['aac', 'mp3', 'vorbis', 'flac', 'pcm_s16le'],
    },
  },
  {
    ext: 'ivf',
    kind: 'video',
    mediaType: 'video/x-ivf',
    demuxer: 'ivf',
    muxer: 'ivf',
    video: { encoders: ['libvpx-vp9', 'libvpx', 'libsvtav1'], copies: ['vp8', 'vp9', 'av1'] },
  },
  {
    ext: 'mjpeg',
    kind: 'video',
    mediaType: 'video/x-motion-jpeg',
    aliases: ['mjpg'],
    contents: ['jpg'],
    demuxer: 'mjpeg',
    muxer: 'mjpeg',
    bare: true,
    untimed: true,
    video: { encoders: ['mjpeg'], copies: [] },
  },
  {
    ext: 'h264',
    kind: 'video',
    mediaType: 'video/h264',
    aliases: ['264', 'avc'],
    demuxer: 'h264',
    muxer: 'h264',
    bare: true,
    untimed: true,
    video: { encoders: ['libx264'], copies: ['h264'] },
  },
  {
    ext: 'hevc',
    kind: 'video',
    mediaType: 'video/h265',
    aliases: ['h265', '265'],
    demuxer: 'hevc',
    muxer: 'hevc',
    bare: true,
    untimed: true,
    video: { encoders: ['libx265'], copies: ['hevc'] },
  },
  {
    ext: 'm2v',
    kind: 'video',
    mediaType: 'video/mpeg',
    contents: ['mpg', 'm2v'],
    demuxer: 'mpegvideo',
    muxer: 'mpeg2video',
    bare: true,
    untimed: true,
    video: { encoders: ['mpeg2video'], copies: ['mpeg2video'] },
  },
  {
    ext: 'm1v',
    kind: 'video',
    mediaType: 'video/mpeg',
    aliases: ['mpv'],
    contents: ['mpg', 'm2v', 'm1v'],
    demuxer: 'mpegvideo',
    muxer: 'mpeg1video',
    bare: true,
    untimed: true,
    video: { encoders: ['mpeg1video'], copies: ['mpeg1video'] },
  },
  {
    ext: 'y4m',
    kind: 'video',
    mediaType: 'video/x-yuv4mpeg',
    demuxer: 'yuv4mpegpipe',
    muxer: 'yuv4mpegpipe',
    untimed: true,
    video: { encoders: ['wrapped_avframe'], copies: [] },
  },
];

const pcm: AudioTrack = {
  encoders: ['pcm_s16le', 'pcm_s24le', 'pcm_s32le'],
  copies: ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le'],
};
const bigEndian: AudioTrack = { encoders: ['pcm_s16be', 'pcm_s24be'], copies: ['pcm_s16be', 'pcm_s24be', 'pcm_s32be'] };
const aacOnly: AudioTrack = { encoders: ['aac', 'alac'], copies: ['aac', 'alac'] };

function audio(
  ext: string,
  mediaType: string,
  muxer: string,
  encoders: AudioEncoder[],
  more: Partial<MediaFormat> & { copies?: string[] } = {},
): MediaFormat {
  const { copies = [], ...rest } = more;
  return { ext, kind: 'audio', mediaType, demuxer: muxer, muxer, audio: { encoders, copies }, ...rest };
}

export const audioFormats: MediaFormat[] = [
  audio('mp3', 'audio/mpeg', 'mp3', ['libmp3lame'], { copies: ['mp3'], cover: true }),
  audio('wav', 'audio/wav', 'wav', [], { audio: pcm, aliases: ['wave', 'bwf'], knowsDuration: true }),
  audio('rf64', 'audio/wav', 'wav', [], { audio: pcm, contents: ['wav', 'rf64'], muxerArgs: ['-rf64', 'always'] }),
  audio('w64', 'audio/x-w64', 'w64', [], { audio: pcm }),
  audio('flac', 'audio/flac', 'flac', ['flac'], { copies: ['flac'], cover: true, knowsDuration: true }),
  audio('ogg', 'audio/ogg', 'ogg', ['libvorbis', 'libopus', 'flac'], {
    copies: ['vorbis', 'opus'],
    contents: ogg,
    aliases: ['mogg'],
    knowsDuration: true,
  }),
  audio('oga', 'audio/ogg', 'oga', ['libvorbis', 'libopus', 'flac'], {
    copies: ['vorbis', 'opus', 'flac'],
    contents: ogg,
    demuxer: 'ogg',
    knowsDuration: true,
  }),
  audio('opus', 'audio/opus', 'opus', ['libopus'], {
    copies: ['opus'],
    contents: ogg,
    demuxer: 'ogg',
    knowsDuration: true,
  }),
  audio('spx', 'audio/x-speex', 'spx', ['libspeex'], {
    copies: ['speex'],
    contents: ogg,
    demuxer: 'ogg',
    knowsDuration: true,
    audio: { encoders: ['libspeex'], copies: ['speex'], rates: [8000, 16_000, 32_000], channels: 2 },
  }),
  audio('m4a', 'audio/mp4', 'ipod', [], { ...isoTraits, audio: aacOnly, cover: true, aliases: ['f4a'] }),
  audio('m4b', 'audio/mp4', 'ipod', [], { ...isoTraits, audio: aacOnly, cover: true }),
  audio('m4r', 'audio/mp4', 'ipod', ['aac'], { ...isoTraits, copies: ['aac'] }),
  audio('aac', 'audio/aac', 'adts', ['aac'], { copies: ['aac'], demuxer: 'aac', aliases: ['adts'] }),
  audio('wma', 'audio/x-ms-wma', 'asf', [], { audio: windowsVideo.audio, contents: asf, knowsDuration: true }),
  audio('aiff', 'audio/aiff', 'aiff', [], {
    audio: bigEndian,
    cover: true,
    muxerArgs: ['-write_id3v2', '1'],
    contents: ['aif', 'aifc'],
    aliases: ['aif'],
    knowsDuration: true,
  }),
  audio('aifc', 'audio/aiff', 'aiff', ['pcm_s16le'], { contents: ['aif', 'aiff'], knowsDuration: true }),
  audio('ac3', 'audio/ac3', 'ac3', ['ac3'], { copies: ['ac3'] }),
  audio('eac3', 'audio/eac3', 'eac3', ['eac3'], { copies: ['eac3'], contents: ['ac3'], aliases: ['ec3'] }),
  audio('dts', 'audio/vnd.dts', 'dts', ['dca'], { copies: ['dts'] }),
  // Read only: ffmpeg's encoders for them are experimental, and some of their output cannot be decoded.
  { ext: 'thd', kind: 'audio', mediaType: 'audio/vnd.dolby.mlp', demuxer: 'truehd', aliases: ['truehd'] },
  { ext: 'mlp', kind: 'audio', mediaType: 'audio/vnd.dolby.mlp', demuxer: 'mlp' },
  // Debian's ffmpeg has no encoder for AMR, so sox writes it from our own wav.
  audio('amr', 'audio/amr', 'amr', ['pcm_s16le'], {
    audio: { encoders: ['pcm_s16le'], copies: [], rates: [8000], channels: 1 },
  }),
  audio('au', 'audio/basic', 'au', [], { audio: bigEndian, aliases: ['snd'] }),
  audio('caf', 'audio/x-caf', 'caf', ['pcm_s16le', 'pcm_s24le', 'alac'], {
    copies: ['pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'alac'],
    knowsDuration: true,
  }),
  audio('mp2', 'audio/mpeg', 'mp2', ['mp2'], { copies: ['mp2'], demuxer: 'mp3', aliases: ['mpa'] }),
  audio('mka', 'audio/x-matroska', 'matroska', ['aac', 'libmp3lame', 'libopus', 'libvorbis', 'flac', 'ac3'], {
    copies: ['aac', 'mp3', 'opus', 'vorbis', 'flac', 'ac3', 'eac3', 'dts', 'alac', 'mp2', 'pcm_s16le', 'pcm_s24le'],
    contents: matroska,
    knowsDuration: true,
    manyTracks: true,
  }),
  audio('weba', 'audio/webm', 'webm', ['libopus', 'libvorbis'], {
    copies: ['opus', 'vorbis'],
    contents: matroska,
    demuxer: 'matroska',
    knowsDuration: true,
  }),
  audio('wv', 'audio/x-wavpack', 'wv', ['wavpack'], { copies: ['wavpack'], knowsDuration: true, blockSeconds: 1 }),
  audio('tta', 'audio/x-tta', 'tta', ['tta'], { copies: ['tta'], blockSeconds: 1.05 }),
  audio('voc', 'audio/x-voc', 'voc', ['pcm_s16le']),
  audio('gsm', 'audio/x-gsm', 'gsm', ['libgsm'], {
    audio: { encoders: ['libgsm'], copies: ['gsm'], rates: [8000], channels: 1 },
  }),
  audio('g722', 'audio/g722', 'g722', ['g722'], {
    audio: { encoders: ['g722'], copies: [], rates: [16_000], channels: 1 },
  }),
  audio('ra', 'audio/vnd.rn-realaudio', 'rm', ['ac3'], {
    contents: ['rm', 'ra'],
    untimed: true,
    audio: { encoders: ['ac3'], copies: [], channels: 2 },
  }),
  audio('adx', 'audio/x-adx', 'adx', ['adpcm_adx'], { audio: { encoders: ['adpcm_adx'], copies: [], channels: 2 } }),
  audio('mmf', 'application/vnd.smaf', 'mmf', ['adpcm_yamaha'], {
    audio: { encoders: ['adpcm_yamaha'], copies: [], rates: [8000, 11_025, 22_050, 44_100], channels: 1 },
  }),
  audio('sox', 'audio/x-sox', 'sox', ['pcm_s32le']),
  audio('sf', 'audio/x-ircam', 'ircam', ['pcm_s16le'], { aliases: ['ircam'] }),
  audio('ast', 'audio/x-ast', 'ast', ['pcm_s16be_planar']),
  {
    ext: 'mpc',
    kind: 'audio',
    mediaType: 'audio/x-musepack',
    demuxer: 'mpc8',
    demuxers: { 'MP+': 'mpc' },
    knowsDuration: true,
  },
  { ext: 'ape', kind: 'audio', mediaType: 'audio/x-ape', demuxer: 'ape', knowsDuration: true },
  { ext: 'avr', kind: 'audio', mediaType: 'audio/x-avr', demuxer: 'avr' },
  { ext: 'sph', kind: 'audio', mediaType: 'audio/x-nist', demuxer: 'nistsphere', aliases: ['nist'] },
  { ext: 'pvf', kind: 'audio', mediaType: 'audio/x-pvf', demuxer: 'pvf' },
  { ext: '8svx', kind: 'audio', mediaType: 'audio/x-8svx', demuxer: 'iff', aliases: ['iff'] },
  { ext: 'dsf', kind: 'audio', mediaType: 'audio/x-dsf', demuxer: 'dsf', knowsDuration: true },
  { ext: 'dff', kind: 'audio', mediaType: 'audio/x-dff', demuxer: 'iff', knowsDuration: true },
];

export const pictureFormats: MediaFormat[] = [
  { ext: 'gif', kind: 'animation', mediaType: 'image/gif', demuxer: 'gif', muxer: 'gif' },
  { ext: 'apng', kind: 'animation', mediaType: 'image/apng', demuxer: 'apng', muxer: 'apng' },
  { ext: 'webp', kind: 'animation', mediaType: 'image/webp', muxer: 'webp' },
  { ext: 'jpg', kind: 'still', mediaType: 'image/jpeg', aliases: ['jpeg'], muxer: 'image2' },
  { ext: 'png', kind: 'still', mediaType: 'image/png', muxer: 'image2' },
];

export const mediaFormats: MediaFormat[] = [...videoFormats, ...audioFormats, ...pictureFormats];

const byExtension = new Map(mediaFormats.map((format) => [format.ext, format]));

/** Finds a format by its canonical extension. */
export function mediaFormat(ext: string): MediaFormat {
  const format = byExtension.get(ext);
  if (!format) throw new Error(`The catalogue lists ${ext}, which this engine does not know.`);
  return format;
}
