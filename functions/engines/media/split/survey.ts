import type { Survey } from '../../runtime/protocol.ts';
import { maxGapSeconds } from '../chunk.ts';
import { mediaFormat } from '../formats.ts';
import { streamRequest } from '../hls/options.ts';
import { planStream } from '../hls/plan.ts';
import { fallbackRate, type MediaRequest, maxRate, type Plan, perSecond, plan } from '../plan.ts';
import { presets, usualPreset } from '../presets.ts';
import type { MediaRun } from '../programs.ts';
import { estimate } from '../time-limit.ts';
import type { ProbedJob, Transcode } from '../transcode.ts';
import { maxBoundaries, maxPackets, type Packet, PacketTimes, type Pictures } from './boundaries.ts';
import { listPackets } from './fetched.ts';
import { PacketPlaces } from './source-reads.ts';

/** Formats that chunks can be joined to. */
const targets = ['mp4', 'mov', 'mkv', 'webm'];
/** Demuxers that find any time of a file by its index. */
const indexed = ['mov', 'matroska'];

/** Surveys a source: how long its run takes, and at which times it can be split. */
export async function survey(job: Transcode, run: MediaRun): Promise<Survey> {
  const { input, probe, target, request } = job;
  const { load, ...planned } = plan(probe, mediaFormat(input.format), target, request);
  // Chunks have the default preset, even if a whole run would need a faster one.
  const preset = presets.find((known) => known === request.video.preset) ?? usualPreset;
  const facts = {
    seconds: load ? estimate(load, preset, run.timeLimit().cores) : 0,
    start: 0,
    end: probe.seconds ?? 0,
    sound: planned.expected.audio,
  };
  const byPlan = load?.pictures ? reasonByPlan(job, planned) : 'The video is not encoded.';
  if (byPlan) return { ...facts, whole: byPlan };
  const places = new PacketPlaces(job);
  const pictures = await readPictures(job, places, run);
  if (!pictures) return { ...facts, whole: 'The pictures of the video have no times of their own.' };
  const byPictures = reasonByPictures(job, planned, pictures);
  if (byPictures) return { ...facts, whole: byPictures };
  const { start, last, boundaries } = pictures;
  const end = Math.max(last, probe.seconds ?? 0);
  const reads = await places.reads(pictures, [start, ...boundaries, end]);
  return { ...facts, start, end, boundaries, ...(reads ? { reads } : {}) };
}

/** How long before a boundary between segments the source has a key frame, at the most: a chunk decodes from there. */
const maxKeySeconds = 20;

/** Surveys a source of HLS or DASH, whose chunks begin where segments do. */
export async function surveyStream(job: ProbedJob, inputs: number, run: MediaRun): Promise<Survey> {
  const { input, probe, target, options } = job;
  const from = mediaFormat(input.format);
  const request = streamRequest(options, probe.seconds);
  const unlimited = { ...run.timeLimit(), usual: Number.POSITIVE_INFINITY, max: Number.POSITIVE_INFINITY };
  const { load, rate, sounds } = planStream(probe, from, target, request, unlimited);
  const preset = presets.find((known) => known === request.preset) ?? usualPreset;
  const facts = {
    seconds: load ? estimate(load, preset, unlimited.cores) : 0,
    start: 0,
    end: probe.seconds ?? 0,
    sound: sounds.length > 0,
  };
  const reason =
    inputs > 1
      ? 'The task has several files.'
      : load?.pictures
        ? reasonBySource(job, request)
        : 'The file has no video.';
  if (reason) return { ...facts, whole: reason };
  const pictures = await readPictures(job, new PacketPlaces(job), run);
  if (!pictures) return { ...facts, whole: 'The pictures of the video have no times of their own.' };
  if (pictures.maxGap > maxGapSeconds) return { ...facts, whole: 'The video has gaps that its filters fill.' };
  const { start, last, boundaries: keys } = pictures;
  const { segmentSeconds } = request;
  const end = Math.max(last, probe.seconds ?? 0);
  const frameSeconds = 1 / (perSecond(rate) ?? fallbackRate);
  const step = segmentSeconds * Math.max(1, Math.ceil(end / segmentSeconds / maxBoundaries));
  const boundaries: number[] = [];
  let [at, key] = [0, start];
  for (let time = step; time < last - frameSeconds; time += step) {
    for (; (keys[at] ?? end) <= time; at++) key = keys[at] ?? key;
    if (time > start && time - key <= maxKeySeconds) boundaries.push(time);
  }
  if (boundaries.length === 0)
    return { ...facts, whole: 'The video has no key frames at the segments between which it could be split.' };
  return { ...facts, end, boundaries };
}

/** Returns why a run cannot be split, from what is known without its packets. */
function reasonByPlan({ input, probe, target, request }: Transcode, planned: Pick<Plan, 'after'>): string | undefined {
  if (!targets.includes(target.ext)) return `Chunks cannot be joined to ${target.ext}.`;
  const bySource = reasonBySource({ input, probe }, request);
  if (bySource) return bySource;
  if (!filtersOf(planned)) return 'The subtitles that are drawn are pictures.';
  const isFast = (probe.video?.framesPerSecond ?? 0) > maxRate && !hasRate(planned);
  return isFast ? `The video has more than ${maxRate} frames per second.` : undefined;
}

/** Returns why a source cannot be split, whatever it is converted to. */
function reasonBySource(
  { input, probe }: Pick<ProbedJob, 'input' | 'probe'>,
  { cut }: Pick<MediaRequest, 'cut'>,
): string | undefined {
  const { video, moreVideos } = probe;
  if (!indexed.includes(mediaFormat(input.format).demuxer ?? ''))
    return `${input.format} has no index of its pictures.`;
  if (probe.seconds === undefined) return 'The duration of the video is unknown.';
  if (cut) return 'The video is trimmed.';
  if (moreVideos) return 'The file has several videos.';
  return !video || video.sparse ? 'The video is a slide show.' : undefined;
}

/** Returns why a run cannot be split, from its packets. */
function reasonByPictures(
  { probe: { video } }: Transcode,
  planned: Pick<Plan, 'after'>,
  { boundaries, maxGap, isOnGrid }: Pictures,
): string | undefined {
  const needsNeighbours = hasRate(planned) || video?.interlaced;
  if (needsNeighbours && maxGap > maxGapSeconds) return 'The video has gaps that its filters fill.';
  if (!hasRate(planned) && video?.steadyRate !== undefined && !isOnGrid)
    return 'The video does not have the constant frame rate that it declares.';
  return boundaries.length === 0 ? 'The video has no key frames between which it could be split.' : undefined;
}

/** Returns the filters of a video. Without a chain of its own, it is drawn on. */
function filtersOf({ after }: Pick<Plan, 'after'>): string | undefined {
  const at = after.indexOf('-filter:v:0');
  return at < 0 ? undefined : after[at + 1];
}

/** Returns whether a plan sets a frame rate. */
export function hasRate(planned: Pick<Plan, 'after'>): boolean {
  return /(?:^|,)fps=/.test(filtersOf(planned) ?? '');
}

/** Reads the times of all packets of a video. Returns undefined if not every picture has its own. */
async function readPictures(
  { input, probe, onShare }: ProbedJob,
  places: PacketPlaces,
  run: MediaRun,
): Promise<Pictures | undefined> {
  const { video, start = 0, seconds = 0 } = probe;
  if (!video) return undefined;
  const times = new PacketTimes();
  const add = (packet: Packet) => {
    places.add(packet);
    if (packet.stream !== video.index) return;
    times.add(packet);
    if (times.count % 1000 === 0 && seconds > 0) onShare(Math.min(1, Math.max(0, packet.seconds - start) / seconds));
  };
  // Of an index, all packets are listed, because the sound and the subtitles are to be found as well.
  const streams = input.ranges ? [] : ['-select_streams', String(video.index)];
  const max = maxPackets * (input.ranges ? 4 : 1);
  await listPackets(input, [...streams, '-read_intervals', `%+#${max}`], run, add);
  if (places.count >= max) return undefined;
  const [frames = 0, per = 0] = (video.steadyRate ?? '').split('/').map(Number);
  return times.pictures(start, frames > 0 && per > 0 ? frames / per : undefined);
}
