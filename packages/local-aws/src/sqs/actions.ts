import { Refusal, type RequiredAction } from '../iam/refusal.ts';
import type { LocalStack } from '../template/model.ts';

const sqsOperations =
  /^(SendMessage|DeleteMessage|ChangeMessageVisibility)(Batch)?$|^(ReceiveMessage|GetQueueAttributes|GetQueueUrl|ListQueues|PurgeQueue)$/;

/** Returns the permission that an SQS call needs, and refuses unsupported operations. */
export function sqsActions(stack: LocalStack, operation: string, input: Record<string, unknown>): RequiredAction[] {
  if (!sqsOperations.test(operation))
    throw new Refusal('unsupported', `The operation ${operation} of SQS is not supported here.`);
  if (operation === 'ListQueues')
    // It has no resource: only a policy on `*` allows it.
    return [{ action: 'sqs:ListQueues', resource: '*' }];
  const name = queueName(input);
  if (!name) throw new Refusal('invalid-request', 'The request must contain the parameter QueueUrl.');
  // A batch needs the permission of its single operation.
  const action = `sqs:${operation.replace(/Batch$/, '')}`;
  return [{ action, resource: `arn:aws:sqs:${stack.region}:${stack.account}:${name}` }];
}

function queueName(input: Record<string, unknown>): string | undefined {
  if (typeof input.QueueUrl === 'string') return input.QueueUrl.split('/').filter(Boolean).at(-1);
  return typeof input.QueueName === 'string' ? input.QueueName : undefined;
}
