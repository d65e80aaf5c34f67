import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError, type OutputFile } from '../../runtime/engine.ts';
import type { Content } from '../../runtime/remote-files.ts';
import { zipOf } from '../../runtime/zip.ts';
import type { Joined } from '../chunk.ts';
import { explained } from '../explain.ts';
import { mediaFormat } from '../formats.ts';
import { perSecond } from '../plan.ts';
import { openingArgs } from '../probe.ts';
import { type MediaRun, runFfmpeg, withShare } from '../programs.ts';
import { earlyEnd, type ProbedJob } from '../transcode.ts';
import { endsEarly, incomplete } from '../verify.ts';
import { captionSegments } from './captions.ts';
import { readTrack } from './fragments.ts';
import { trackNames } from './languages.ts';
import { manifest } from './manifest.ts';
import { streamRequest } from './options.ts';
import type { Streamed, StreamedCaptions, StreamedSound, StreamedVideo, StreamPackage } from './package.ts';
import { files, maxStreamBytes, planStream, type StreamPart, type StreamPlan } from './plan.ts';
import { keyPlaylist, keyRatesOf, masterPlaylist, mediaPlaylist, segmentName, targetOf } from './playlists.ts';
import { ratesOf, type Segment, segmentsOf } from './segments.ts';
import { spriteIndex } from './thumbnails.ts';

/**
 * Converts a file to a ZIP of segments with the playlists of HLS and the manifest of DASH. Pictures and sound that were encoded
 * in parts are copied.
 */
export async function convertToStream(job: ProbedJob, run: MediaRun, joined?: Joined): Promise<OutputFile> {
  const { input, probe, target, path } = job;
  const from = mediaFormat(input.format);
  const request = streamRequest(job.options, probe.seconds);
  const planned = planStream(probe, from, target, request, run.timeLimit(), { joined });
  const folder = `${path}-parts`;
  await mkdir(folder);
  await explained(input, () =>
    runFfmpeg(
      [...planned.before, ...openingArgs(from, input.path), ...planned.after],
      withShare({ ...run, folder }, planned.seconds, job.onShare),
    ),
  );
  const made = await readPackage(planned, request.segmentSeconds, folder);
  const promised = from.knowsDuration ? (probe.promisedSeconds ?? planned.seconds) : undefined;
  const warning = promised === undefined ? undefined : earlyEnd({ probe, request }, promised, made.seconds);
  if (warning === undefined && promised !== undefined && endsEarly(made.seconds, promised))
    throw new EngineError(incomplete(made.seconds, promised));
  const zip = await zipOf(await entriesOf(made, folder));
  await pipeline(zip.chunks(), createWriteStream(path), { signal: run.signal });
  await rm(folder, { recursive: true });
  run.warn([...(warning === undefined ? [] : [warning]), ...planned.warnings]);
  return { path, name: withExtension(input.name, 'zip'), format: target.ext };
}

/** Encodes a part of a split run: the pictures of a chunk in all renditions, or all sound. */
export async function encodeStreamPart(job: ProbedJob, part: StreamPart, run: MediaRun): Promise<OutputFile> {
  const { input, probe, target, options, onShare } = job;
  const from = mediaFormat(input.format);
  const request = streamRequest(options, probe.seconds);
  const { before, after, load } = planStream(probe, from, target, request, run.timeLimit(), part);
  await explained(input, () =>
    runFfmpeg([...before, ...openingArgs(from, input.path), ...after], withShare(run, load?.seconds, onShare)),
  );
  return { path: join(run.folder, files.part), name: files.part, format: 'mp4' };
}

async function readPackage(planned: StreamPlan, segmentSeconds: number, folder: string): Promise<StreamPackage> {
  const videos = await Promise.all(
    planned.renditions.map(async ({ name, width, height }, index): Promise<StreamedVideo> => {
      const streamed = await readStreamed(name, join(folder, files.video(index)), segmentSeconds);
      const { size } = streamed.track;
      if (size?.width !== width || size.height !== height)
        throw new Error(`The rendition ${name} is ${size?.width} × ${size?.height} pixels.`);
      return { ...streamed, size, keyRates: keyRatesOf(streamed.segments) };
    }),
  );
  requireSwitchable(videos);
  const labels = trackNames(
    'Audio',
    planned.sounds.map(({ stream }) => stream),
  );
  const sounds = await Promise.all(
    planned.sounds.map(async ({ channels, stream }, index): Promise<StreamedSound> => {
      const name = `audio-${index + 1}`;
      const streamed = await readStreamed(name, join(folder, files.sound(index)), segmentSeconds);
      const label = labels[index] ?? { language: undefined, name };
      return { ...streamed, label, channels, rate: streamed.track.timescale || stream.rate };
    }),
  );
  const longest = [...videos, ...sounds].map(({ segments }) => endOf(segments));
  const [first] = [...videos, ...sounds];
  const rate = perSecond(planned.rate) ?? 0;
  return {
    videos,
    sounds,
    captions: await readCaptions(planned, first?.segments ?? [], folder),
    sprites: planned.sprites,
    rate,
    frameRate: typeof planned.rate === 'string' ? planned.rate : fraction(rate),
    seconds: Math.max(...longest),
    segmentSeconds,
  };
}

function fraction(rate: number): string {
  return Number.isInteger(rate) ? String(rate) : `${Math.round(rate * 1000)}/1000`;
}

async function readStreamed(name: string, path: string, segmentSeconds: number): Promise<Streamed> {
  if ((await stat(path)).size >= maxStreamBytes * 0.99) throw tooLarge();
  const track = await readTrack(path);
  if (!track) throw new EngineError('Nothing in the file could be decoded: it is damaged or incomplete.');
  const segments = segmentsOf(track, segmentSeconds);
  return { name, track, segments, rates: ratesOf(segments, targetOf(segments)) };
}

function tooLarge(): EngineError {
  return new EngineError(
    `The segments would be larger than ${maxStreamBytes / 1_000_000_000} GB. Choose fewer renditions or trim the file.`,
  );
}

/** Throws if players could not switch between renditions at every segment. */
function requireSwitchable(videos: StreamedVideo[]): void {
  const starts = videos.map(({ segments }) => segments.map(({ start }) => start.toFixed(3)).join());
  if (new Set(starts).size > 1) throw new Error('The renditions have segments of different times.');
  const isStart = ({ fragments }: Segment) => fragments.every(({ isKey }) => isKey);
  if (!videos.every(({ segments }) => segments.every(isStart)))
    throw new Error('A segment does not begin with a key frame.');
}

function endOf(segments: Segment[]): number {
  const last = segments.at(-1);
  return last ? last.start + last.seconds : 0;
}

async function readCaptions(
  { captions }: StreamPlan,
  segments: Segment[],
  folder: string,
): Promise<StreamedCaptions[]> {
  const labels = trackNames('Subtitles', captions);
  return Promise.all(
    captions.map(async (_, index): Promise<StreamedCaptions> => {
      const name = `subtitles-${index + 1}`;
      const whole = await readFile(join(folder, files.captions(index)), 'utf8');
      return {
        name,
        label: labels[index] ?? { language: undefined, name },
        whole,
        bytes: Buffer.byteLength(whole),
        segments: captionSegments(whole, segments),
      };
    }),
  );
}

type Entry = { name: string; content: Content };

/** Lists the files of the ZIP. */
async function entriesOf(made: StreamPackage, folder: string): Promise<Entry[]> {
  const { videos, sounds, captions, sprites } = made;
  const timeline = [...videos, ...sounds][0]?.segments ?? [];
  const sprited = (await readdir(folder)).filter((file) => file.endsWith('.jpg')).sort();
  const spriteNames = sprited.map((_, index) => `${String(index + 1).padStart(3, '0')}.jpg`);
  const spriteSizes = await Promise.all(sprited.map(async (file) => (await stat(join(folder, file))).size));
  const entries = [
    text('master.m3u8', masterPlaylist(made)),
    text('manifest.mpd', manifest(made)),
    ...videos.map(({ name, segments }) => text(`${name}/iframes.m3u8`, keyPlaylist(segments))),
    ...[...videos, ...sounds].flatMap(({ name, track, segments }) => [
      text(`${name}/playlist.m3u8`, mediaPlaylist(segments, 'm4s')),
      part(`${name}/init.mp4`, track.path, 0, track.initBytes),
      ...segments.map(({ at, bytes }, index) => part(`${name}/${segmentName(index, 'm4s')}`, track.path, at, bytes)),
    ]),
    ...captions.flatMap(({ name, segments, whole }) => [
      text(`${name}/playlist.m3u8`, mediaPlaylist(timeline, 'vtt')),
      text(`${name}/all.vtt`, whole),
      ...segments.map((segment, index) => text(`${name}/${segmentName(index, 'vtt')}`, segment)),
    ]),
    ...(sprites ? [text('thumbnails/thumbnails.vtt', spriteIndex(sprites, endOf(timeline), spriteNames))] : []),
    ...sprited.map((file, index) =>
      part(`thumbnails/${spriteNames[index]}`, join(folder, file), 0, spriteSizes[index] ?? 0),
    ),
  ];
  if (entries.reduce((sum, { content }) => sum + content.size, 0) > maxStreamBytes) throw tooLarge();
  return entries;
}

function text(name: string, content: string): Entry {
  const bytes = Buffer.from(content);
  return {
    name,
    content: {
      size: bytes.length,
      isUnchanged: () => true,
      async *chunks() {
        yield bytes;
      },
    },
  };
}

function part(name: string, path: string, at: number, size: number): Entry {
  const chunks = (): Readable => createReadStream(path, { start: at, end: at + size - 1 });
  return { name, content: { size, isUnchanged: () => true, chunks } };
}
