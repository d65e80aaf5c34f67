import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { uploadKey } from '../../../shared/files/keys.ts';
import { fileNameMetadata } from '../../../shared/files/names.ts';
import type { UploadForm } from '../../../shared/tasks/task.ts';

/**
 * Makes the form with which a client posts a task's file straight to the bucket, and returns until when it is valid, in
 * milliseconds: as long as it is to be, and no longer than what signs it.
 */
export async function makeUploadForm(
  taskId: string,
  limits: { seconds: number; maxBytes: number },
): Promise<{ form: UploadForm; formUntil: number }> {
  // Most of what creates tasks makes no form, and starts without the client of STS.
  const { signerFor } = await import('../files/signer.ts');
  const { client, name, expiresAt } = await signerFor(limits.seconds);
  const now = Date.now();
  const seconds = Math.min(limits.seconds, Math.floor((expiresAt - now) / 1000));
  const field = `x-amz-meta-${fileNameMetadata}`;
  const { url, fields } = await createPresignedPost(client, {
    Bucket: name,
    Key: uploadKey(taskId),
    Expires: seconds,
    Conditions: [
      ['content-length-range', 0, limits.maxBytes],
      ['starts-with', `$${field}`, ''],
    ],
  });
  // S3 puts the name of the posted file in the place of ${filename}. Among the client's fields only: as one of the
  // signer's, the library would require its literal text.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is S3 that fills it in
  const parameters = { ...fields, [field]: '${filename}' };
  return { form: { url, parameters }, formUntil: now + seconds * 1000 };
}
