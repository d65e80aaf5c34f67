import type { SQSEvent } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { handler } from '../../../functions/events/relay/relay.ts';

type Record = Pick<SQSEvent['Records'][number], 'messageId' | 'body'> & { attributes: { MessageGroupId: string } };

function eventOf(records: Record[]): SQSEvent {
  return {
    Records: records.map(({ attributes, ...record }) => ({
      ...record,
      receiptHandle: '',
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: '',
      awsRegion: '',
      attributes: {
        ...attributes,
        ApproximateReceiveCount: '1',
        SentTimestamp: '0',
        SenderId: '',
        ApproximateFirstReceiveTimestamp: '0',
      },
    })),
  };
}

test('a message that is not JSON fails with those behind it in its group, and each message is parsed once', async () => {
  const bodies: [string, string] = ['{', '{"type":"opened","connection":"c"}'];
  const parse = vi.spyOn(JSON, 'parse');
  const { batchItemFailures } = await handler(
    eventOf([
      { messageId: 'broken', body: bodies[0], attributes: { MessageGroupId: 'one' } },
      { messageId: 'behind', body: bodies[1], attributes: { MessageGroupId: 'one' } },
    ]),
  );
  expect(batchItemFailures).toEqual([{ itemIdentifier: 'broken' }, { itemIdentifier: 'behind' }]);
  expect(parse.mock.calls.filter(([text]) => bodies.includes(text))).toHaveLength(bodies.length);
});
