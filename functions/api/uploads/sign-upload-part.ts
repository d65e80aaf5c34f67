import { UploadPartCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { listStoredParts, sizeOf } from '../../../shared/aws/incomplete-uploads.ts';
import { clientPartBytesFor, maxUncheckedParts, minPartBytes } from '../../../shared/files/limits.ts';
import { maxFileBytesOf } from '../../../shared/tasks/limits.ts';
import type { PartsUpload, Task } from '../../../shared/tasks/task.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { signerFor } from '../files/signer.ts';
import { conflict, invalidFields } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { assertChanged, findWaitingTask, noSuchUpload, partsOf } from './find-upload.ts';
import { sizeOfPart, tooLarge } from './size-limit.ts';

export const handler = publicEndpoint(routes['sign-upload-part'], async ({ params }) => {
  const task = await findWaitingTask(params);
  const parts = partsOf(task, params.uploadId);
  const { partNumber } = params;
  const ContentLength = await sizeFor(partNumber, task, parts);
  await keepWaiting(task, parts);
  const { client, name: Bucket, expiresAt } = await signerFor(settings.uploadSeconds);
  const command = new UploadPartCommand({
    Bucket,
    Key: parts.key,
    UploadId: parts.id,
    PartNumber: partNumber,
    ...(ContentLength === undefined ? {} : { ContentLength }),
  });
  const expiresIn = Math.min(settings.uploadSeconds, Math.floor((expiresAt - Date.now()) / 1000));
  return { body: { url: await getSignedUrl(client, command, { expiresIn }) } };
});

/**
 * Returns the exact size that a part must have, if the client declared the size of its file. Otherwise it checks how far the
 * client is ahead, and that the stored parts leave room for more.
 */
async function sizeFor(number: number, task: Task, parts: PartsUpload): Promise<number | undefined> {
  if (parts.size !== undefined) {
    const size = sizeOfPart(number, parts.size, clientPartBytesFor(parts.size));
    if (size === undefined)
      throw invalidFields({ partNumber: [`Expected a part of a file of ${parts.size} bytes but received ${number}.`] });
    return size;
  }
  const maxBytes = maxFileBytesOf(task, settings);
  // Every part but the last has the minimum size.
  if ((number - 1) * minPartBytes >= maxBytes)
    throw invalidFields({ partNumber: [tooLarge((number - 1) * minPartBytes + 1, maxBytes)] });
  const stored = await listStoredParts(parts);
  if (!stored) throw noSuchUpload(parts.id);
  const others = stored.filter(({ PartNumber }) => PartNumber !== number);
  if (number > others.length + maxUncheckedParts)
    throw conflict(
      `Part ${number} is more than ${maxUncheckedParts} ahead of the ${others.length} stored parts. Upload those before it first.`,
    );
  const bytes = sizeOf(others);
  if (bytes >= maxBytes) throw invalidFields({ partNumber: [tooLarge(bytes + 1, maxBytes)] });
  return undefined;
}

/** Extends the time for the upload as long as it makes progress, up to the end of its files. */
async function keepWaiting(task: Task, { id }: PartsUpload): Promise<void> {
  const { formUntil = 0, createdAt } = task;
  const now = Date.now();
  const uploadMs = settings.uploadSeconds * 1000;
  const until = Math.min(now + uploadMs, Date.parse(createdAt) + settings.fileSeconds * 1000);
  // One write for many parts.
  if (until - formUntil < uploadMs / 4) return;
  assertChanged(await lifecycle.apply(task.id, { type: 'partsExtended', id, formUntil: until }), task);
}
