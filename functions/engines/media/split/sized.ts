import { join } from 'node:path';
import type { Survey, VideoTarget } from '../../runtime/protocol.ts';
import { videoArgs } from '../codecs.ts';
import { minScale, runsTwice, type SizedVideo, sizedVideo, slowestPreset } from '../compress.ts';
import type { VideoEncoder } from '../encoders.ts';
import { mediaFormat } from '../formats.ts';
import { fallbackRate, maxRate, plan } from '../plan.ts';
import { type Preset, presets } from '../presets.ts';
import { type MediaRun, runFfmpeg } from '../programs.ts';
import type { ProbedJob, Transcode } from '../transcode.ts';
import { wordOf } from '../values.ts';
import { readFacts } from './part-facts.ts';

/** The work of a run, or of one part of it. */
export interface PartJob extends Transcode {
  /** Set if the video is compressed to a size. */
  sizing?: Sizing;
}

interface Sizing extends SizedVideo {
  bytes: number;
  preset: Preset;
  hasPasses: boolean;
}

/** Encoders whose chunks can follow each other although they have different bit rates. */
const joinable: VideoEncoder[] = ['libx264', 'libvpx-vp9'];

/** Returns the compression of a video to a size, or why it cannot be split. */
export function sizedJob(job: ProbedJob, bytes: number): PartJob | { whole: string } {
  const { input, options, probe, target } = job;
  if (probe.seconds === undefined) return { whole: 'The duration of the video is unknown.' };
  if (target.ext === input.format && input.size <= bytes)
    return { whole: 'The file is already as small as requested.' };
  const sized = sizedVideo(job, bytes, probe.seconds);
  if (!joinable.includes(sized.encoder))
    return { whole: `Chunks of ${sized.encoder} with different bit rates cannot be joined.` };
  const wanted = wordOf(options, 'video_compress_speed');
  const preset = presets.find((known) => known === wanted) ?? slowestPreset(sized.encoder);
  const sizing = { ...sized, bytes, preset, hasPasses: runsTwice(sized.encoder, preset) };
  return { ...job, request: sized.request(sized.first, preset), sizing };
}

/** The time of a first pass and of the measurement, compared with that of encoding the pictures. */
const firstPassShare = 0.5;
const measuredShare = 0.3;
/** Bytes that containers take for a picture. */
const overheadBytes = 14;

/** Returns a survey with the target size, and with the time of all passes. */
export function sizedSurvey({ sizing }: PartJob, survey: Survey): Survey {
  if (!sizing) return survey;
  const { bytes, hasPasses, seconds, video } = sizing;
  const overhead = overheadBytes * seconds * (video.framesPerSecond ?? fallbackRate);
  const passes = 1 + measuredShare + (hasPasses ? firstPassShare : 0);
  return { ...survey, seconds: survey.seconds * passes, size: { bytes, overhead: Math.min(overhead, bytes) } };
}

/** Returns the work on a chunk that has a bit rate. */
export function sizedAs(job: PartJob, target: VideoTarget | undefined): PartJob {
  const { sizing } = job;
  if (!sizing || !target) return job;
  const scale = Math.max(minScale(sizing.video), sizing.first.scale * target.scale);
  return { ...job, request: sizing.request({ bitRate: target.bitrate, scale }, sizing.preset) };
}

/** The quality of a measurement. Smaller pictures would take less time, but hide noise, which takes the most bits. */
const measured = { encoder: 'libx264', crf: 23, preset: 'ultrafast' } as const;

export function measuring({ sizing, ...job }: PartJob): PartJob {
  if (!sizing) throw new Error('Only the chunks of a video with a target size are measured.');
  return { ...job, request: { ...job.request, video: measured } };
}

/**
 * Returns arguments that make x264 write the same headers whatever the bit rate of a chunk: nothing that is chosen by it, and the
 * level of a whole run, by a trial with one picture.
 */
export async function uniformHeaders(job: PartJob, run: MediaRun): Promise<string[]> {
  const { sizing, request, probe, input, target } = job;
  if (sizing?.encoder !== 'libx264') return [];
  const { width, height } = plan(probe, mediaFormat(input.format), target, request).expected.video ?? sizing.video;
  const rate = Math.min(sizing.video.framesPerSecond ?? fallbackRate, maxRate);
  const path = join(run.folder, 'trial.mp4');
  const quality = { preset: sizing.preset, bitRate: sizing.first.bitRate };
  await runFfmpeg(
    [
      ...['-f', 'lavfi', '-i', `color=size=${width}x${height}:rate=${rate}`, '-frames:v', '1'],
      ...[...videoArgs('libx264', quality, target), '-f', 'mp4', path],
    ],
    run,
  );
  const { encoding } = await readFacts({ ...input, path }, mediaFormat('mp4'), run);
  return ['-level:v', String(encoding[0]?.level), '-x264-params:v', 'stitchable=1'];
}
