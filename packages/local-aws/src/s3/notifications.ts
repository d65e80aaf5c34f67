import { isAllowed } from '../iam/policy.ts';
import type { Recorder } from '../iam/record.ts';
import type { Queues } from '../sqs/queues.ts';
import type { BucketNotification, LocalBucket, LocalStack } from '../template/model.ts';
import type { ObjectCreation } from './request.ts';
import type { StoredObject } from './store.ts';

let lastSequence = 0n;

/** Notifies the queues of a bucket of a new object; throws if a queue does not allow S3 to send to it. */
export async function notifyCreated(
  stack: LocalStack,
  sendMessage: Queues['send'],
  record: Recorder,
  kind: ObjectCreation,
  object: StoredObject,
): Promise<void> {
  const bucket = stack.buckets.find((candidate) => candidate.name === object.bucket);
  if (!bucket) return;
  const eventName = `ObjectCreated:${kind}`;
  for (const notification of bucket.notifications) {
    if (!matches(notification, eventName, object.key)) continue;
    const queue = stack.queues.find((candidate) => candidate.arn === notification.queueArn);
    if (!queue) throw new Error(`The bucket ${bucket.logicalId} notifies a queue outside the stack`);
    const context: Record<string, string[]> = {
      'aws:sourcearn': [bucket.arn],
      'aws:sourceaccount': [stack.account],
      'aws:securetransport': ['true'],
    };
    const request = {
      caller: { type: 'service', name: 's3.amazonaws.com' },
      action: 'sqs:SendMessage',
      resource: queue.arn,
      context: (key: string) => context[key.toLowerCase()],
    } as const;
    const allowed = isAllowed(request, [], queue.policy);
    const { caller, action, resource } = request;
    record(
      { role: caller.name, action, resource, conditions: context, isAllowed: allowed },
      { caller, identity: [], resource: queue.policy },
    );
    if (!allowed) {
      throw new Error(`The policy of the queue ${queue.logicalId} does not allow S3 to send messages to it`);
    }
    await sendMessage(queue.name, JSON.stringify({ Records: [eventOf(stack, bucket, eventName, object)] }));
  }
}

function matches(notification: BucketNotification, eventName: string, key: string): boolean {
  const event = `s3:${eventName}`;
  const wanted = notification.event;
  return (
    (wanted === event || (wanted.endsWith('*') && event.startsWith(wanted.slice(0, -1)))) &&
    key.startsWith(notification.prefix) &&
    key.endsWith(notification.suffix)
  );
}

function eventOf(stack: LocalStack, bucket: LocalBucket, eventName: string, object: StoredObject): object {
  return {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: stack.region,
    eventTime: new Date(object.modified).toISOString(),
    eventName,
    userIdentity: { principalId: stack.account },
    requestParameters: { sourceIPAddress: '127.0.0.1' },
    responseElements: {},
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: bucket.logicalId,
      bucket: { name: bucket.name, ownerIdentity: { principalId: stack.account }, arn: bucket.arn },
      object: {
        // S3 encodes the key like form data, with + for a space.
        key: new URLSearchParams({ key: object.key }).toString().slice('key='.length).replaceAll('%2F', '/'),
        size: object.size,
        eTag: object.etag,
        sequencer: nextSequence(),
      },
    },
  };
}

/** Returns a number that increases with every event, even after a restart and within a millisecond. */
function nextSequence(): string {
  const now = BigInt(Date.now()) << 16n;
  lastSequence = now > lastSequence ? now : lastSequence + 1n;
  return lastSequence.toString(16).toUpperCase().padStart(18, '0');
}
