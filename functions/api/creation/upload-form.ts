import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { uploadKey } from '../../../shared/files/keys.ts';
import { fileNameMetadata } from '../../../shared/files/names.ts';
import type { UploadForm } from '../../../shared/tasks/task.ts';

/**
 * Creates the form with which a client posts a file to the bucket. Returns when it expires, in milliseconds: after the
 * requested time, or earlier if the signing credentials expire first.
 */
export async function makeUploadForm(
  taskId: string,
  limits: { seconds: number; maxBytes: number },
): Promise<{ form: UploadForm; formUntil: number }> {
  // Loaded on demand, because most functions that create tasks do not need the STS client.
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
  // S3 replaces ${filename} with the name of the posted file. It is not among the signed fields, because the library would
  // require the literal text.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is S3 that fills it in
  const parameters = { ...fields, [field]: '${filename}' };
  return { form: { url, parameters }, formUntil: now + seconds * 1000 };
}
