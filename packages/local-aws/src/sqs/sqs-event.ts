import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { LocalQueue } from '../template/model.ts';

/** Builds the event of received messages as Lambda's poller does. */
export function buildSqsEvent(queue: LocalQueue, messages: Message[]): { Records: unknown[] } {
  return { Records: messages.map((message) => buildRecord(queue, message)) };
}

function buildRecord(queue: LocalQueue, message: Message): unknown {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body ?? '',
    attributes: { ...message.Attributes },
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, buildAttribute(value)]),
    ),
    ...(message.MD5OfMessageAttributes && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queue.arn,
    awsRegion: queue.arn.split(':')[3],
  };
}

function buildAttribute(value: MessageAttributeValue): unknown {
  return {
    ...(value.StringValue !== undefined && { stringValue: value.StringValue }),
    ...(value.BinaryValue !== undefined && { binaryValue: Buffer.from(value.BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType,
  };
}
