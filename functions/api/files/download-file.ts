import { timingSafeEqual } from 'node:crypto';
import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { records } from '../../../shared/aws/stores/records.ts';
import { contentDisposition } from '../../../shared/files/names.ts';
import { isDeletedOrExpired, type StoredFile } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { notFound } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { signerFor } from './signer.ts';

/** Clients follow the redirect immediately. A leaked URL must not outlive its task for long. */
const presignedSeconds = 300;

export const handler = publicEndpoint(routes.file, async ({ params, method }) => {
  const task = await records.task(params.taskId);
  const now = Date.now();
  const filesGone =
    !task || isDeletedOrExpired(task, now) || Date.parse(task.createdAt) + settings.fileSeconds * 1000 <= now;
  const file = filesGone ? undefined : task.files.find(({ token }) => sameToken(token, params.token));
  if (!file) throw notFound('There is no such file: the link is wrong, or the file was deleted or has expired.');
  return { headers: { Location: await presignDownload(file, method) } };
});

function sameToken(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns a presigned URL of a file that responds with its name and media type. */
async function presignDownload(file: StoredFile, method: string): Promise<string> {
  const { client, name } = await signerFor(presignedSeconds);
  const input = {
    Bucket: name,
    Key: file.key,
    ResponseContentDisposition: contentDisposition(file.name),
    ResponseContentType: file.mediaType,
  };
  // The signature includes the method, so a URL for GET does not work for HEAD.
  const command = method === 'HEAD' ? new HeadObjectCommand(input) : new GetObjectCommand(input);
  return getSignedUrl(client, command, { expiresIn: presignedSeconds });
}
