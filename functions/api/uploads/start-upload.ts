import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { bucket } from '../../../shared/aws/bucket.ts';
import { abortParts } from '../../../shared/aws/incomplete-uploads.ts';
import { newToken } from '../../../shared/aws/objects.ts';
import { defined } from '../../../shared/defined.ts';
import { partsKey } from '../../../shared/files/keys.ts';
import { clientPartBytesFor } from '../../../shared/files/limits.ts';
import { safeName } from '../../../shared/files/names.ts';
import { maxFileBytesOf } from '../../../shared/tasks/limits.ts';
import type { PartsUpload } from '../../../shared/tasks/task.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { invalidFields } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { assertChanged, findWaitingTask } from './find-upload.ts';
import { tooLarge } from './size-limit.ts';

export const handler = publicEndpoint(routes['start-upload'], async ({ params, body, logger }) => {
  const task = await findWaitingTask(params);
  const { size } = body;
  const maxBytes = maxFileBytesOf(task, settings);
  if (size !== undefined && size > maxBytes) throw invalidFields({ size: [tooLarge(size, maxBytes)] });
  const name = safeName(body.filename);
  const { upload: earlier } = task;
  const isResumed = size !== undefined && earlier?.size === size && earlier.name === name;
  if (isResumed && earlier.modified === body.modified) return started(earlier);
  const key = partsKey(task.id, newToken());
  const { client, name: Bucket } = bucket();
  const { UploadId: id } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: key }));
  if (!id) throw new Error('S3 started a multipart upload without an id.');
  const parts = { id, key, name, ...defined({ size, modified: body.modified }) };
  try {
    assertChanged(await lifecycle.apply(task.id, { type: 'partsStarted', parts }), task);
  } catch (error) {
    await abortParts(parts);
    throw error;
  }
  // An upload that a concurrent request started instead is found by the sweep.
  if (earlier) await abortParts(earlier).catch((error) => logger.warn('left to the sweep', { taskId: task.id, error }));
  return started(parts);
});

function started({ key, id, size }: PartsUpload) {
  return { body: { key, uploadId: id, ...(size === undefined ? {} : { partSize: clientPartBytesFor(size) }) } };
}
