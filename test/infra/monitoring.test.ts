import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { synthesize } from '../../infra/build/synth.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { readFlattened } from '../../packages/local-aws/src/template/flatten.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { metrics } from '../../shared/metrics.ts';
import { functionOf } from '../support/running-stack.ts';
import { type Json, readSynthesized, resourcesOf } from '../support/template.ts';

const template = await readSynthesized();
const stack = readTemplate({
  template: await currentTemplate(),
  origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
  parameters: {},
});

/** Returns a joined text, with a placeholder for each reference. */
function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  const [, parts] = Object(value)['Fn::Join'] ?? [];
  return parts.map((part: Json) => (typeof part === 'string' ? part : 'reference')).join('');
}

describe('alarms', () => {
  const deadLetterArns = stack.queues.flatMap(({ attributes }) =>
    attributes.RedrivePolicy === undefined ? [] : JSON.parse(attributes.RedrivePolicy).deadLetterTargetArn,
  );
  const watched = (metric: string) =>
    stack.alarms.filter(({ metric: { name } }) => name === metric).map(({ metric }) => metric.dimensions.QueueName);

  test('are the ten that AWS offers for free: each uses one metric', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm');
    for (const { id, Properties } of alarms) expect(Properties.Metrics, id).toBeUndefined();
    expect(alarms).toHaveLength(10);
  });

  test('cover every reachable dead-letter queue that the sweep does not read', () => {
    const sweep = functionOf(stack, 'functions/lifecycle/sweep.ts');
    for (const queue of stack.queues) {
      if (!deadLetterArns.includes(queue.arn)) continue;
      const isRead = sweep.role.statements.some(
        ({ actions, resources }) => actions.includes('sqs:ReceiveMessage') && resources.includes(queue.arn),
      );
      const [from] = stack.queues.filter(({ attributes }) => attributes.RedrivePolicy?.includes(`"${queue.arn}"`));
      const { VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy = '{}' } = from?.attributes ?? {};
      // Stays empty if messages are dropped before their last receive.
      const isReached =
        Number(VisibilityTimeout) * (JSON.parse(RedrivePolicy).maxReceiveCount - 1) < Number(MessageRetentionPeriod);
      expect(watched('ApproximateNumberOfMessagesVisible').includes(queue.name), queue.name).toBe(!isRead && isReached);
    }
  });

  test('cover the age of every queue that users wait for, unless the sweep counts its late tasks', () => {
    const unread = stack.queues.filter(
      ({ arn, name }) => !deadLetterArns.includes(arn) && !/Progress|Webhooks|Engine/.test(name),
    );
    expect(watched('ApproximateAgeOfOldestMessage').sort()).toEqual(unread.map(({ name }) => name).sort());
    expect(watched('LateTasks')).toHaveLength(1);
  });

  test('cover metrics that our functions write', () => {
    const own = stack.alarms.filter(({ metric }) => !metric.namespace.startsWith('AWS/'));
    for (const { metric } of own) {
      expect(Object.keys(metrics)).toContain(metric.name);
      expect(metric.namespace).toBe(
        stack.functions.find(({ environment }) => environment.LATHE_ENGINE)?.environment.POWERTOOLS_METRICS_NAMESPACE,
      );
    }
    expect(own.length).toBeGreaterThan(0);
  });

  test('are sent to the e-mail address in the context value', async () => {
    expect(resourcesOf(template, 'AWS::SNS::Subscription')).toEqual([]);
    await using temporary = await mkdtempDisposable(join(tmpdir(), 'lathe-test-'));
    const folder = temporary.path;
    const path = await synthesize(folder, { alarmEmail: 'ops@example.com' });
    const resources: Record<string, { Type: string; Properties: Record<string, Json> }> = Object(
      readFlattened(path),
    ).Resources;
    const [subscription] = Object.values(resources).filter(({ Type }) => Type === 'AWS::SNS::Subscription');
    expect(subscription?.Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
  });
});

test('the dashboard is a free one: it shows at most 50 metrics', () => {
  const [dashboard, ...others] = resourcesOf(template, 'AWS::CloudWatch::Dashboard');
  expect(others).toEqual([]);
  const { widgets } = JSON.parse(textOf(dashboard?.Properties.DashboardBody));
  const shown = widgets.reduce(
    (sum: number, widget: { properties: { metrics: unknown[] } }) => sum + widget.properties.metrics.length,
    0,
  );
  expect(shown).toBeGreaterThan(30);
  expect(shown).toBeLessThanOrEqual(50);
});
