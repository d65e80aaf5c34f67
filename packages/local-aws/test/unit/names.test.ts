import { expect, it } from 'vitest';
import { referable } from '../../src/template/names.ts';

const origins = { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' };

it.each([
  [{ FifoQueue: true }, 'Events.fifo'],
  [{}, 'Events'],
])('names a queue with %j as CloudFormation does, which SQS requires', (properties, name) => {
  expect(referable('AWS::SQS::Queue', 'Events', origins, properties)).toEqual({
    ref: `http://127.0.0.1:3000/_aws/sqs/000000000000/${name}`,
    attributes: { Arn: `arn:aws:sqs:us-east-1:000000000000:${name}`, QueueName: name },
  });
});
