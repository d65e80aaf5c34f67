import type { TrackName } from './languages.ts';
import type { StreamPackage } from './package.ts';
import { ratesOf, type Segment } from './segments.ts';

const header = ['#EXTM3U', '#EXT-X-VERSION:7'];

/** Writes the playlist of all variants. */
export function masterPlaylist({ videos, sounds, captions, rate }: StreamPackage): string {
  const audio = sounds.length > 1 || videos.length > 0 ? sounds : [];
  const loudest = {
    average: Math.max(0, ...sounds.map(({ rates }) => rates.average)),
    peak: Math.max(0, ...sounds.map(({ rates }) => rates.peak)),
  };
  const groups = [
    ...(audio.length > 0 ? ['AUDIO="audio"'] : []),
    ...(captions.length > 0 ? ['SUBTITLES="subtitles"'] : []),
  ];
  const [sound] = sounds;
  const variants = videos.flatMap(({ name, size, track, rates }) => [
    tag('STREAM-INF', [
      `BANDWIDTH=${rates.peak + loudest.peak}`,
      `AVERAGE-BANDWIDTH=${rates.average + loudest.average}`,
      `CODECS="${[track.codec, ...(sound ? [sound.track.codec] : [])].join(',')}"`,
      `RESOLUTION=${size.width}x${size.height}`,
      `FRAME-RATE=${rate.toFixed(3)}`,
      'VIDEO-RANGE=SDR',
      ...groups,
      'CLOSED-CAPTIONS=NONE',
    ]),
    `${name}/playlist.m3u8`,
  ]);
  const soundOnly =
    videos.length > 0 || !sound
      ? []
      : [
          tag('STREAM-INF', [
            `BANDWIDTH=${loudest.peak}`,
            `AVERAGE-BANDWIDTH=${loudest.average}`,
            `CODECS="${sound.track.codec}"`,
            ...groups,
          ]),
          `${sound.name}/playlist.m3u8`,
        ];
  return lines([
    ...header,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...audio.map((each, at) => media('AUDIO', 'audio', each, at === 0, [`CHANNELS="${each.channels}"`])),
    ...captions.map((each) => media('SUBTITLES', 'subtitles', each, false, ['FORCED=NO'])),
    ...variants,
    ...soundOnly,
    ...videos.map(({ name, size, track, keyRates }) =>
      tag('I-FRAME-STREAM-INF', [
        `BANDWIDTH=${keyRates.peak}`,
        `AVERAGE-BANDWIDTH=${keyRates.average}`,
        `CODECS="${track.codec}"`,
        `RESOLUTION=${size.width}x${size.height}`,
        'VIDEO-RANGE=SDR',
        `URI="${name}/iframes.m3u8"`,
      ]),
    ),
  ]);
}

function media(
  type: 'AUDIO' | 'SUBTITLES',
  group: string,
  { name, label }: { name: string; label: TrackName },
  isDefault: boolean,
  more: string[],
): string {
  return tag('MEDIA', [
    `TYPE=${type}`,
    `GROUP-ID="${group}"`,
    `NAME="${label.name}"`,
    ...(label.language === undefined ? [] : [`LANGUAGE="${label.language}"`]),
    `DEFAULT=${isDefault ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    ...more,
    `URI="${name}/playlist.m3u8"`,
  ]);
}

/** Writes the playlist of the segments of a track. */
export function mediaPlaylist(segments: Segment[], extension: 'm4s' | 'vtt'): string {
  return lines([
    ...mediaHeader(segments),
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(extension === 'm4s' ? ['#EXT-X-MAP:URI="init.mp4"'] : []),
    ...segments.flatMap(({ seconds }, at) => [duration(seconds), segmentName(at, extension)]),
    '#EXT-X-ENDLIST',
  ]);
}

/** Writes the playlist of the key frames of a track, by which players show pictures while they seek. */
export function keyPlaylist(segments: Segment[]): string {
  const frames = keyFrames(segments);
  return lines([
    ...mediaHeader(frames),
    '#EXT-X-I-FRAMES-ONLY',
    '#EXT-X-MAP:URI="init.mp4"',
    ...frames.flatMap(({ seconds, bytes, offset, segment }) => [
      duration(seconds),
      `#EXT-X-BYTERANGE:${bytes}@${offset}`,
      segmentName(segment, 'm4s'),
    ]),
    '#EXT-X-ENDLIST',
  ]);
}

/** Lists the key frames of a track, each up to the next. */
export function keyFrames(segments: Segment[]): { seconds: number; bytes: number; offset: number; segment: number }[] {
  return segments.flatMap(({ at, fragments }, segment) =>
    fragments.map((fragment) => ({
      seconds: fragment.seconds,
      bytes: fragment.firstSampleBytes,
      offset: fragment.at - at,
      segment,
    })),
  );
}

/** Returns the rates of the key frames of a track. */
export function keyRatesOf(segments: Segment[]): ReturnType<typeof ratesOf> {
  const frames = keyFrames(segments);
  return ratesOf(frames, targetOf(frames));
}

/** Returns the name of a segment, which the manifest of DASH derives from its number. */
export function segmentName(at: number, extension: string): string {
  return `${String(at + 1).padStart(5, '0')}.${extension}`;
}

/** Returns the target duration of parts: no part is longer, rounded to whole seconds. */
export function targetOf(parts: { seconds: number }[]): number {
  return parts.reduce((longest, { seconds }) => Math.max(longest, Math.round(seconds)), 1);
}

function mediaHeader(parts: { seconds: number }[]): string[] {
  return [...header, `#EXT-X-TARGETDURATION:${targetOf(parts)}`, '#EXT-X-PLAYLIST-TYPE:VOD'];
}

function duration(seconds: number): string {
  return `#EXTINF:${seconds.toFixed(6)},`;
}

function tag(name: string, attributes: string[]): string {
  return `#EXT-X-${name}:${attributes.join(',')}`;
}

function lines(texts: string[]): string {
  return `${texts.join('\n')}\n`;
}
