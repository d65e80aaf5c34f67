import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, S3Event, SQSEvent, SQSRecord } from 'aws-lambda';
import { detectFormat, detectionBytes } from '../../shared/catalogue/detect.ts';
import { taskOfKey } from '../../shared/files/keys.ts';
import { safeName } from '../../shared/files/names.ts';
import { headObject, newToken, readStart } from '../../shared/files/objects.ts';
import { decodeFileName } from '../../shared/files/upload-form.ts';
import { catalogue } from '../engines/catalogues.ts';
import { lifecycle } from '../wiring.ts';

const processor = new BatchProcessor(EventType.SQS);

/** Completes the tasks whose files have arrived in the bucket. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, uploaded, processor, { context });

async function uploaded(message: SQSRecord): Promise<void> {
  const event: Partial<S3Event> = JSON.parse(message.body);
  // S3 sends a test event without records when the notification is set up.
  for (const { s3 } of event.Records ?? [])
    await completeUpload(decodeURIComponent(s3.object.key.replaceAll('+', ' ')));
}

async function completeUpload(key: string): Promise<void> {
  const taskId = taskOfKey(key);
  if (!taskId) return;
  const { size, metadata } = await headObject(key);
  const name = safeName(decodeFileName(metadata));
  const start = size > 0 ? await readStart(key, detectionBytes) : new Uint8Array();
  const format = await detectFormat(catalogue, start, name);
  const file = { key, name, size, format, mediaType: catalogue.mediaType(format), token: newToken() };
  const decision = await lifecycle.apply(taskId, { type: 'uploaded', file });
  // The same event again: its first delivery may have ended before the consequences were drawn.
  if (decision.outcome === 'refused') await lifecycle.settleAgain(taskId);
}
