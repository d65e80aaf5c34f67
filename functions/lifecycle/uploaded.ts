import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, S3Event, SQSEvent, SQSRecord } from 'aws-lambda';
import { fileProblem } from '../../shared/accounts/limits.ts';
import { copyVersion, deleteObject, newToken } from '../../shared/aws/objects.ts';
import { hideFor, queueVariable } from '../../shared/aws/queues.ts';
import { records } from '../../shared/aws/stores/records.ts';
import { detectFile, detectionBytes } from '../../shared/catalogue/detect.ts';
import { atMost } from '../../shared/concurrency.ts';
import { isPartsKey, keptUploadKey, taskOfKey } from '../../shared/files/keys.ts';
import { decodeFileName, safeName } from '../../shared/files/names.ts';
import type { Group } from '../../shared/lifecycle/dependencies.ts';
import { required } from '../../shared/settings.ts';
import {
  hasEnded,
  type PartsUpload,
  processingFailed,
  type StoredFile,
  type TaskFailure,
} from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { lifecycle } from '../wiring/lifecycle.ts';
import { settings } from '../wiring/settings.ts';
import { type PostedFile, readPosted } from './posted-file.ts';

/** A client that posts repeatedly delays its own task. After this many attempts the message is redelivered. */
const maxAttempts = 5;
/** If the process dies, the message is redelivered within this time, and not after the half hour of the queue. */
const hiddenSeconds = 60;
const beatMs = (hiddenSeconds * 1000) / 3;
const firstBeatMs = 1_000;

/**
 * Limits how many tasks of a batch are completed concurrently. Each takes several calls from its end to the published event. If
 * a whole batch shared one processor, each event would be as late as the last.
 */
const inTurn = atMost(2);

const logger = new Logger({ serviceName: 'lathe' });
const processor = new BatchProcessor(EventType.SQS);

/** Completes the tasks whose files have arrived in the bucket. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, uploaded, processor, { context });

async function uploaded(message: SQSRecord): Promise<void> {
  const stopHiding = keepHidden(message);
  try {
    await importFiles(message);
  } catch (error) {
    logger.error('a posted file could not be imported', { messageId: message.messageId, error });
    await stopHiding();
    // Redelivered after 10, 20, 40, then 60 seconds.
    const receives = Number(message.attributes.ApproximateReceiveCount);
    await hide(message, Math.min(60, 10 * 2 ** (receives - 1)));
    throw error;
  } finally {
    await stopHiding();
  }
}

/**
 * Hides a message for a minute at a time while it is handled. Returns a function that stops this. The queue itself hides a message
 * six times as long as a copy may take, because Lambda keeps the message of a throttled invocation that long. Once the message is
 * here, it is only lost if this process dies. Most messages are handled before they are hidden for the first time; if the process
 * dies that early, the sweep finds the file.
 */
function keepHidden(message: SQSRecord): () => Promise<void> {
  let hiding = Promise.resolve();
  const hideAgain = () => {
    hiding = hiding.then(() => hide(message, hiddenSeconds));
    timer = setTimeout(hideAgain, beatMs);
  };
  let timer = setTimeout(hideAgain, firstBeatMs);
  return () => {
    clearTimeout(timer);
    return hiding;
  };
}

async function hide({ messageId, receiptHandle }: SQSRecord, seconds: number): Promise<void> {
  await hideFor(required(queueVariable('uploads')), receiptHandle, seconds).catch((error) =>
    logger.warn('a notification could not be hidden as long as it should be', { messageId, error }),
  );
}

async function importFiles(message: SQSRecord): Promise<void> {
  const event: Partial<S3Event> = JSON.parse(message.body);
  // S3 sends a test event without records when the notification is set up.
  for (const { s3 } of event.Records ?? [])
    await completeUpload(decodeURIComponent(s3.object.key.replaceAll('+', ' ')));
}

/**
 * Moves the posted file out of the form's reach and completes its task with it. A form stays writable until it expires, so exactly
 * the version that was read is copied, and later posts change nothing. Each step may be repeated: by a second delivery, after a
 * crash, or by a concurrent post.
 */
async function completeUpload(key: string): Promise<void> {
  const taskId = taskOfKey(key);
  if (!taskId) return;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const [group, posted] = await Promise.all([readGroup(taskId), readPosted(key, detectionBytes)]);
    const task = group.tasks.find(({ id }) => id === taskId);
    // Only one upload writes to a key for parts, so the file needs no copy.
    const isInPlace = isPartsKey(key);
    if (!task || hasEnded(task)) {
      // The first delivery may have died before it settled the end.
      if (task?.status === 'completed') await lifecycle.settle(task, group);
      // It may also have copied the file of a task that was then canceled or deleted.
      if (posted) await deleteUnlessKept(taskId, isInPlace ? key : keptUploadKey(taskId, posted.etag));
      return isInPlace ? undefined : deleteObject(key);
    }
    // Another delivery has moved the file, or the task was deleted.
    if (!posted) return;
    // The client has started over with another upload.
    if (isInPlace && task.upload?.key !== key) return deleteObject(key);
    const file = await describe(taskId, posted, isInPlace ? task.upload : undefined);
    const forbidden = fileProblem(task.limits ?? {}, file, (format) => catalogue.canonical(format));
    const failure =
      forbidden === undefined ? sizeFailure(file) : ({ errorCode: 'insufficient_permission', msg: forbidden } as const);
    if (failure) {
      await lifecycle.apply(taskId, { type: 'failed', attempt: task.attempt, failure }, task, group);
      return deleteObject(key);
    }
    if (!isInPlace && !(await copyVersion(posted, file.key, file.mediaType))) continue;
    const decision = await inTurn(() => lifecycle.apply(taskId, { type: 'uploaded', file }, task, group));
    if (decision.outcome !== 'changed') await deleteUnlessKept(taskId, file.key);
    return isInPlace ? undefined : deleteObject(key);
  }
  throw new Error(`The file ${key} was replaced ${maxAttempts} times while it was being imported.`);
}

async function readGroup(taskId: string): Promise<Group> {
  return (await records.smallGroup(taskId)) ?? records.groupPart(taskId, [taskId]);
}

/** Checks the size of a file again, which its form or the end of its upload has checked before. */
function sizeFailure({ size }: StoredFile): TaskFailure | undefined {
  const { maxFileBytes } = settings;
  return size > maxFileBytes
    ? processingFailed(`The file is larger than ${maxFileBytes} bytes, the maximum of this service.`)
    : undefined;
}

async function describe(
  taskId: string,
  { etag, size, metadata, start }: PostedFile,
  parts: PartsUpload | undefined,
): Promise<StoredFile> {
  const name = safeName(parts?.name ?? decodeFileName(metadata));
  const detected = await detectFile(catalogue, start, name);
  const key = parts?.key ?? keptUploadKey(taskId, etag);
  return { key, name, size, ...detected, mediaType: catalogue.mediaType(detected.format), token: newToken() };
}

/** Deletes the copy of a task that ended meanwhile, unless it completed with the same content. */
async function deleteUnlessKept(taskId: string, key: string): Promise<void> {
  const task = await lifecycle.read(taskId);
  if (!task?.files.some((file) => file.key === key)) await deleteObject(key);
}
