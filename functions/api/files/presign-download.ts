import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { contentDisposition } from '../../../shared/files/names.ts';
import type { StoredFile } from '../../../shared/tasks/task.ts';
import { signerFor } from './signer.ts';

/** A redirect is followed at once; the short life keeps a leaked address from outliving its task. */
const presignedSeconds = 300;

/** Returns a URL of a file, with its own name and media type, signed now. */
export async function presignDownload(file: StoredFile, method: string): Promise<string> {
  const { client, name } = await signerFor(presignedSeconds);
  const input = {
    Bucket: name,
    Key: file.key,
    ResponseContentDisposition: contentDisposition(file.name),
    ResponseContentType: file.mediaType,
  };
  // The method is part of what is signed, so an address for GET refuses HEAD.
  return method === 'HEAD'
    ? getSignedUrl(client, new HeadObjectCommand(input), { expiresIn: presignedSeconds })
    : getSignedUrl(client, new GetObjectCommand(input), { expiresIn: presignedSeconds });
}
