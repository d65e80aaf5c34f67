import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { mapAtOnce } from '../../../../shared/concurrency.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../../runtime/engine.ts';
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
import { requireCount, requireFetched, requirePictures } from './fetched.ts';
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

/** Performs a part of a split run. */
export async function runPart(
  work: Work,
  part: PartRequest,
  run: MediaRun,
  onShare: (share: number) => void,
): Promise<PartResult> {
  if (mediaFormat(work.outputFormat).kind === 'stream') return runStreamPart(work, part, run, onShare);
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
      return joinParts(job, work, part, patient);
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
      return { outputs: [await convertToStream(probed, patient, await joinedOf(work, part, mediaFormat('mp4'), run))] };
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
  part: Extract<PartRequest, { kind: 'join' }>,
  run: MediaRun,
): Promise<PartResult> {
  // In MP4, chapters are stored as subtitles. Subtitles of Matroska are copied from the whole source.
  if (mediaFormat(job.input.format).demuxer === 'mov') await requireFetched(job.input, 's', run);
  const joined = await joinedOf(work, part, mediaFormat(job.target.demuxer === 'mov' ? 'mp4' : 'mkv'), run);
  const { request } = job;
  // Subtitles that are drawn are in the chunks.
  const subtitles = request.subtitles === 'hard' ? 'none' : request.subtitles;
  await transcode({ ...job, request: { ...request, joined, subtitles } }, run);
  if (work.operation !== 'compress') return { outputs: [outputOf(job)] };
  const compressed = await smaller(job, run);
  return { outputs: [compressed.output], details: compressedDetails(compressed) };
}

/** Lists the parts for ffmpeg, and reads when they start. */
async function joinedOf(
  work: Work,
  { starts, sound }: Extract<PartRequest, { kind: 'join' }>,
  format: MediaFormat,
  run: MediaRun,
): Promise<Joined> {
  const parts = work.inputs.slice(1);
  if (starts.length === 0 || parts.length !== starts.length + (sound ? 1 : 0))
    throw new Error(`Expected ${starts.length} chunks${sound ? ' and sound' : ''} but received ${parts.length} parts.`);
  const facts = await mapAtOnce(parts, availableParallelism(), (part) => readFacts(part, format, run));
  const chunks = facts.slice(0, starts.length);
  const [heard] = facts.slice(starts.length);
  const list = join(work.folder, 'chunks.txt');
  await writeFile(list, chunkList(parts, chunks));
  return {
    list,
    start: chunks[0]?.start ?? 0,
    sound: heard
      ? [
          ...['-itsoffset', seconds(heard.start - (format.demuxer === 'mov' ? 0 : soundDelaySeconds))],
          ...openingArgs(format, parts.at(-1)?.path ?? ''),
        ]
      : [],
  };
}

/**
 * Returns the list of chunks for ffmpeg. Each lasts until the next one starts: times of their own would be off by the length of
 * their last picture, and add up.
 */
function chunkList(parts: InputFile[], chunks: PartFacts[]): string {
  const [first] = chunks;
  const lines = chunks.map((chunk, index) => {
    if (!first || !sameEncoding(chunk, first))
      throw new EngineError('The parts of the video were encoded differently and cannot be joined.', {
        detail: JSON.stringify([first, chunk]),
      });
    const next = chunks[index + 1];
    if (next && next.start <= chunk.start)
      throw new EngineError('The parts of the video do not follow each other and cannot be joined.', {
        detail: JSON.stringify([chunk, next]),
      });
    const path = parts[index]?.path ?? '';
    return `file '${path.replaceAll("'", "'\\''")}'\n${next ? `duration ${seconds(next.start - chunk.start)}\n` : ''}`;
  });
  return `ffconcat version 1.0\n${lines.join('')}`;
}
