import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { bucket } from '../../shared/aws/bucket.ts';
import { postedPrefix, type Revocable, type RunName, revokedKey } from '../../shared/files/keys.ts';
import { maxPostBytes, type OutputForm } from '../engines/runtime/protocol.ts';

/** Added to the end of the run, so that a clock that is ahead does not end it early. */
const graceSeconds = 60;

/** Returns a URL from which an engine can fetch an input until the deadline of its run. */
export function presignInput(key: string, deadline: number): Promise<string> {
  const { client, name } = bucket();
  return getSignedUrl(client, new GetObjectCommand({ Bucket: name, Key: key }), { expiresIn: secondsUntil(deadline) });
}

/**
 * Returns a form with which an engine can store any number of files of one run, each up to a size. The form stays valid after the
 * run's end, so it writes to a prefix of its own.
 */
export async function presignOutput(
  taskId: string,
  run: RunName,
  maxBytes: number,
  deadline: number,
): Promise<OutputForm> {
  const { client, name } = bucket();
  const prefix = postedPrefix(taskId, run);
  const { url, fields } = await createPresignedPost(client, {
    Bucket: name,
    // Signed as a prefix of the key; the engine replaces the name with the number of the file.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the library looks for this text
    Key: `${prefix}${'${filename}'}`,
    Expires: secondsUntil(deadline),
    Conditions: [['content-length-range', 1, Math.min(maxBytes, maxPostBytes)]],
  });
  return { url, fields, prefix };
}

/** Returns a URL with which an engine checks whether its run is revoked. The object exists once it is. */
export function presignRevoked(taskId: string, run: Revocable, deadline: number): Promise<string> {
  const { client, name } = bucket();
  const command = new HeadObjectCommand({ Bucket: name, Key: revokedKey(taskId, run) });
  return getSignedUrl(client, command, { expiresIn: secondsUntil(deadline) });
}

export function secondsUntil(deadline: number): number {
  return Math.max(0, Math.ceil((deadline - Date.now()) / 1000)) + graceSeconds;
}
