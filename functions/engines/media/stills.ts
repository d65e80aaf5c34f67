import { readdir, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import sharp from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { changesPicture, changesSize, withPictureOptions } from '../image/encoding-options.ts';
import { EngineError, type OutputFile } from '../runtime/engine.ts';
import { explained } from './explain.ts';
import { mediaFormat } from './formats.ts';
import { limits } from './limits.ts';
import {
  alphaDecoder,
  assumedMatrix,
  type Fit,
  pictureMatrix,
  rateFilter,
  resizeTo,
  seek,
  toStandardRange,
} from './plan.ts';
import { openingArgs, type Probe, type VideoStream } from './probe.ts';
import { type MediaRun, runFfmpeg, withShare } from './programs.ts';
import { choosePreset, type Load } from './time-limit.ts';
import type { ProbedJob } from './transcode.ts';
import { cutOf, cutSeconds, numberOf, timeOf, wordOf } from './values.ts';

const usualQuality = 90;

/** Extracts frames from a video: one at a given time, or several per second. */
export async function takeStills(job: ProbedJob, run: MediaRun): Promise<OutputFile[]> {
  const { input, probe, target } = job;
  const options = padded(job.options);
  const stem = parse(job.path).name;
  const { video } = probe;
  if (!video) throw new EngineError(`The file has no video, so it cannot be converted to ${target.ext}.`);
  const rate = numberOf(options, 'fps');
  const cut =
    rate === undefined
      ? { start: requireTime(timeOf(options, 'frame_time') ?? 0, probe), end: undefined }
      : cutOf(options, ['trim_start', 'trim_end'], probe.seconds);
  const seconds = cutSeconds(cut, probe.seconds);
  if (rate !== undefined && seconds !== undefined && seconds * rate > limits.stills) {
    throw new EngineError(
      `This would extract ${Math.round(seconds * rate)} frames; the maximum is ${limits.stills}. Trim the video or lower fps.`,
    );
  }
  if (rate !== undefined && seconds !== undefined) requireTimeToRead(video, seconds, run);
  const { scaled, size } = resizeTo(
    video,
    // Images have square pixels, unlike some videos.
    { ...givenSize(options), ...(hasSize(options) ? {} : { height: video.height, fit: 'inside' as const }) },
  );
  const isFinished = changesPicture(options, withPictureOptions([], target.ext), ['quality']);
  const rendered = isFinished ? 'png' : target.ext;
  const filters = [
    ...assumedMatrix(video),
    ...(video.interlaced ? ['yadif=deint=interlaced'] : []),
    ...(rate === undefined ? [] : [rateFilter(rate, seconds)]),
    ...(video.highDynamicRange ? toStandardRange : []),
    `scale=${scaled.width}:${scaled.height}`,
    ...(scaled.width === size.width && scaled.height === size.height ? [] : [`crop=${size.width}:${size.height}`]),
    'setsar=1',
    ...pictureMatrix(rendered),
  ];
  const from = mediaFormat(input.format);
  const sought = seek(cut, from);
  const quality = numberOf(options, 'quality') ?? usualQuality;
  const many = rate !== undefined;
  const isTransparent = options.background !== undefined;
  await explained(input, () =>
    runFfmpeg(
      [
        ...sought.before,
        ...(isTransparent ? alphaDecoder(video) : []),
        ...openingArgs(from, input.path),
        ...sought.after,
        ...['-map', `0:${video.index}`, '-filter:v', filters.join(','), '-frames:v', String(many ? limits.stills : 1)],
        ...(rendered === 'jpg'
          ? ['-c:v', 'mjpeg', '-q:v', jpegQuantizer(quality), '-pix_fmt', 'yuvj420p']
          : ['-c:v', 'png', '-pix_fmt', isTransparent ? 'rgba' : 'rgb24']),
        ...(isFinished ? ['-compression_level', '1'] : []),
        ...(many ? [] : ['-update', '1']),
        ...['-f', 'image2', join(run.folder, many ? `${stem}-%04d.${rendered}` : `${stem}-0001.${rendered}`)],
      ],
      withShare(run, seconds, job.onShare),
    ),
  );
  const files = (await readdir(run.folder))
    .filter((file) => file.startsWith(`${stem}-`) && file.endsWith(rendered))
    .sort();
  if (files.length === 0)
    throw new EngineError('No frame could be decoded at this position: the video is damaged or ends earlier.');
  const plain = withExtension(input.name, target.ext);
  const stills = await Promise.all(
    files.map(async (file, at): Promise<OutputFile> => {
      const path = join(run.folder, file);
      const { width, height } = await sharp(path).metadata();
      if (width !== size.width || height !== size.height)
        throw new EngineError(`An extracted frame has the wrong size of ${width} × ${height} pixels.`);
      const name = many ? plain.replace(/(\.[^.]+)$/, `-${String(at + 1).padStart(4, '0')}$1`) : plain;
      return { path, name, format: target.ext };
    }),
  );
  return isFinished ? finish(stills, options, target.ext) : stills;
}

/** Throws if the part of a video that frames are taken from cannot be decoded in time. */
function requireTimeToRead(video: VideoStream, seconds: number, run: MediaRun): void {
  const megapixelsRead = (video.width * video.height * (video.framesPerSecond ?? 25) * seconds) / 1_000_000;
  const load: Load = { seconds, megapixelsRead, oneCoreSeconds: 0 };
  choosePreset(load, undefined, run.timeLimit(), { writers: [], hasOptions: true });
}

/** Converts the frames that ffmpeg extracted losslessly as the options request. */
async function finish(stills: OutputFile[], options: OptionValues, format: string): Promise<OutputFile[]> {
  // Loaded only if needed: ffmpeg writes most stills directly.
  const { finishPicture } = await import('../image/finish.ts');
  const finished: OutputFile[] = [];
  for (const { path: source, name } of stills) {
    const path = `${source}-finished.${format}`;
    await finishPicture({ source, format, options: { quality: usualQuality, ...options }, path });
    await rm(source);
    finished.push({ path, name, format });
  }
  return finished;
}

function requireTime(seconds: number, probe: Probe): number {
  if (probe.seconds !== undefined && seconds >= probe.seconds) {
    throw new EngineError(
      `frame_time (${seconds} s) must be before the end of the video, which lasts ${probe.seconds.toFixed(2)} s.`,
    );
  }
  return seconds;
}

function hasSize(options: OptionValues): boolean {
  return options.width !== undefined || options.height !== undefined;
}

/** Returns the options for padding under their names for images: it is done after decoding, with a transparent background. */
function padded(options: OptionValues): OptionValues {
  const { width, height, ...others } = options;
  if (options.fit !== 'pad' || width === undefined || height === undefined || changesSize(options)) return options;
  return { ...others, image_custom_width: width, image_custom_height: height };
}

function givenSize(options: OptionValues): { width: number | undefined; height: number | undefined; fit: Fit } {
  return { width: numberOf(options, 'width'), height: numberOf(options, 'height'), fit: fitOf(options) };
}

/** Reads the size options of a still. */
export function fitOf(options: OptionValues): Fit {
  const fit = wordOf(options, 'fit');
  return fit === 'crop' || fit === 'scale' ? fit : 'max';
}

/** ffmpeg's JPEG quality is from 2, the best, to 31. */
function jpegQuantizer(quality: number): string {
  return String(Math.round(31 - (quality / 100) * 29));
}
