import { isObject } from '../template/properties.ts';

/** One value of a metric. */
export interface Value {
  namespace: string;
  name: string;
  dimensions: Record<string, string>;
  value: number;
}

/** Returns the identity of a metric: CloudWatch keeps one per combination of dimensions, and adds none of them up. */
export function keyOf({ namespace, name, dimensions }: Omit<Value, 'value'>): string {
  const sorted = Object.entries(dimensions).sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([namespace, name, sorted]);
}

/** CloudWatch's statistics of the values in a period. */
export interface Summary {
  sum: number;
  count: number;
  min: number;
  max: number;
}

interface Times {
  /** Values within this time of each other are kept as one summary, to save memory. */
  resolutionMs: number;
  keptMs: number;
}

/** The values of some metrics, for as long as an alarm needs them. */
export class MetricStore {
  readonly #series: Map<string, (Summary & { at: number })[]>;
  readonly #times: Times;

  constructor(wanted: Omit<Value, 'value'>[], times: Times) {
    this.#series = new Map(wanted.map((metric) => [keyOf(metric), []]));
    this.#times = times;
  }

  add(metric: Value, at: number): void {
    const series = this.#series.get(keyOf(metric));
    if (!series) return;
    const { value } = metric;
    const one = { sum: value, count: 1, min: value, max: value };
    const last = series.at(-1);
    if (last && at - last.at < this.#times.resolutionMs) Object.assign(last, merge(last, one));
    else series.push({ at, ...one });
  }

  /** Returns a summary of the values after one time, up to and including another; undefined if there are none. */
  between(metric: Omit<Value, 'value'>, from: number, to: number): Summary | undefined {
    const series = this.#series.get(keyOf(metric)) ?? [];
    const [first, ...others] = series.filter(({ at }) => at > from && at <= to);
    return first && others.reduce<Summary>(merge, first);
  }

  /** Drops values that are too old for any alarm. */
  prune(now: number): void {
    for (const series of this.#series.values()) {
      const kept = series.findIndex(({ at }) => at > now - this.#times.keptMs);
      series.splice(0, kept < 0 ? series.length : kept);
    }
  }
}

function merge(left: Summary, right: Summary): Summary {
  return {
    sum: left.sum + right.sum,
    count: left.count + right.count,
    min: Math.min(left.min, right.min),
    max: Math.max(left.max, right.max),
  };
}

/**
 * Reads the metrics in a log line in CloudWatch's embedded metric format. Throws for a malformed line, which CloudWatch
 * would silently ignore.
 */
export function readEmbedded(line: string): Value[] {
  if (!line.includes('"_aws"')) return [];
  const root = parse(line);
  const { _aws: metadata } = root;
  if (!isObject(metadata)) return [];
  if (typeof metadata.Timestamp !== 'number' || !Array.isArray(metadata.CloudWatchMetrics))
    throw new Error(`A line of the log has metrics without a time or directives: ${line}`);
  return metadata.CloudWatchMetrics.flatMap((directive) => valuesOf(directive, root, line));
}

function valuesOf(directive: unknown, root: Record<string, unknown>, line: string): Value[] {
  const { Namespace: namespace, Dimensions: sets, Metrics: named } = isObject(directive) ? directive : {};
  if (typeof namespace !== 'string' || namespace === '' || !Array.isArray(sets) || !Array.isArray(named))
    throw new Error(`A line of the log has metrics without a namespace, dimensions or names: ${line}`);
  return sets.flatMap((set) => {
    const names: unknown[] = Array.isArray(set) ? set : [set];
    const dimensions = Object.fromEntries(names.map((name) => [String(name), textIn(root, String(name), line)]));
    return named.map((metric): Value => {
      const name = isObject(metric) ? String(metric.Name) : '';
      const value = root[name];
      if (typeof value !== 'number') throw new Error(`A line of the log has no value of the metric ${name}: ${line}`);
      return { namespace, name, dimensions, value };
    });
  });
}

function textIn(root: Record<string, unknown>, name: string, line: string): string {
  const value = root[name];
  if (typeof value !== 'string' || value === '')
    throw new Error(`A line of the log has no value of the dimension ${name}: ${line}`);
  return value;
}

function parse(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line);
    return isObject(parsed) ? parsed : {};
  } catch {
    // A text that only mentions the key.
    return {};
  }
}
