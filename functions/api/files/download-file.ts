import { records } from '../../../shared/aws/stores/records.ts';
import { isDeletedOrExpired } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { notFound } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { sameToken } from './same-token.ts';
import { presignDownload } from './signer.ts';

export const handler = publicEndpoint(routes.file, async ({ params, method }) => {
  const task = await records.task(params.taskId);
  const now = Date.now();
  const filesGone =
    !task || isDeletedOrExpired(task, now) || Date.parse(task.createdAt) + settings.fileSeconds * 1000 <= now;
  const file = filesGone ? undefined : task.files.find(({ token }) => sameToken(token, params.token));
  if (!file) throw notFound('There is no such file: the link is wrong, or the file was deleted or has expired.');
  return { headers: { Location: await presignDownload(file, method) } };
});
