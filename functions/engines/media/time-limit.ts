import { EngineError } from '../runtime/engine.ts';
import { type Preset, presets, usualPreset } from './presets.ts';
import { decodingSpeed, filterSeconds, presetsOf, speedOf, type Writer } from './speeds.ts';

/** The time available for a file in seconds. */
export interface TimeLimit {
  cores: number;
  /** Until the task is aborted. */
  max: number;
  /** Time that a conversion with default settings may take: half of the file's share, because estimates may be off by a factor of two. */
  usual: number;
}

/** Frames to encode. */
export interface Pictures {
  writer: Writer;
  width: number;
  height: number;
  frames: number;
  /** Bits per pixel of the input, if they indicate its amount of detail. */
  bitsPerPixel?: number | undefined;
  /** Smaller copies of them, which are encoded as well. */
  smaller?: Pictures[];
}

/** The work for an output. */
export interface Load {
  /** Duration of the output. */
  seconds: number;
  pictures?: Pictures | undefined;
  /** Decoded pixels, in millions. */
  megapixelsRead: number;
  /** CPU time of single-threaded work: filters and audio. */
  oneCoreSeconds: number;
}

/** How many times the frames are encoded: usually, and at least. */
export interface Runs {
  usual: number;
  min: number;
}

/** Alternatives that the user could choose. */
export interface Choices {
  writers: readonly Writer[];
  /** Whether the operation has options for preset, codec and resolution. */
  hasOptions: boolean;
  /** The slowest preset that is chosen by default. Defaults to the usual one. */
  slowest?: Preset;
}

const once: Runs = { usual: 1, min: 1 };

/** Estimates how long encoding takes, in seconds. */
export function estimate(load: Load, preset: Preset, cores: number): number {
  const { pictures, megapixelsRead, oneCoreSeconds } = load;
  const [decoded, decodingCores] = decodingSpeed;
  const reading = megapixelsRead / decoded / Math.min(cores, decodingCores);
  if (!pictures) return reading + oneCoreSeconds;
  const writing = [pictures, ...(pictures.smaller ?? [])].map((each) => writingSeconds(each, preset, cores));
  return writing.reduce((sum, seconds) => sum + seconds, reading + oneCoreSeconds);
}

function writingSeconds(pictures: Pictures, preset: Preset, cores: number): number {
  const { writer, width, height, frames } = pictures;
  const [speed, usefulCores] = speedOf(writer, preset, width * height);
  const megapixels = (width * height * frames * effort(pictures)) / 1_000_000;
  return megapixels / speed / Math.min(cores, usefulCores);
}

/** Bits per pixel of the video that the speeds are measured with, and of one that hardly changes. */
const busy = 0.3;
const quiet = 0.03;
/** A screen recording takes a third to a tenth of the time. Half of the time is a safe estimate. */
const minEffort = 0.5;

/** Returns the share of the measured time that a video takes, by its amount of detail. */
function effort({ bitsPerPixel = busy }: Pictures): number {
  const share = Math.log(bitsPerPixel / quiet) / Math.log(busy / quiet);
  return minEffort + (1 - minEffort) * Math.max(0, Math.min(1, share));
}

/**
 * Chooses the preset of an output: the requested one, otherwise the slowest that takes no longer than usual. Throws if
 * the output cannot be written before the task is aborted.
 */
export function choosePreset(
  load: Load,
  wanted: string | undefined,
  limit: TimeLimit,
  choices: Choices,
  runsOf: (preset: Preset) => Runs = () => once,
): Preset {
  const timeOf = (preset: Preset) => estimate(load, preset, limit.cores) * runsOf(preset).usual;
  const offered = defaultsOf(load.pictures?.writer, choices.slowest ?? usualPreset);
  const preset =
    presets.find((known) => known === wanted) ??
    offered.find((known) => timeOf(known) <= limit.usual) ??
    offered.reduce((best, known) => (timeOf(known) < timeOf(best) ? known : best), usualPreset);
  const { min } = runsOf(preset);
  const seconds = estimate(load, preset, limit.cores) * min;
  if (seconds > limit.max) throw tooLong(load, preset, seconds, limit, choices, min);
  return preset;
}

/** Lists the presets that are chosen by default, the slowest first. */
function defaultsOf(writer: Writer | undefined, slowest: Preset): Preset[] {
  const known: Preset[] = writer === undefined ? [usualPreset] : presetsOf(writer);
  return known.filter((preset) => presets.indexOf(preset) <= presets.indexOf(slowest)).reverse();
}

function tooLong(
  load: Load,
  preset: Preset,
  seconds: number,
  limit: TimeLimit,
  choices: Choices,
  runs: number,
): EngineError {
  const fits = (other: Load, by: Preset) => estimate(other, by, limit.cores) * runs <= limit.max;
  const advice = [
    ...(load.pictures ? otherSettings({ ...load, pictures: load.pictures }, preset, choices, fits) : []),
    `trim the file to at most ${duration(load.seconds * (limit.max / seconds), Math.floor)}`,
  ];
  return new EngineError(
    `This would take about ${duration(seconds)}, but the limit is ${duration(limit.max)}. To stay within it, ${advice.join(', or ')}.`,
    { needsTime: true },
  );
}

/** Lists the settings that would fit, each as advice. */
function otherSettings(
  load: Load & { pictures: Pictures },
  preset: Preset,
  { writers, hasOptions }: Choices,
  fits: (load: Load, preset: Preset) => boolean,
): string[] {
  const { pictures } = load;
  const fastest = fastestOf(pictures.writer);
  const size = smallerSizes(pictures).find((smaller) => fits(resized(load, { ...pictures, ...smaller }), fastest));
  const resolution = size && `a resolution of at most ${size.width} × ${size.height}`;
  if (!hasOptions) return resolution ? [`convert the video to ${resolution} first`] : [];
  const faster = presetsOf(pictures.writer)
    .filter((known) => presets.indexOf(known) < presets.indexOf(preset))
    .findLast((known) => fits(load, known));
  const codec = writers.find(
    (writer) => writer !== pictures.writer && fits({ ...load, pictures: { ...pictures, writer } }, fastestOf(writer)),
  );
  return [
    ...(faster ? [`choose the preset ${faster}${faster === fastest ? '' : ' or a faster one'}`] : []),
    ...(codec ? [`choose the codec ${codec}`] : []),
    ...(resolution ? [`choose ${resolution}`] : []),
  ];
}

function fastestOf(writer: Writer): Preset {
  return presetsOf(writer)[0] ?? usualPreset;
}

function resized(load: Load, pictures: Pictures): Load {
  const scaling = filterSeconds(['scale='], load.megapixelsRead);
  return { ...load, pictures, oneCoreSeconds: load.oneCoreSeconds + scaling };
}

const heights = [2160, 1440, 1080, 720, 480, 360, 240];

function smallerSizes({ width, height }: { width: number; height: number }): { width: number; height: number }[] {
  const short = Math.min(width, height);
  const scaled = (side: number, to: number) => Math.round((side * to) / short / 2) * 2;
  return heights.filter((to) => to < short).map((to) => ({ width: scaled(width, to), height: scaled(height, to) }));
}

function duration(seconds: number, round = Math.round): string {
  if (seconds >= 90) return `${round(seconds / 60)} minutes`;
  const whole = Math.max(1, round(seconds));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}
