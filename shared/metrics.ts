/**
 * The metrics of the service itself; AWS has its own of queues, functions and APIs. Each combination of a name and
 * dimensions costs 0.30 dollars in a month in which it has values, by the hour, so none has any while nothing happens.
 */
export const metrics = {
  /** How long a worker was busy with a task; the sum of it is what conversions are paid by. */
  TaskSeconds: { unit: 'Seconds', dimensions: ['engine'] },
  /** How long a task waited in its queue before its first run. */
  QueueSeconds: { unit: 'Seconds', dimensions: ['engine'] },
  /** Tasks that the sweep found in a queue after a quarter of an hour; one that stays there counts again each time. */
  LateTasks: { unit: 'Count', dimensions: [] },
  TaskFailures: { unit: 'Count', dimensions: ['engine', 'errorCode'] },
  /** Deliveries to webhooks that were given up. */
  WebhookFailures: { unit: 'Count', dimensions: [] },
} as const satisfies Record<string, { unit: 'Seconds' | 'Count'; dimensions: readonly string[] }>;

type MetricName = keyof typeof metrics;
type Dimension = (typeof metrics)[MetricName]['dimensions'][number];

/** The variable that names the namespace, by Powertools' convention; each stage has its own. */
export const namespaceVariable = 'POWERTOOLS_METRICS_NAMESPACE';

/**
 * Writes values of metrics as a line of the log in CloudWatch's embedded metric format, with properties to find it by.
 * In place of Powertools' own module, which adds 13 KB to a bundle and a few milliseconds to its start. Straight to the
 * stream, as Lambda wraps whatever goes to the console in JSON of its own, and CloudWatch would see no metric in that.
 */
export function writeMetrics(
  values: Partial<Record<MetricName, number>>,
  dimensions: Partial<Record<Dimension, string>>,
  properties: Record<string, unknown> = {},
): void {
  process.stdout.write(`${JSON.stringify(metricsLine(values, dimensions, properties, Date.now()))}\n`);
}

/** Returns the object that the line is made of. */
export function metricsLine(
  values: Partial<Record<MetricName, number>>,
  dimensions: Partial<Record<Dimension, string>>,
  properties: Record<string, unknown>,
  now: number,
): Record<string, unknown> {
  const namespace = process.env[namespaceVariable] ?? 'Lathe';
  const directives = Object.keys(values)
    .filter(isMetric)
    .map((name) => ({
      Namespace: namespace,
      Dimensions: [metrics[name].dimensions],
      Metrics: [{ Name: name, Unit: metrics[name].unit }],
    }));
  return {
    level: 'INFO',
    timestamp: new Date(now).toISOString(),
    service: 'lathe',
    ...properties,
    ...dimensions,
    ...values,
    _aws: { Timestamp: now, CloudWatchMetrics: directives },
  };
}

function isMetric(name: string): name is MetricName {
  return Object.hasOwn(metrics, name);
}
