import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { uploadKey } from '../files/keys.ts';
import type { UploadForm } from '../tasks/task.ts';
import { bucket } from './bucket.ts';

/** Metadata under which an upload keeps the name of the file. */
const fileNameMetadata = 'filename';

/** Makes the form with which a client posts a task's file straight to the bucket. */
export async function makeUploadForm(
  taskId: string,
  limits: { seconds: number; maxBytes: number },
): Promise<UploadForm> {
  const { client, name } = bucket();
  const field = `x-amz-meta-${fileNameMetadata}`;
  const { url, fields } = await createPresignedPost(client, {
    Bucket: name,
    Key: uploadKey(taskId),
    Expires: limits.seconds,
    Conditions: [
      ['content-length-range', 0, limits.maxBytes],
      ['starts-with', `$${field}`, ''],
    ],
  });
  // S3 puts the name of the posted file in the place of ${filename}. Among the client's fields only: as one of the
  // signer's, the library would require its literal text.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is S3 that fills it in
  return { url, parameters: { ...fields, [field]: '${filename}' } };
}

/** Returns the file name that S3 kept in an object's metadata, where other scripts than ASCII come in RFC 2047 form. */
export function decodeFileName(metadata: Record<string, string>): string {
  return (metadata[fileNameMetadata] ?? '')
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_match, encoding: string, text: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : Buffer.from(
            text
              .replaceAll('_', ' ')
              .replace(/=([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString('utf8'),
    );
}
