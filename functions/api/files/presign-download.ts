import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { contentDisposition } from '../../../shared/files/names.ts';
import type { StoredFile } from '../../../shared/tasks/task.ts';
import { signerFor } from './signer.ts';

/** Clients follow the redirect immediately. A leaked URL must not outlive its task for long. */
const presignedSeconds = 300;

/** Returns a presigned URL of a file that responds with its name and media type. */
export async function presignDownload(file: StoredFile, method: string): Promise<string> {
  const { client, name } = await signerFor(presignedSeconds);
  const input = {
    Bucket: name,
    Key: file.key,
    ResponseContentDisposition: contentDisposition(file.name),
    ResponseContentType: file.mediaType,
  };
  // The signature includes the method, so a URL for GET does not work for HEAD.
  return method === 'HEAD'
    ? getSignedUrl(client, new HeadObjectCommand(input), { expiresIn: presignedSeconds })
    : getSignedUrl(client, new GetObjectCommand(input), { expiresIn: presignedSeconds });
}
