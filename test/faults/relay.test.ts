import { expect, onTestFinished, test } from 'vitest';
import { startStack } from '../events/stack.ts';
import { PlainSubscriber, untilReceived } from '../events/subscribers.ts';
import { dataUri } from '../support/client.ts';
import { functionOf } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

test('a subscriber receives the rest of a large job when the relay dies meanwhile, and not all of it again', async () => {
  await using stack = await startStack();
  const tasks = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [
      `import-${index}`,
      { operation: 'import/base64', file: dataUri(Buffer.from('a')), filename: `${index}.txt` },
    ]),
  );
  const job = await stack.client.createJob(tasks);
  await stack.client.waitForJob(job.id);
  const subscriber = new PlainSubscriber(stack);
  onTestFinished(() => subscriber.close());
  await until('it is open', () => subscriber.connections > 0);
  subscriber.subscribe(`job.${job.id}`);
  await until('half is received', () => subscriber.received.length > 150, { everyMs: 1 });
  stack.killFunction(functionOf(stack.stack, 'functions/events/relay/relay.ts'));
  await untilReceived(subscriber, 'job_completed', job.id, { seconds: 60 });
  const ids = subscriber.received.map(({ id }) => id);
  expect(subscriber.connections).toBe(1);
  expect(subscriber.messages.filter(({ event }) => event === 'subscribed')).toHaveLength(1);
  expect(new Set(ids)).toEqual(new Set([job.id, ...job.tasks.map(({ id }) => id)]));
  expect(ids.length).toBeGreaterThanOrEqual(301);
  expect(ids.length).toBeLessThan(301 + 60);
});
