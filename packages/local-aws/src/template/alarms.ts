import type { LocalAlarm, PolicyStatement } from './model.ts';
import { readPolicy } from './policies.ts';
import { NotUnderstood, type Properties } from './properties.ts';

interface Resource {
  logicalId: string;
  ref: string;
  properties: Properties;
}

const statistics = ['Sum', 'Average', 'Minimum', 'Maximum', 'SampleCount'] as const;

/** Reads the alarms, with their topics, which must allow them to publish. */
export function readAlarms(ofType: (type: string) => Resource[]): LocalAlarm[] {
  const topics = readTopics(ofType);
  for (const { properties } of ofType('AWS::CloudWatch::Dashboard'))
    properties.pass('For people, in the console of AWS', 'DashboardBody', 'DashboardName');
  return ofType('AWS::CloudWatch::Alarm').map((resource) => readAlarm(resource, topics));
}

/** Returns the policy of each topic by ARN. */
function readTopics(ofType: (type: string) => Resource[]): Map<string, PolicyStatement[]> {
  const topics = new Map(
    ofType('AWS::SNS::Topic').map(({ ref, properties }): [string, PolicyStatement[]] => {
      properties.pass('A name in e-mails', 'DisplayName');
      return [ref, []];
    }),
  );
  for (const { logicalId, properties } of ofType('AWS::SNS::TopicPolicy')) {
    const statements = readPolicy(properties.object('PolicyDocument'));
    for (const arn of properties.texts('Topics')) {
      const topic = topics.get(arn);
      if (!topic) throw new NotUnderstood(`${logicalId} belongs to a topic that the template does not have.`);
      topic.push(...statements);
    }
  }
  for (const { properties } of ofType('AWS::SNS::Subscription')) {
    properties.only('Protocol', 'email');
    properties.pass('Alarms are printed here, and no e-mail is sent', 'Endpoint', 'TopicArn');
  }
  return topics;
}

function readAlarm({ logicalId, properties }: Resource, topics: Map<string, PolicyStatement[]>): LocalAlarm {
  properties.only('ComparisonOperator', 'GreaterThanOrEqualToThreshold');
  const missing = properties.text('TreatMissingData');
  if (missing !== 'breaching' && missing !== 'notBreaching')
    throw new NotUnderstood(`${logicalId} treats missing data as ${missing}.`);
  const statistic = properties.text('Statistic');
  const known = statistics.find((candidate) => candidate === statistic);
  if (!known) throw new NotUnderstood(`${logicalId} has the statistic ${statistic}.`);
  for (const arn of [...properties.texts('AlarmActions'), ...properties.texts('OKActions')]) {
    const policy = topics.get(arn);
    if (!policy) throw new NotUnderstood(`${logicalId} notifies something that is no topic of the template.`);
    if (!letsAlarmsPublish(policy, arn))
      throw new NotUnderstood(
        `${logicalId}: the policy of its topic does not allow cloudwatch.amazonaws.com to publish.`,
      );
  }
  properties.pass('A text for people', 'AlarmDescription');
  const alarm: LocalAlarm = {
    logicalId,
    name: logicalId.replace(/^Monitoring/, '').replace(/[0-9A-F]{8}$/, ''),
    metric: {
      namespace: properties.text('Namespace'),
      name: properties.text('MetricName'),
      dimensions: Object.fromEntries(
        properties.objects('Dimensions').map((dimension) => [dimension.text('Name'), dimension.text('Value')]),
      ),
    },
    statistic: known,
    periodSeconds: properties.number('Period', 0),
    evaluationPeriods: properties.number('EvaluationPeriods', 0),
    threshold: properties.number('Threshold', 0),
    missing,
  };
  checkTimes(alarm);
  return alarm;
}

/** Throws for periods that are not whole minutes, and for evaluations of more than a day, which CloudWatch refuses. */
function checkTimes({ logicalId, periodSeconds, evaluationPeriods }: LocalAlarm): void {
  if (periodSeconds < 60 || periodSeconds % 60 !== 0 || evaluationPeriods < 1)
    throw new NotUnderstood(`${logicalId} has ${evaluationPeriods} periods of ${periodSeconds} seconds.`);
  if (periodSeconds * evaluationPeriods > 86_400)
    throw new NotUnderstood(`${logicalId} looks back for more than a day, which CloudWatch refuses.`);
}

/** A topic without a policy admits its whole account; one with a policy only what that names. */
function letsAlarmsPublish(policy: PolicyStatement[], topic: string): boolean {
  if (policy.length === 0) return true;
  return policy.some(
    ({ effect, principals = [], actions, resources }) =>
      effect === 'Allow' &&
      principals.some(({ type, value }) => type === 'Service' && value === 'cloudwatch.amazonaws.com') &&
      actions.some((action) => action.toLowerCase() === 'sns:publish') &&
      resources.includes(topic),
  );
}
