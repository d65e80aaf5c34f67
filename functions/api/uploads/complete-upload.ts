import { CompleteMultipartUploadCommand, NoSuchUpload } from '@aws-sdk/client-s3';
import { bucket } from '../../../shared/aws/bucket.ts';
import { bareTag, listStoredParts, type StoredPart, sizeOf } from '../../../shared/aws/incomplete-uploads.ts';
import { statusOf } from '../../../shared/aws/objects.ts';
import { sendUploadNotification } from '../../../shared/aws/queues.ts';
import { minPartBytes } from '../../../shared/files/limits.ts';
import { required } from '../../../shared/settings.ts';
import { maxFileBytesOf } from '../../../shared/tasks/limits.ts';
import type { PartsUpload } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { invalidFields } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { findTask, partsOf, requireWaiting } from './find-upload.ts';
import { tooLarge } from './size-limit.ts';

type Named = Pick<StoredPart, 'PartNumber' | 'ETag'>;

/** Completes an upload. A repeated request responds like the first, whose response may have been lost. */
export const handler = publicEndpoint(routes['complete-upload'], async ({ params, body }) => {
  const task = await findTask(params);
  const { upload: started } = task;
  const location = `${required('LATHE_URL')}/v1/process/tasks/${task.id}`;
  const isCompleted =
    task.status === 'completed' && started?.id === params.uploadId && task.files[0]?.key === started.key;
  if (isCompleted) return { body: { location, key: started.key } };
  // The same state as above: the import may complete the task at any time.
  const upload = partsOf(requireWaiting(task), params.uploadId);
  const stored = await listStoredParts(upload);
  // Completed before, but not imported yet.
  if (stored) await complete(upload, checked(body.parts, stored, upload, maxFileBytesOf(task, settings)));
  await sendUploadNotification(upload.key);
  return { body: { location, key: upload.key } };
});

/** Checks the named parts against those in S3, so that no client exceeds a limit or learns of it from S3's errors. */
function checked(
  named: Named[],
  stored: StoredPart[],
  { size: declared }: PartsUpload,
  maxBytes: number,
): StoredPart[] {
  const byNumber = new Map(stored.map((part) => [part.PartNumber, part]));
  const found = named.map(({ PartNumber, ETag }, index) => {
    const part = byNumber.get(PartNumber);
    if (!part || part.ETag !== bareTag(ETag))
      throw invalidFields({ parts: [`Expected part ${PartNumber} with the tag of its upload.`] });
    if (PartNumber <= (named[index - 1]?.PartNumber ?? 0))
      throw invalidFields({ parts: ['Expected parts in ascending order of their numbers.'] });
    if (index < named.length - 1 && part.Size < minPartBytes)
      throw invalidFields({
        parts: [`Expected at least ${minPartBytes} bytes in part ${PartNumber} but received ${part.Size}.`],
      });
    return part;
  });
  const bytes = sizeOf(found);
  if (bytes > maxBytes) throw invalidFields({ parts: [tooLarge(bytes, maxBytes)] });
  if (declared !== undefined && bytes !== declared)
    throw invalidFields({ parts: [`Expected ${declared} bytes, the declared size, but received ${bytes}.`] });
  return found;
}

async function complete({ key, id }: PartsUpload, parts: StoredPart[]): Promise<void> {
  const { client, name } = bucket();
  const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag: `"${ETag}"` }));
  const command = { Bucket: name, Key: key, UploadId: id, MultipartUpload: { Parts } };
  try {
    await client.send(new CompleteMultipartUploadCommand(command));
  } catch (error) {
    // A concurrent request has completed it.
    if (error instanceof NoSuchUpload) return;
    // A part was replaced after it was checked.
    if (statusOf(error) === 400) throw invalidFields({ parts: ['Expected parts that do not change meanwhile.'] });
    throw error;
  }
}
