import type { Survey } from '../../runtime/protocol.ts';
import { maxGapSeconds } from '../chunk.ts';
import { explained } from '../explain.ts';
import { mediaFormat } from '../formats.ts';
import { maxRate, type Plan, plan } from '../plan.ts';
import { presets, usualPreset } from '../presets.ts';
import { openingArgs } from '../probe.ts';
import { listByFfprobe, type MediaRun } from '../programs.ts';
import { estimate } from '../time-limit.ts';
import type { Transcode } from '../transcode.ts';
import { maxPackets, PacketTimes, type Pictures } from './boundaries.ts';

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
  const pictures = await readPictures(job, run);
  if (!pictures) return { ...facts, whole: 'The pictures of the video have no times of their own.' };
  const byPictures = reasonByPictures(job, planned, pictures);
  if (byPictures) return { ...facts, whole: byPictures };
  const { start, last, boundaries } = pictures;
  const end = Math.max(last, probe.seconds ?? 0);
  return { ...facts, start, end, boundaries };
}

/** Returns why a run cannot be split, from what is known without its packets. */
function reasonByPlan({ input, probe, target, request }: Transcode, planned: Pick<Plan, 'after'>): string | undefined {
  const { video, moreVideos } = probe;
  if (!targets.includes(target.ext)) return `Chunks cannot be joined to ${target.ext}.`;
  if (!indexed.includes(mediaFormat(input.format).demuxer ?? ''))
    return `${input.format} has no index of its pictures.`;
  if (probe.seconds === undefined) return 'The duration of the video is unknown.';
  if (request.cut) return 'The video is trimmed.';
  if (moreVideos) return 'The file has several videos.';
  if (!video || video.sparse) return 'The video is a slide show.';
  if (!filtersOf(planned)) return 'The subtitles that are drawn are pictures.';
  const isFast = (video.framesPerSecond ?? 0) > maxRate && !hasRate(planned);
  return isFast ? `The video has more than ${maxRate} frames per second.` : undefined;
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

function hasRate(planned: Pick<Plan, 'after'>): boolean {
  return /(?:^|,)fps=/.test(filtersOf(planned) ?? '');
}

/** Reads the times of all packets of a video. Returns undefined if not every picture has its own. */
async function readPictures({ input, probe, onShare }: Transcode, run: MediaRun): Promise<Pictures | undefined> {
  const { video, start = 0, seconds = 0 } = probe;
  if (!video) return undefined;
  const times = new PacketTimes();
  const reading = [
    ...['-select_streams', String(video.index), '-show_entries', 'packet=pts_time,flags'],
    ...['-read_intervals', `%+#${maxPackets}`, ...openingArgs(mediaFormat(input.format), input.path)],
  ];
  await explained(input, () =>
    listByFfprobe(reading, run, (line) => {
      const time = times.add(line);
      if (time !== undefined && times.count % 1000 === 0 && seconds > 0) onShare(Math.min(1, (time - start) / seconds));
    }),
  );
  if (times.count >= maxPackets) return undefined;
  const [frames = 0, per = 0] = (video.steadyRate ?? '').split('/').map(Number);
  return times.pictures(start, frames > 0 && per > 0 ? frames / per : undefined);
}
