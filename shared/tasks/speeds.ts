import type { OptionDescriptor } from '../catalogue/catalogue.ts';
import { isSecretOption } from '../catalogue/options.ts';
import type { JsonValue } from './task.ts';

/** What a task is expected to take and to make. */
export interface Prediction {
  seconds: number;
  /** Bytes of its outputs together. */
  bytes: number;
}

/** A run as it was measured. */
interface MeasuredRun extends Prediction {
  /** Bytes of its inputs together. */
  inputBytes: number;
}

/** Exponential averages of the runs of a class. */
interface Speed extends MeasuredRun {
  runs: number;
}

/** The speeds of an operation from a format to another, by class of options. All runs together are the class ''. */
export type Speeds = Record<string, Speed>;

/** The weight of a run in the averages, once there have been several. */
const weight = 0.1;
/** Clients choose the options, so the classes used last are kept. */
const maxClasses = 16;
const maxClassLength = 200;
/** The time for a file smaller than this depends little on its size. */
const smallBytes = 100_000;

/** Returns the class of options: those that choose between values, and the magnitude of numbers. Texts do not count. */
export function classOf(options: unknown, descriptors: OptionDescriptor[]): string {
  const given = Object.entries(typeof options === 'object' && options !== null ? options : {});
  return given
    .flatMap(([name, value]) => {
      const descriptor = descriptors.find((each) => each.name === name);
      const kind = descriptor && !isSecretOption(name) ? kindOf(descriptor, value) : undefined;
      return kind === undefined ? [] : [`${name}=${kind}`];
    })
    .toSorted()
    .join(' ')
    .slice(0, maxClassLength);
}

function kindOf({ type, data_type, default_value }: OptionDescriptor, value: JsonValue): string | undefined {
  if (String(value) === default_value) return undefined;
  if (type === 'enum' || data_type === 'boolean') return String(value);
  if (data_type === 'string') return undefined;
  return `~${Math.round(Math.log2(Math.max(1, Math.abs(Number(value)))))}`;
}

/** Returns the speeds with a run added to those of its class, and to those of all. */
export function withRun(speeds: Speeds, ofClass: string, run: MeasuredRun): Speeds {
  const { '': all, [ofClass]: own, ...others } = speeds;
  const kept = Object.entries(others).slice(-(maxClasses - 2));
  return {
    '': averaged(all, run),
    ...Object.fromEntries(kept),
    ...(ofClass === '' ? {} : { [ofClass]: averaged(own, run) }),
  };
}

function averaged(speed: Speed | undefined, run: MeasuredRun): Speed {
  const { runs = 0 } = speed ?? {};
  const share = Math.max(weight, 1 / (runs + 1));
  const average = (name: keyof MeasuredRun) => (speed?.[name] ?? 0) * (1 - share) + run[name] * share;
  return {
    seconds: average('seconds'),
    bytes: average('bytes'),
    inputBytes: average('inputBytes'),
    runs: runs + 1,
  };
}

/** Predicts a run by runs of its class, or else of any; undefined if there was none. */
export function predict(speeds: Speeds, ofClass: string, inputBytes: number): Prediction | undefined {
  const speed = speeds[ofClass] ?? speeds[''];
  if (!speed) return undefined;
  const scale = Math.max(smallBytes, inputBytes) / Math.max(smallBytes, speed.inputBytes);
  return { seconds: speed.seconds * scale, bytes: speed.bytes * (inputBytes / Math.max(1, speed.inputBytes)) };
}
