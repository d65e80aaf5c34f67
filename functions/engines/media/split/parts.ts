import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { atMost } from '../../../../shared/concurrency.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { EngineError, type OutputFile, type Work, type WorkContext } from '../../runtime/engine.ts';
import type { PartRequest, Survey } from '../../runtime/protocol.ts';
import { type Joined, seconds } from '../chunk.ts';
import { compressedDetails, compressRequest, firstPass, secondPass, smaller, targetBytes } from '../compress.ts';
import { convertRequest } from '../convert.ts';
import { type MediaFormat, mediaFormat } from '../formats.ts';
import { convertToStream, encodeStreamPart } from '../hls/stream.ts';
import { plan } from '../plan.ts';
import { openingArgs, probeInput } from '../probe.ts';
import type { MediaRun } from '../programs.ts';
import { jobOf, outputOf, type Transcode, transcode } from '../transcode.ts';
import { makePipes, pipeNames, writePipe } from './feed.ts';
import { requireCount, requireFetched, requirePictures } from './fetched.ts';
import { frontBytes, frontOf } from './front.ts';
import { type PartFacts, readFacts, sameEncoding } from './part-facts.ts';
import { measuring, type PartJob, sizedAs, sizedJob, sizedSurvey, uniformHeaders } from './sized.ts';
import { hasRate, survey, surveyStream } from './survey.ts';

/** The result of a part. */
interface PartResult {
  outputs: OutputFile[];
  details?: JsonObject;
}

/** Matroska does not store the negative time stamps with which encoded sound begins. */
const soundDelaySeconds = 0.5;

type JoinRequest = Extract<PartRequest, { kind: 'join' }>;

/** What a join can do before all inputs have arrived, and before its output is complete. */
type Early = Pick<WorkContext, 'arrival' | 'announce'>;

/** Performs a part of a split run. */
export async function runPart(
  work: Work,
  part: PartRequest,
  run: MediaRun,
  onShare: (share: number) => void,
  early: Early,
): Promise<PartResult> {
  // Every part reads the source.
  await early.arrival?.(0);
  if (mediaFormat(work.outputFormat).kind === 'stream') return runStreamPart(work, part, run, onShare, early);
  const job = await transcodeOf(work, run, onShare);
  if (part.kind === 'survey') {
    const found: Survey =
      'whole' in job
        ? { seconds: 0, start: 0, end: 0, sound: false, ...job }
        : sizedSurvey(job, await survey(job, run));
    return surveyResult(found);
  }
  if ('whole' in job) throw new Error(`A run that cannot be split has no parts: ${job.whole}`);
  const patient = inDefaultPreset(run);
  switch (part.kind) {
    case 'chunk':
      return { outputs: [await encodeChunk(sizedAs(job, part.video), part, work.folder, patient)] };
    case 'measure':
      return { outputs: [await encodeChunk(measuring(job), part, work.folder, patient)] };
    case 'sound':
      return { outputs: [await encodeSound(job, work.folder, patient)] };
    case 'join':
      return joinParts(job, work, part, patient, early);
    case 'pages':
    case 'texts':
      throw new Error('A video has no pages.');
  }
}

/** All chunks have the default preset. One that does not fit into the time of its part is rejected. */
function inDefaultPreset(run: MediaRun): MediaRun {
  return { ...run, timeLimit: () => ({ ...run.timeLimit(), usual: Number.POSITIVE_INFINITY }) };
}

function surveyResult({ size, reads, ...found }: Survey): PartResult {
  const optional = { ...(size ? { size: { ...size } } : {}), ...(reads ? { reads: { ...reads } } : {}) };
  return { outputs: [], details: { survey: { ...found, ...optional } } };
}

/** Performs a part of a run that writes segments. Each chunk has whole segments in all renditions. */
async function runStreamPart(
  work: Work,
  part: PartRequest,
  run: MediaRun,
  onShare: (share: number) => void,
  early: Early,
): Promise<PartResult> {
  const job = jobOf(work, 0, onShare);
  const probed = { ...job, probe: await probeInput(job.input, run) };
  const patient = inDefaultPreset(run);
  switch (part.kind) {
    case 'survey':
      return surveyResult(await surveyStream(probed, work.inputs.length, run));
    case 'chunk': {
      const chunk = { from: part.index === 0 ? undefined : part.from, to: part.to };
      return { outputs: [await encodeStreamPart(probed, { chunk }, patient)] };
    }
    case 'sound':
      return { outputs: [await encodeStreamPart(probed, { isSound: true }, patient)] };
    case 'join':
      return withParts(work, part, mediaFormat('mp4'), patient, early, async (joined, fed) => ({
        outputs: [await convertToStream(probed, fed, joined)],
      }));
    case 'measure':
    case 'pages':
    case 'texts':
      throw new Error(`Segments have no parts of the kind ${part.kind}.`);
  }
}

/** Reads what a whole run would do, or why it cannot be split. */
async function transcodeOf(
  work: Work,
  run: MediaRun,
  onShare: (share: number) => void,
): Promise<PartJob | { whole: string }> {
  const job = jobOf(work, 0, onShare);
  const { input, target, options } = job;
  if (work.part?.kind !== 'join' && work.inputs.length !== 1) return { whole: 'The task has several files.' };
  if (target.kind !== 'video') return { whole: `${target.ext} is not a format of video.` };
  if (mediaFormat(input.format).kind !== 'video') return { whole: `${input.format} is not a format of video.` };
  if (work.operation !== 'convert' && work.operation !== 'compress')
    return { whole: `The operation ${work.operation} is not split.` };
  const probe = await probeInput(input, run);
  if (work.operation === 'convert') return { ...job, probe, request: convertRequest(options, target, probe) };
  const probed = { ...job, probe: { ...probe, cover: undefined } };
  const request = compressRequest(probed);
  if (request) return { ...probed, request };
  const bytes = targetBytes(job);
  if (bytes === undefined) throw new Error('The compression has neither a size nor a quality.');
  return sizedJob(probed, bytes);
}

/** Returns the format in which the parts for an output are stored: one that holds what the output does. */
function partFormat({ target }: Transcode): MediaFormat {
  return target.demuxer === 'mov' ? target : { ...target, ext: 'mkv', muxer: 'matroska' };
}

/** Encodes a part of the pictures, without anything else. */
async function encodeChunk(
  job: PartJob,
  { index, from, to, pictures }: Extract<PartRequest, { kind: 'chunk' | 'measure' }>,
  folder: string,
  run: MediaRun,
): Promise<OutputFile> {
  const { probe, request, sizing } = job;
  const target = partFormat(job);
  const path = join(folder, `chunk.${target.ext}`);
  const subtitles = request.subtitles === 'hard' ? 'hard' : 'none';
  const chunk = { from: index === 0 ? undefined : from, to };
  await requirePictures(job.input, chunk, probe, pictures, run);
  if (subtitles === 'hard' && probe.subtitles.length > 0) await requireFetched(job.input, 's', run);
  const silent = { ...run, warn: () => {} };
  const encoding: Transcode = {
    ...job,
    path,
    target,
    probe: { ...probe, audio: [], cover: undefined, attachments: 0 },
    request: {
      ...request,
      chunk,
      isPart: true,
      audio: { encoder: 'none' },
      subtitles,
      faststart: false,
    },
    passArgs: ['-map_chapters', '-1', ...(await uniformHeaders(job, silent))],
  };
  let encoded = 0;
  const counting = {
    ...silent,
    onPictures: (count: number) => {
      encoded = count;
    },
  };
  if (sizing?.hasPasses) {
    const log = join(folder, 'passes');
    await firstPass(encoding, log, silent);
    const onShare = (done: number) => job.onShare(0.4 + done * 0.6);
    await transcode({ ...encoding, passArgs: [...(encoding.passArgs ?? []), ...secondPass(log)], onShare }, counting);
  } else {
    await transcode(encoding, counting);
  }
  // Another frame rate has other pictures, and VP8 stores some that are never shown.
  const hasOthers =
    hasRate(plan(probe, mediaFormat(job.input.format), target, request)) || probe.video?.codec === 'vp8';
  if (!hasOthers) requireCount(job.input, encoded, pictures);
  return outputOf(encoding);
}

/** Encodes or copies all sound. In chunks, it would click at each seam. */
async function encodeSound(job: Transcode, folder: string, run: MediaRun): Promise<OutputFile> {
  const { probe, request } = job;
  await requireFetched(job.input, 'a', run);
  const target = partFormat(job);
  const encoding: Transcode = {
    ...job,
    path: join(folder, `sound.${target.ext}`),
    target,
    probe: { ...probe, video: undefined, subtitles: [], cover: undefined, attachments: 0 },
    request: { ...request, isPart: true, subtitles: 'none', faststart: false },
    passArgs: [
      ...['-map_chapters', '-1'],
      ...(target.demuxer === 'mov' ? [] : ['-output_ts_offset', seconds(soundDelaySeconds)]),
    ],
  };
  await transcode(encoding, { ...run, warn: () => {} });
  return outputOf(encoding);
}

/** Joins the parts, and adds everything else from the source. */
async function joinParts(
  job: Transcode,
  work: Work,
  part: JoinRequest,
  run: MediaRun,
  early: Early,
): Promise<PartResult> {
  const { target, request, path } = job;
  // In MP4, chapters are stored as subtitles. Subtitles of Matroska are copied from the whole source.
  if (mediaFormat(job.input.format).demuxer === 'mov') await requireFetched(job.input, 's', run);
  const partFormat = mediaFormat(target.demuxer === 'mov' ? 'mp4' : 'mkv');
  // Subtitles that are drawn are in the chunks.
  const subtitles = request.subtitles === 'hard' ? 'none' : request.subtitles;
  const announce = canAnnounce(job, work) ? early.announce : undefined;
  const faststart = request.faststart && !announce;
  await withParts(work, part, partFormat, run, early, (joined, fed) => {
    announce?.(path, frontBytes);
    return transcode({ ...job, request: { ...request, joined, subtitles, faststart } }, fed);
  });
  const made = announce && (await frontOf(path, target, request.faststart));
  const output = made ? { ...outputOf(job), announced: made.announced } : outputOf(job);
  if (work.operation !== 'compress') return { outputs: [output] };
  const compressed = made ? { output, sizeBefore: job.input.size, sizeAfter: made.size } : await smaller(job, run);
  return { outputs: [compressed.output], details: compressedDetails(compressed) };
}

/** Returns whether the bytes of an output are final once they are written, except for those at its front. */
function canAnnounce({ input, target, probe }: Transcode, { operation, inputs }: Work): boolean {
  // Attachments are stored at the front of Matroska, and may be larger than it.
  if (target.demuxer !== 'mov' && (probe.attachments || probe.cover)) return false;
  const parts = inputs.slice(1).reduce((sum, { size }) => sum + size, 0);
  // The original is the output if it is smaller.
  return operation !== 'compress' || target.ext !== input.format || parts < input.size * 0.9;
}

/**
 * Lists the parts for ffmpeg, and has it read them as they arrive: in the list, each chunk is a pipe with the name of its file,
 * which is written when the chunk after it has arrived. Fails if one was encoded differently.
 */
async function withParts<T>(
  work: Work,
  { starts, sound }: JoinRequest,
  format: MediaFormat,
  run: MediaRun,
  { arrival }: Early,
  perform: (joined: Joined, run: MediaRun) => Promise<T>,
): Promise<T> {
  const { inputs, folder } = work;
  const parts = inputs.slice(1);
  if (starts.length === 0 || parts.length !== starts.length + (sound ? 1 : 0))
    throw new Error(`Expected ${starts.length} chunks${sound ? ' and sound' : ''} but received ${parts.length} parts.`);
  const stopped = new AbortController();
  const fed = { ...run, signal: AbortSignal.any([run.signal, stopped.signal]) };
  const reading = atMost(availableParallelism());
  const facts = parts.map(async (part, index) => {
    await arrival?.(index + 1);
    return reading(() => readFacts(part, format, fed));
  });
  for (const each of facts) each.catch(() => {});
  const chunks = facts.slice(0, starts.length);
  const pipes = pipeNames(starts.length);
  const list = join(folder, 'chunks.txt');
  const feed = async () => {
    for (const [index, pipe] of pipes.entries()) {
      const [first, chunk, next] = await Promise.all([chunks[0], chunks[index], chunks[index + 1]]);
      await writePipe(pipe, chunkList(parts[index]?.path ?? '', first, chunk, next), folder, fed.signal);
    }
  };
  try {
    const [first, heard] = await Promise.all([chunks[0], sound ? facts.at(-1) : undefined]);
    await makePipes(pipes, fed);
    await writeFile(list, pipeList(pipes.map((pipe) => join(folder, pipe))));
    const feeding = feed().catch((error: unknown) => stopped.abort(error));
    const joined = {
      list,
      start: first?.start ?? 0,
      sound: heard
        ? [
            ...['-itsoffset', seconds(heard.start - (format.demuxer === 'mov' ? 0 : soundDelaySeconds))],
            ...openingArgs(format, parts.at(-1)?.path ?? ''),
          ]
        : [],
    };
    return await perform(joined, fed).finally(() => {
      stopped.abort();
      return feeding;
    });
  } finally {
    stopped.abort();
    await Promise.allSettled(facts);
  }
}

/** Returns the list of pipes for ffmpeg, each with the list of one chunk. */
function pipeList(paths: string[]): string {
  const options = ['safe 0', 'auto_convert 0'].map((option) => `option ${option}\n`).join('');
  return `ffconcat version 1.0\n${paths.map((path) => `file ${quoted(path)}\n${options}`).join('')}`;
}

/**
 * Returns the list of one chunk for ffmpeg. It lasts until the next one starts: times of its own would be off by the length of its
 * last picture, and add up.
 */
function chunkList(path: string, first?: PartFacts, chunk?: PartFacts, next?: PartFacts): string {
  if (!first || !chunk || !sameEncoding(chunk, first))
    throw new EngineError('The parts of the video were encoded differently and cannot be joined.', {
      detail: JSON.stringify([first, chunk]),
    });
  if (next && next.start <= chunk.start)
    throw new EngineError('The parts of the video do not follow each other and cannot be joined.', {
      detail: JSON.stringify([chunk, next]),
    });
  const duration = next ? `duration ${seconds(next.start - chunk.start)}\n` : '';
  return `ffconcat version 1.0\nfile ${quoted(path)}\n${duration}`;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
