import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../runtime/engine.ts';
import { writeLanguages } from './container.ts';
import { explained } from './explain.ts';
import { type MediaFormat, mediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import { type MediaRequest, type Plan, planInTime, subtitleFile, subtitlesToExtract } from './plan.ts';
import { countFrames, openingArgs, type Probe } from './probe.ts';
import { type MediaRun, runFfmpeg, runSox, withShare } from './programs.ts';
import { endsEarly, incomplete, openOutput, verifyDuration } from './verify.ts';

/** The work on one file. */
export interface MediaJob {
  input: InputFile;
  target: MediaFormat;
  options: OptionValues;
  /** Path of the output, inside the task's folder. */
  path: string;
  /** Called with the progress, from 0 to 1. */
  onShare: (share: number) => void;
}

export interface ProbedJob extends MediaJob {
  probe: Probe;
}

export interface Transcode extends ProbedJob {
  request: MediaRequest;
  /** Arguments before those of the format, such as the passes of an encoder. */
  passArgs?: string[];
  /** The output is discarded: a first pass writes its statistics elsewhere, and may write no frames. */
  discarded?: true;
}

/** Returns the work on an input of a task. */
export function jobOf(work: Work, index: number, onShare: MediaJob['onShare'] = () => {}): MediaJob {
  const input = work.inputs[index];
  if (!input) throw new Error(`The task has no input ${index}.`);
  const target = mediaFormat(work.outputFormat);
  return { input, target, options: work.options, path: join(work.folder, `${index}.${target.ext}`), onShare };
}

/** Returns the output file of an input. */
export function outputOf({ input, target, path }: MediaJob): OutputFile {
  return { path, name: withExtension(input.name, target.ext), format: target.ext };
}

/** Converts a media file and verifies the output; streams are copied if possible, and re-encoded if that fails. */
export async function transcode(job: Transcode, run: MediaRun): Promise<void> {
  const { input, probe, target, request } = job;
  const from = mediaFormat(input.format);
  const counted = await countedSeconds(job, run);
  const planned = planInTime(probe, from, target, request, run.timeLimit(), counted);
  await explained(input, async () => {
    await extractSubtitles(job, run);
    try {
      return await runPlan(job, planned, run);
    } catch (error) {
      if (!planned.copiesSomething) throw error;
      run.signal.throwIfAborted();
      // A stream may claim a codec and still not fit, such as one without time stamps.
      return runPlan(job, planInTime(probe, from, target, withoutCopies(request), run.timeLimit(), counted), run);
    }
  });
}

/** Larger files would take minutes to count. */
const maxCountedBytes = 1_000_000_000;

/** Counts the frames of a video that does not declare its duration. */
async function countedSeconds(
  { input, probe, target, request }: Transcode,
  run: MediaRun,
): Promise<number | undefined> {
  const { seconds, video } = probe;
  if (seconds !== undefined || !video || target.kind !== 'video' || request.fastCut) return undefined;
  if (input.size > maxCountedBytes) return undefined;
  return (await countFrames(input, limits.seconds * limits.framesPerSecond, run)) / (video.framesPerSecond ?? 25);
}

function withoutCopies(request: MediaRequest): MediaRequest {
  const video = request.video.encoder === 'copy' ? { ...request.video, encoder: undefined } : request.video;
  const audio = request.audio.encoder === 'copy' ? { ...request.audio, encoder: undefined } : request.audio;
  return { ...request, video, audio, copies: false, fastCut: false };
}

async function runPlan(job: Transcode, planned: Plan, run: MediaRun): Promise<void> {
  const { input, target, path } = job;
  const from = mediaFormat(input.format);
  const speech = speechKinds[target.ext];
  const encoded = speech ? `${path}.wav` : path;
  const { seconds } = await runFfmpeg(
    [
      ...planned.before,
      ...openingArgs(from, input.path),
      ...planned.after.slice(0, -2),
      ...(job.passArgs ?? []),
      ...(speech ? ['-f', 'wav'] : planned.after.slice(-2)),
      encoded,
    ],
    withShare(run, planned.seconds, job.onShare),
  );
  if (job.discarded) return;
  if (target.kind === 'audio' && seconds === 0) {
    throw new EngineError('Nothing in the file could be decoded at this position: it is damaged or incomplete.');
  }
  if (speech) await runSox(['-t', 'wav', encoded, '-t', speech, path], run);
  if ((await stat(path)).size >= limits.outputBytes * 0.99) {
    throw new EngineError(
      `The output would be larger than ${limits.outputBytes / 1_000_000_000} GB. Trim the file first.`,
    );
  }
  if (planned.languages) await writeLanguages(path, planned.languages);
  const decoded = Math.max(0, seconds - (target.blockSeconds ?? 0));
  // Without a duration in the header, only the decoded duration can be compared.
  const complete = job.request.cut ? undefined : job.probe.promisedSeconds;
  const promised = from.knowsDuration ? (complete ?? planned.expected.seconds) : undefined;
  // A copied stream that ends early would still declare its full duration.
  if (planned.copiesSomething && !job.probe.video && promised !== undefined && endsEarly(seconds, promised))
    throw new EngineError(incomplete(seconds, promised));
  const written = await openOutput(path, target, planned.expected, run);
  // The time stamps of a chunk are those of the source.
  if (job.request.isPart) return;
  // If more was decoded than the output has, the input is not at fault.
  const warning = promised === undefined ? undefined : earlyEnd(job, promised, Math.max(written ?? 0, decoded));
  const comparable = warning === undefined ? (promised ?? decoded) : written;
  verifyDuration(written, target, { ...planned.expected, seconds: comparable || undefined });
  run.warn([...(warning === undefined ? [] : [warning]), ...planned.warnings]);
}

/** Shorter audio is hardly audible, so the file counts as damaged. */
const minSeconds = 0.25;

/** Returns a warning about audio that is shorter than its header declares, if enough is left to be useful. */
export function earlyEnd(
  { probe, request }: Pick<ProbedJob, 'probe'> & { request: Pick<MediaRequest, 'cut'> },
  promised: number,
  decoded: number,
): string | undefined {
  // A truncated video is rejected, because half of a video must not go unnoticed.
  if (probe.video || decoded < minSeconds || !endsEarly(decoded, promised)) return undefined;
  const whole = request.cut ? `the ${promised.toFixed(1)} requested seconds` : `${promised.toFixed(1)} seconds`;
  return `The file ends early: ${decoded.toFixed(1)} of ${whole} could be decoded.`;
}

const speechKinds: Partial<Record<string, string>> = { amr: 'amr-nb' };

/** Extracts subtitles to SRT with a fixed first line, so that the filter cannot detect another format. */
async function extractSubtitles(job: Transcode, run: MediaRun): Promise<void> {
  const { input, probe, request } = job;
  const index = subtitlesToExtract(probe, request);
  if (index === undefined) return;
  const { cut } = request;
  await runFfmpeg(
    [
      ...(cut ? ['-ss', String(cut.start)] : []),
      ...openingArgs(mediaFormat(input.format), input.path),
      ...['-map', `0:${index}`, '-c:s', 'srt', '-f', 'srt', join(run.folder, subtitleFile)],
    ],
    run,
  );
}
