import { Aws, Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Subscription, SubscriptionProtocol, Topic } from 'aws-cdk-lib/aws-sns';
import type { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { defined } from '../../shared/defined.ts';
import { type metrics, namespaceVariable } from '../../shared/metrics.ts';
import { readDeployment } from '../deployment.ts';

const fiveMinutes = Duration.minutes(5);
/**
 * How long a message may be queued beyond the maximum duration of its consumer: the time after which the sweep sends it
 * again.
 */
const lateSeconds = 900;

interface WatchedQueue {
  /** Used in the names of its alarms. */
  name: string;
  queue: Queue;
  /** How long a message is normally queued at most: the maximum duration of its consumer. */
  consumerSeconds: number;
}

interface MonitoringProps {
  /** The namespace of the service's own metrics. */
  namespace: string;
  api: HttpApi;
  sweep: IFunction;
  engines: { name: string; queue: Queue }[];
  /** Absent if uploads share the queue of the tasks. */
  uploads: WatchedQueue | undefined;
  events: WatchedQueue;
  progress: Queue | undefined;
  webhooks: Queue;
}

interface AlarmProps {
  metric: Metric;
  threshold: number;
  meaning: string;
  periods?: number;
  missing?: TreatMissingData;
}

/**
 * Notifies operators: alarms to a topic, each with an entry in docs/runbook.md, and a dashboard. An alarm costs 0.10
 * dollars a month per metric, also within expressions, so each uses one. The first ten alarms of an account are free,
 * and there are no more than ten. A dashboard of up to 50 metrics is free too. The sweep covers two kinds of queues: it
 * settles dead letters of tasks and uploads, and counts the tasks that wait in the queue of any engine.
 */
export class Monitoring extends Construct {
  readonly #topic: Topic;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.#topic = this.#addTopic(readDeployment(this).alarmEmail);
    this.#addApiAlarms(props);
    const { uploads, events, progress, webhooks } = props;
    if (uploads) this.#addAge(uploads);
    this.#addAge(events);
    this.#addDeadLetters('Events', events.queue);
    if (progress) this.#addDeadLetters('Progress', progress);
    this.#addDeadLetters('Webhooks', webhooks);
    new Dashboard(this, 'Dashboard', { widgets: rows(props) });
  }

  #addTopic(email: string | undefined): Topic {
    // Not encrypted at rest: CloudWatch cannot publish with the AWS managed key, and a key of the stack would cost more
    // than all alarms. Only names and values of metrics pass through.
    const topic = new Topic(this, 'Topic', { displayName: 'Lathe', enforceSSL: true });
    // A topic policy replaces the default one, which admits the whole account, including alarms.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (email !== undefined)
      new Subscription(this, 'Email', { topic, protocol: SubscriptionProtocol.EMAIL, endpoint: email });
    return topic;
  }

  #addApiAlarms({ api, sweep, namespace }: MonitoringProps): void {
    this.#alarm('ApiErrors', {
      metric: api.metricServerError({ statistic: 'Sum', period: fiveMinutes }),
      threshold: 5,
      meaning: 'the API responds with server errors (5xx)',
    });
    this.#alarm('Throttles', {
      // For all functions of the region, because they share the concurrency.
      metric: lambdaMetric('Throttles', 'Sum'),
      threshold: 10,
      meaning: 'Lambda throttles invocations because the concurrency is used up',
    });
    this.#alarm('SweepFailing', {
      // 0 for a successful run: the minimum is 1 if none succeeded, and missing if none ran.
      metric: sweep.metricErrors({ statistic: 'Minimum', period: Duration.minutes(1) }),
      threshold: 1,
      periods: 5,
      missing: TreatMissingData.BREACHING,
      meaning: 'the sweep has not run, or has failed each time, for five minutes',
    });
    this.#alarm('TasksWaiting', {
      // At least two tasks, or one twice: a message that was lost once needs no action.
      metric: ownMetric(namespace, 'LateTasks', {}, 'Sum', Duration.minutes(30)),
      threshold: 2,
      meaning: 'tasks have waited in the queue of an engine for more than 15 minutes',
    });
    this.#alarm('WebhooksFailing', {
      metric: ownMetric(namespace, 'WebhookFailures', {}, 'Sum', Duration.hours(1)),
      threshold: 5,
      meaning: 'webhook deliveries have failed after their last attempt',
    });
  }

  #addAge({ name, queue, consumerSeconds }: WatchedQueue): void {
    this.#alarm(`${name}Waiting`, {
      metric: ageOf(queue),
      threshold: consumerSeconds + lateSeconds,
      meaning: 'a message has been queued for 15 minutes longer than its consumer may run',
    });
  }

  #addDeadLetters(name: string, queue: Queue): void {
    this.#alarm(`${name}DeadLetters`, {
      metric: deadLettersOf(queue),
      threshold: 1,
      meaning: 'messages that could not be handled are in a dead-letter queue that nothing reads',
    });
  }

  #alarm(id: string, { metric, threshold, meaning, periods = 1, missing }: AlarmProps): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: `Lathe: ${meaning}. What to do: ${id} in docs/runbook.md.`,
    });
    const action = new SnsAction(this.#topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}

/** Returns the variables that functions need to write metrics. */
export function metricVariables(namespace: string): Record<string, string> {
  return { [namespaceVariable]: namespace };
}

function rows({ namespace, api, sweep, engines, uploads, events, webhooks }: MonitoringProps): GraphWidget[][] {
  const queues = [...new Set([...engines, ...(uploads ? [uploads] : []), events].map(({ queue }) => queue))];
  const byEngine = (name: 'TaskSeconds' | 'QueueSeconds', shown = engines) =>
    shown.map((engine) =>
      ownMetric(namespace, name, { engine: engine.name.toLowerCase() }, 'p90', fiveMinutes, engine.name),
    );
  // Engines that share a queue wait as long.
  const withQueues = engines.filter(({ queue }, index) => engines.findIndex((each) => each.queue === queue) === index);
  const failures = new MathExpression({
    expression: `SEARCH('{"${namespace}",engine,errorCode} MetricName="TaskFailures"', 'Sum', 300)`,
    usingMetrics: {},
    period: fiveMinutes,
    label: '',
  });
  return [
    [
      graph('Requests', [api.metricCount(), api.metricClientError(), api.metricServerError()], 'Sum'),
      graph('Latency, ms', [api.metricLatency({ statistic: 'p50' }), api.metricLatency({ statistic: 'p99' })]),
      graph('Concurrency and throttles', [
        lambdaMetric('ConcurrentExecutions', 'Maximum'),
        lambdaMetric('Throttles', 'Sum'),
      ]),
    ],
    [
      graph('Oldest message, s', [...queues, webhooks].map(ageOf)),
      graph('Waiting before the first run, p90, s', byEngine('QueueSeconds', withQueues)),
      graph('Dead letters', [...queues, webhooks].map(deadLettersOf)),
    ],
    [
      graph('Duration of tasks, p90, s', byEngine('TaskSeconds')),
      graph('Failed tasks by engine and error code', [failures]),
      graph('Sweep and webhooks', [
        sweep.metricInvocations({ statistic: 'Sum' }),
        sweep.metricErrors({ statistic: 'Sum' }),
        ownMetric(namespace, 'WebhookFailures', {}, 'Sum', fiveMinutes),
      ]),
    ],
  ];
}

function graph(title: string, left: IMetric[], statistic?: string): GraphWidget {
  return new GraphWidget(defined({ title, left, width: 8, statistic }));
}

function ownMetric(
  namespace: string,
  metricName: keyof typeof metrics,
  dimensionsMap: Record<string, string>,
  statistic: string,
  period: Duration,
  label?: string,
): Metric {
  return new Metric(defined({ namespace, metricName, dimensionsMap, statistic, period, label }));
}

function lambdaMetric(metricName: string, statistic: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: fiveMinutes });
}

function ageOf(queue: IQueue): Metric {
  return queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: fiveMinutes });
}

function deadLettersOf({ deadLetterQueue, node }: Queue): Metric {
  if (!deadLetterQueue) throw new Error(`${node.path} has no dead-letter queue.`);
  const options = { statistic: 'Maximum', period: fiveMinutes };
  return deadLetterQueue.queue.metricApproximateNumberOfMessagesVisible(options);
}
