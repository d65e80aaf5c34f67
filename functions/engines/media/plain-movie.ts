import { open } from 'node:fs/promises';
import type { InputFile } from '../runtime/engine.ts';
import { type Box, boxes, read, topBoxes } from './container.ts';
import type { AudioStream, Probe, VideoStream } from './probe.ts';
import { tagsOf } from './tags.ts';

/** Boxes of a file that was simply encoded. Others may hold tags, fragments or protection, which ffprobe has to read. */
const plainBoxes = {
  movie: ['mvhd', 'trak', 'udta', 'iods', 'free'],
  track: ['tkhd', 'edts', 'mdia'],
  media: ['mdhd', 'hdlr', 'minf'],
  information: ['vmhd', 'smhd', 'dinf', 'stbl'],
  samples: ['stsd', 'stts', 'ctts', 'stss', 'stsc', 'stsz', 'stco', 'co64', 'sdtp', 'sgpd', 'sbgp'],
  audio: ['esds', 'btrt'],
};
/** Tags that describe the content, by their names in the file. */
const plainTags = ['©nam', '©ART', 'aART', '©alb', '©day', '©gen', '©wrt', '©cmt', 'trkn', 'disk', 'cprt', 'desc'];
/** Tags that ffprobe makes of the brands in the first box. */
const brandTags = { major_brand: '', minor_version: '', compatible_brands: '' };
/** Codecs by the names of their sample entries. */
const videoCodecs: Record<string, string> = {
  avc1: 'h264',
  avc3: 'h264',
  hvc1: 'hevc',
  hev1: 'hevc',
  vp09: 'vp9',
  av01: 'av1',
};
/** By the index in AAC's header. Below 32 kHz, the decoder may find twice the rate and channels in the audio itself. */
const rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000];
/** An index of an hour. Starting ffprobe takes no noticeable part of converting more. */
const maxPlainBytes = 8_000_000;
/** How much edits and rounding may change a duration, in seconds. */
const slack = 0.25;

/** The file is not plain. Never leaves this module. */
class Unusual extends Error {}

/**
 * Probes an MP4 file with AAC audio for a conversion to audio, in a millisecond; ffprobe takes tens to start. Returns
 * `undefined` for a file that is unusual in any way. Of the video, only what the limits need is read.
 */
export async function probePlainMovie({ path, size }: Pick<InputFile, 'path' | 'size'>): Promise<Probe | undefined> {
  const file = await open(path);
  try {
    const parts = [];
    for await (const part of topBoxes(file, size)) parts.push(part);
    const [type, ...others] = parts.filter((part) => part.type !== 'mdat' && part.type !== 'free');
    const [movie, ...more] = others;
    if (type?.type !== 'ftyp' || type.at > 0 || movie?.type !== 'moov' || more.length > 0) return undefined;
    if (movie.at + movie.length > size || movie.length > maxPlainBytes) return undefined;
    // QuickTime has other languages and tags, and a file without compatible brands has one tag less.
    if (nameAt(await read(file, 0, 12), 8) === 'qt  ' || type.length < 20) return undefined;
    return movieOf(await read(file, movie.at, movie.length));
  } catch (error) {
    // Reads beyond the end of a damaged index are range errors.
    if (error instanceof Unusual || error instanceof RangeError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

function movieOf(index: Buffer): Probe {
  const children = inside(index, { from: 8, to: index.length }, plainBoxes.movie);
  const { seconds } = timesOf(index, one(children, 'mvhd'));
  const tracks = children.filter(({ type }) => type === 'trak').map((track, at) => trackOf(index, track, at));
  const videos = tracks.flatMap(({ video }) => video ?? []);
  const audio = tracks.flatMap(({ audio }) => audio ?? []);
  const longest = Math.max(...tracks.map((track) => track.seconds));
  if (videos.length > 1 || audio.length === 0 || !(Math.abs(seconds - longest) <= slack)) throw new Unusual();
  const tags = children.filter(({ type }) => type === 'udta').flatMap((udta) => tagsIn(index, udta));
  const named = { ...brandTags, ...(tags.includes('©too') ? { encoder: '' } : {}) };
  return {
    seconds,
    video: videos[0],
    audio,
    subtitles: [],
    cover: undefined,
    moreVideos: 0,
    attachments: 0,
    tags: tagsOf(named, tracks),
  };
}

interface Track {
  seconds: number;
  video?: VideoStream;
  audio?: AudioStream;
  tags: Record<string, string>;
}

function trackOf(index: Buffer, track: Box, at: number): Track {
  const children = inside(index, track, plainBoxes.track);
  const media = inside(index, one(children, 'mdia'), plainBoxes.media);
  const { seconds: declared, scale, after } = timesOf(index, one(media, 'mdhd'));
  const language = languageAt(index, after);
  const samples = inside(
    index,
    one(inside(index, one(media, 'minf'), plainBoxes.information), 'stbl'),
    plainBoxes.samples,
  );
  const { count, seconds } = durationOf(index, one(samples, 'stts'), scale);
  if (Math.abs(seconds - declared) > slack || !hasPlainEdits(index, children, scale)) throw new Unusual();
  const [entry, ...others] = boxes(index, one(samples, 'stsd').from + 8, one(samples, 'stsd').to);
  if (!entry || others.length > 0) throw new Unusual();
  const handler = one(media, 'hdlr');
  const tags = { handler_name: index.toString('utf8', handler.from + 24, handler.to) };
  const kind = nameAt(index, handler.from + 8);
  if (kind === 'soun') return { seconds, tags, audio: audioOf(index, entry, { index: at, language }) };
  if (kind !== 'vide') throw new Unusual();
  const codec = videoCodecs[entry.type];
  if (codec === undefined) throw new Unusual();
  const video: VideoStream = {
    index: at,
    language,
    codec,
    width: index.readUInt16BE(entry.from + 24),
    height: index.readUInt16BE(entry.from + 26),
    framesPerSecond: count / seconds,
    pixelAspect: 1,
    rotated: false,
    pixelFormat: '',
    matrix: '',
    interlaced: false,
    highDynamicRange: false,
  };
  const hasEncoder = index[entry.from + 42] !== 0;
  return { seconds, video, tags: hasEncoder ? { ...tags, encoder: '' } : tags };
}

/** Reads the times in the header of the movie or of a track's media. Returns the position after them too. */
function timesOf(index: Buffer, { from }: Box): { scale: number; seconds: number; after: number } {
  const isLong = index[from] === 1;
  const at = from + (isLong ? 20 : 12);
  const scale = index.readUInt32BE(at);
  const duration = isLong ? Number(index.readBigUInt64BE(at + 4)) : index.readUInt32BE(at + 4);
  if (scale === 0) throw new Unusual();
  return { scale, seconds: duration / scale, after: at + (isLong ? 12 : 8) };
}

/** Reads a language of three letters with five bits each. Others are those of the first Macintosh. */
function languageAt(index: Buffer, at: number): string | undefined {
  const code = index.readUInt16BE(at);
  const language = [10, 5, 0].map((bits) => String.fromCharCode(((code >> bits) & 31) + 0x60)).join('');
  if (!/^[a-z]{3}$/.test(language)) throw new Unusual();
  return language === 'und' ? undefined : language;
}

/** Counts the samples and adds up their durations. */
function durationOf(index: Buffer, { from, to }: Box, scale: number): { count: number; seconds: number } {
  let count = 0;
  let units = 0;
  for (let at = from + 8; at + 8 <= to; at += 8) {
    count += index.readUInt32BE(at);
    units += index.readUInt32BE(at) * index.readUInt32BE(at + 4);
  }
  if (count === 0 || units === 0) throw new Unusual();
  return { count, seconds: units / scale };
}

/** Returns whether a track has no edits but the skipping of what an encoder inserts before the first sample. */
function hasPlainEdits(index: Buffer, track: Box[], scale: number): boolean {
  const edits = track.find(({ type }) => type === 'edts');
  if (!edits) return true;
  const list = one(inside(index, edits, ['elst']), 'elst');
  if (index[list.from] !== 0 || index.readUInt32BE(list.from + 4) !== 1) return false;
  const start = index.readInt32BE(list.from + 12) / scale;
  return start >= 0 && start <= slack && index.readUInt32BE(list.from + 16) === 0x10000;
}

/** Reads a track of AAC with low complexity, the profile of almost all files. */
function audioOf(index: Buffer, entry: Box, stream: Pick<AudioStream, 'index' | 'language'>): AudioStream {
  // Later versions of the entry, in QuickTime, are longer.
  if (entry.type !== 'mp4a' || index.readUInt16BE(entry.from + 8) !== 0) throw new Unusual();
  const header = one(inside(index, { ...entry, from: entry.from + 28 }, plainBoxes.audio), 'esds');
  const [outer, outerAt] = descriptor(index, header.from + 4, 3);
  if (outer < 3 || index[outerAt + 2] !== 0) throw new Unusual();
  const [, decoderAt] = descriptor(index, outerAt + 3, 4);
  if (index[decoderAt] !== 0x40) throw new Unusual();
  const [length, at] = descriptor(index, decoderAt + 13, 5);
  const bits = index.readUInt16BE(at);
  // Longer ones announce a second layer, except for this one, which says that there is none.
  const hasOneLayer = length === 2 || (length === 5 && index.readUIntBE(at + 2, 3) === 0x56e500);
  const rate = rates[(bits >> 7) & 15];
  const channels = [0, 1, 2, 3, 4, 5, 6, 8][(bits >> 3) & 15];
  if (!hasOneLayer || bits >> 11 !== 2 || rate === undefined || !channels) throw new Unusual();
  return { ...stream, codec: 'aac', rate, channels, bitsPerSample: 0, bitRate: undefined, start: 0 };
}

/** Returns the length and position of a descriptor's content. The length has seven bits per byte. */
function descriptor(index: Buffer, at: number, tag: number): [length: number, at: number] {
  if (index[at] !== tag) throw new Unusual();
  let length = 0;
  for (let next = at + 1; next < at + 5; next++) {
    const byte = index.readUInt8(next);
    length = length * 128 + (byte & 0x7f);
    if (byte < 0x80) return [length, next + 1];
  }
  throw new Unusual();
}

/** Lists the tags in a file's user data. Throws if they are not all plain. */
function tagsIn(index: Buffer, userData: Box): string[] {
  const meta = one(inside(index, userData, ['meta']), 'meta');
  const children = inside(index, { ...meta, from: meta.from + 4 }, ['hdlr', 'ilst', 'free']);
  return inside(index, one(children, 'ilst'), [...plainTags, '©too']).map(({ type }) => type);
}

/** Lists the boxes in a box. Throws if one is not known or exceeds its parent, or if other bytes follow. */
function inside(index: Buffer, { from, to }: Pick<Box, 'from' | 'to'>, known: string[]): Box[] {
  const found = boxes(index, from, to);
  const isWhole = (box: Box) => index.readUInt32BE(box.from - 8) === box.to - box.from + 8;
  const end = found.at(-1)?.to ?? from;
  if (end !== to || !found.every((box) => isWhole(box) && known.includes(box.type))) throw new Unusual();
  return found;
}

function one(found: Box[], type: string): Box {
  const [first, ...others] = found.filter((box) => box.type === type);
  if (!first || others.length > 0) throw new Unusual();
  return first;
}

function nameAt(index: Buffer, at: number): string {
  return index.toString('latin1', at, at + 4);
}
