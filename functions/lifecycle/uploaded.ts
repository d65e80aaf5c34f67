import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, S3Event, SQSEvent, SQSRecord } from 'aws-lambda';
import { deleteObject, newToken } from '../../shared/aws/objects.ts';
import { hideFor, queueVariable } from '../../shared/aws/queues.ts';
import { decodeFileName } from '../../shared/aws/upload-form.ts';
import { detectFormat, detectionBytes } from '../../shared/catalogue/detect.ts';
import { keptUploadKey, taskOfKey } from '../../shared/files/keys.ts';
import { safeName } from '../../shared/files/names.ts';
import { required } from '../../shared/settings.ts';
import { hasEnded, type StoredFile } from '../../shared/tasks/task.ts';
import { catalogue } from '../engines/runtime/catalogues.ts';
import { lifecycle } from '../wiring/lifecycle.ts';
import { copyPosted, type PostedFile, readPosted } from './posted-file.ts';

/** A client that posts again and again delays its own task; after so many attempts the message is redelivered. */
const maxAttempts = 5;

const logger = new Logger({ serviceName: 'lathe' });
const processor = new BatchProcessor(EventType.SQS);

/** Completes the tasks whose files have arrived in the bucket. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, uploaded, processor, { context });

async function uploaded(message: SQSRecord): Promise<void> {
  try {
    await importFiles(message);
  } catch (error) {
    logger.error('a posted file could not be imported', { messageId: message.messageId, error });
    await retrySoon(message);
    throw error;
  }
}

/** Has a message that failed redelivered within a minute. Its queue hides it for half an hour, since a copy may take long. */
async function retrySoon({ messageId, receiptHandle, attributes }: SQSRecord): Promise<void> {
  const seconds = retrySeconds(Number(attributes.ApproximateReceiveCount));
  await hideFor(required(queueVariable('uploads')), receiptHandle, seconds).catch((error) =>
    logger.warn('a notification is redelivered late', { messageId, error }),
  );
}

/** Returns after how many seconds a message is redelivered that was received so many times: 10, 20, 40, then 60. */
function retrySeconds(receives: number): number {
  return Math.min(60, 10 * 2 ** (receives - 1));
}

async function importFiles(message: SQSRecord): Promise<void> {
  const event: Partial<S3Event> = JSON.parse(message.body);
  // S3 sends a test event without records when the notification is set up.
  for (const { s3 } of event.Records ?? [])
    await completeUpload(decodeURIComponent(s3.object.key.replaceAll('+', ' ')));
}

/**
 * Moves the posted file out of the form's reach and completes its task with it. A form stays writable for as long as it is
 * signed, so the file is copied, and only the content that was read: what is posted later changes nothing.
 * Each step may be repeated: by a second delivery, after a crash, or by a second post at the same time.
 */
async function completeUpload(key: string): Promise<void> {
  const taskId = taskOfKey(key);
  if (!taskId) return;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const task = await lifecycle.read(taskId);
    if (!task || hasEnded(task)) {
      // The first delivery of this event may have died before it did all that follows from the end.
      if (task?.status === 'completed' && task.dueAt !== undefined) await lifecycle.settle(task);
      // That delivery may also have copied the file of a task that ended otherwise.
      const late = await readPosted(key, 1);
      if (late) await deleteUnlessKept(taskId, keptUploadKey(taskId, late.etag));
      return deleteObject(key);
    }
    const posted = await readPosted(key, detectionBytes);
    // Another delivery has moved it and deletes it last of all, or the task was deleted.
    if (!posted) return;
    const file = await describe(taskId, posted);
    if (!(await copyPosted(posted, file.key, file.mediaType))) continue;
    const decision = await lifecycle.apply(taskId, { type: 'uploaded', file }, task);
    if (decision.outcome !== 'changed') await deleteUnlessKept(taskId, file.key);
    return deleteObject(key);
  }
  throw new Error(`The file ${key} was replaced ${maxAttempts} times while it was being imported.`);
}

async function describe(taskId: string, { etag, size, metadata, start }: PostedFile): Promise<StoredFile> {
  const name = safeName(decodeFileName(metadata));
  const format = await detectFormat(catalogue, start, name);
  const key = keptUploadKey(taskId, etag);
  return { key, name, size, format, mediaType: catalogue.mediaType(format), token: newToken() };
}

/** Deletes the copy of a task that ended meanwhile, unless it ended with the same content. */
async function deleteUnlessKept(taskId: string, key: string): Promise<void> {
  const task = await lifecycle.read(taskId);
  if (!task?.files.some((file) => file.key === key)) await deleteObject(key);
}
