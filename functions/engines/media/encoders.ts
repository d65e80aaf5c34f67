/** The properties of each encoder of ffmpeg that is used: plain data that planning and the catalogue read. */

interface VideoTraits {
  /** ffprobe's name for the codec of its output. */
  codec: string;
  label: string;
  /** Needs a constant frame rate or supports only some rates. */
  isSteady?: boolean;
  /** Has a constant quality mode. */
  hasFactor?: boolean;
  /** Has a target bit rate. */
  isSized?: boolean;
  /** Has a two-pass mode. */
  hasPasses?: boolean;
  /** The chroma that it supports with more than 8 bits. */
  deepChromas?: string[];
}

interface AudioTraits {
  codec: string;
  /** Absent if it is not offered as an option. */
  label?: string;
  /** Has a bit rate setting. */
  isRated?: boolean;
  /** Maximum number of channels. */
  channels?: number;
  /** Sample format of a lossless encoder for sources with at most 16 bits. */
  sixteenBits?: string;
  /** Seconds of stereo per second of CPU time, if slower than most. */
  speed?: number;
  /** Sample rates, if it supports only some. */
  rates?: number[];
}

const deep = ['420', '422', '444'];
const rated = { hasFactor: true, isSized: true, hasPasses: true };

const video = {
  libx264: { codec: 'h264', label: 'H.264', ...rated, deepChromas: deep },
  libx265: { codec: 'hevc', label: 'H.265 (HEVC)', hasFactor: true, isSized: true, deepChromas: deep },
  libsvtav1: { codec: 'av1', label: 'AV1', hasFactor: true, deepChromas: ['420'] },
  'libvpx-vp9': { codec: 'vp9', label: 'VP9', ...rated, deepChromas: deep },
  libvpx: { codec: 'vp8', label: 'VP8', ...rated },
  mpeg4: { codec: 'mpeg4', label: 'MPEG-4 Part 2 (DivX, Xvid)', ...rated, isSteady: true },
  mpeg2video: { codec: 'mpeg2video', label: 'MPEG-2', ...rated, isSteady: true },
  mpeg1video: { codec: 'mpeg1video', label: 'MPEG-1', ...rated, isSteady: true },
  wmv2: { codec: 'wmv2', label: 'Windows Media Video 8', ...rated, isSteady: true },
  flv: { codec: 'flv1', label: 'Sorenson Spark', ...rated, isSteady: true },
  libtheora: { codec: 'theora', label: 'Theora', ...rated, isSteady: true },
  rv20: { codec: 'rv20', label: 'RealVideo G2', hasFactor: true, isSteady: true },
  dvvideo: { codec: 'dvvideo', label: 'DV', isSteady: true },
  mjpeg: { codec: 'mjpeg', label: 'Motion JPEG', hasFactor: true, isSteady: true },
  prores_ks: { codec: 'prores', label: 'Apple ProRes 422' },
  ffv1: { codec: 'ffv1', label: 'FFV1 (lossless)', deepChromas: deep },
  wrapped_avframe: { codec: 'rawvideo', label: 'Uncompressed', isSteady: true },
} satisfies Record<string, VideoTraits>;

const lameRates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const wmaRates = [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000];
const opusRates = [8000, 12_000, 16_000, 24_000, 48_000];
const dolby = { isRated: true, channels: 6, rates: [32_000, 44_100, 48_000] };

const audio = {
  aac: { codec: 'aac', label: 'AAC', isRated: true, speed: 50, rates: [...lameRates, 64_000, 88_200, 96_000] },
  libmp3lame: { codec: 'mp3', label: 'MP3', isRated: true, channels: 2, speed: 90, rates: lameRates },
  libopus: { codec: 'opus', label: 'Opus', isRated: true, speed: 95, rates: opusRates },
  libvorbis: { codec: 'vorbis', label: 'Vorbis', isRated: true, speed: 57, rates: lameRates },
  flac: { codec: 'flac', label: 'FLAC (lossless)', sixteenBits: 's16' },
  alac: { codec: 'alac', label: 'Apple Lossless', sixteenBits: 's16p' },
  ac3: { codec: 'ac3', label: 'Dolby Digital (AC-3)', ...dolby },
  eac3: { codec: 'eac3', label: 'Dolby Digital Plus (E-AC-3)', ...dolby },
  mp2: {
    codec: 'mp2',
    label: 'MPEG Layer 2',
    isRated: true,
    channels: 2,
    rates: [16_000, 22_050, 24_000, ...dolby.rates],
  },
  wmav2: { codec: 'wmav2', label: 'Windows Media Audio 2', isRated: true, channels: 2, rates: wmaRates },
  dca: { codec: 'dts', channels: 6, speed: 42, rates: wmaRates },
  wavpack: { codec: 'wavpack', sixteenBits: 's16p' },
  tta: { codec: 'tta', sixteenBits: 's16' },
  libspeex: { codec: 'speex', channels: 2 },
  libgsm: { codec: 'gsm' },
  g722: { codec: 'adpcm_g722' },
  adpcm_adx: { codec: 'adpcm_adx' },
  adpcm_yamaha: { codec: 'adpcm_yamaha', channels: 2 },
  pcm_s16le: { codec: 'pcm_s16le', label: 'Uncompressed, 16 bits' },
  pcm_s16be: { codec: 'pcm_s16be', label: 'Uncompressed, 16 bits' },
  pcm_s24le: { codec: 'pcm_s24le', label: 'Uncompressed, 24 bits' },
  pcm_s24be: { codec: 'pcm_s24be', label: 'Uncompressed, 24 bits' },
  pcm_s32le: { codec: 'pcm_s32le', label: 'Uncompressed, 32 bits' },
  pcm_s16be_planar: { codec: 'pcm_s16be_planar' },
} satisfies Record<string, AudioTraits>;

export type VideoEncoder = keyof typeof video;
export type AudioEncoder = keyof typeof audio;

export const videoEncoders: Record<VideoEncoder, VideoTraits> = video;
export const audioEncoders: Record<AudioEncoder, AudioTraits> = audio;

const encoders = { ...video, ...audio };

/** Returns ffprobe's name for the codec of an encoder's output. */
export function codecOf(encoder: VideoEncoder | AudioEncoder): string {
  return encoders[encoder].codec;
}
