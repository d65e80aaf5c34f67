import { isObject } from '../template/properties.ts';

/** One value of a metric. */
export interface Value {
  namespace: string;
  name: string;
  dimensions: Record<string, string>;
  value: number;
}

/** Identifies a metric: CloudWatch keeps one for each combination of dimensions, and adds none of them up. */
export function keyOf({ namespace, name, dimensions }: Omit<Value, 'value'>): string {
  const sorted = Object.entries(dimensions).sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([namespace, name, sorted]);
}

/** The values of some metrics, for as long as anybody looks at them. */
export class MetricStore {
  readonly #series: Map<string, { at: number; value: number }[]>;
  readonly #keptMs: number;

  constructor(wanted: Omit<Value, 'value'>[], keptMs: number) {
    this.#series = new Map(wanted.map((metric) => [keyOf(metric), []]));
    this.#keptMs = keptMs;
  }

  add(value: Value, at: number): void {
    this.#series.get(keyOf(value))?.push({ at, value: value.value });
  }

  /** Returns the values of a metric after one time, up to and including another. */
  between(metric: Omit<Value, 'value'>, from: number, to: number): number[] {
    const points = this.#series.get(keyOf(metric)) ?? [];
    return points.filter(({ at }) => at > from && at <= to).map(({ value }) => value);
  }

  /** Drops what is too old for any alarm. */
  prune(now: number): void {
    for (const [key, points] of this.#series)
      this.#series.set(
        key,
        points.filter(({ at }) => at > now - this.#keptMs),
      );
  }
}

/**
 * Reads the metrics in a line of a log, as CloudWatch does in the embedded metric format. Throws for a line that means to
 * have some and would give none there, where nobody would notice.
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
