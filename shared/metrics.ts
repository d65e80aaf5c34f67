/**
 * The metrics of the service itself, in addition to those AWS has of queues, functions and APIs. Each name with
 * dimensions costs 0.30 dollars per month, prorated by the hours with values, so none has values while nothing happens.
 */
export const metrics = {
  /** How long a worker was busy with a task. Conversions are billed by the sum. */
  TaskSeconds: { unit: 'Seconds', dimensions: ['engine'] },
  /** How long a task waited in its queue before its first run. */
  QueueSeconds: { unit: 'Seconds', dimensions: ['engine'] },
  /** Tasks that the sweep found queued for more than 15 minutes, counted at each sweep. */
  LateTasks: { unit: 'Count', dimensions: [] },
  TaskFailures: { unit: 'Count', dimensions: ['engine', 'errorCode'] },
  /** By how much the estimated engine time of a surveyed or measured run was wrong, in percent of it. */
  EstimateError: { unit: 'Percent', dimensions: [] },
  /** Webhook deliveries that failed after their last attempt. */
  WebhookFailures: { unit: 'Count', dimensions: [] },
} as const satisfies Record<string, { unit: 'Seconds' | 'Count' | 'Percent'; dimensions: readonly string[] }>;

type MetricName = keyof typeof metrics;
type Values = Partial<Record<MetricName, number>>;
type Dimensions = Partial<Record<Dimension, string>>;
type Dimension = (typeof metrics)[MetricName]['dimensions'][number];

/** The variable that names the namespace, by Powertools' convention; each stage has its own. */
export const namespaceVariable = 'POWERTOOLS_METRICS_NAMESPACE';

/**
 * Writes metrics as a log line in CloudWatch's embedded metric format, with properties for searching. Powertools' own
 * module would add 13 KB to a bundle and a few milliseconds to its start. Writes to the stream directly, because Lambda
 * wraps console output in JSON, where CloudWatch finds no metrics.
 */
export function writeMetrics(values: Values, dimensions: Dimensions, properties: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify(metricsLine(values, dimensions, properties, Date.now()))}\n`);
}

/** Returns the object that is written as a line. */
export function metricsLine(
  values: Values,
  dimensions: Dimensions,
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
