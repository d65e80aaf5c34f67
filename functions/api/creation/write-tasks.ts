import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { newToken, putObject } from '../../../shared/aws/objects.ts';
import { storeSecrets } from '../../../shared/aws/stores/secrets.ts';
import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey, uploadKey } from '../../../shared/files/keys.ts';
import { maxRequestBytes } from '../../../shared/files/limits.ts';
import { fileNameMetadata, safeName } from '../../../shared/files/names.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import { maxFileBytesOf } from '../../../shared/tasks/limits.ts';
import type { Task, UploadForm } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { withFile } from './plan.ts';
import type { PreparedTasks } from './prepare-tasks.ts';

/**
 * Stores the files and secrets of a request, writes its records and enqueues the first tasks. Later errors that the sweep
 * recovers from are reported to `onError`. Returns the plan as written, or undefined if records may have changed since.
 */
export async function writeTasks(
  { plan, contents, secrets, now }: PreparedTasks,
  onError?: (error: unknown) => void,
): Promise<Plan | undefined> {
  const tasks = await Promise.all(plan.tasks.map((task) => withForm(task)));
  let written: Plan = { ...plan, tasks };
  for (const task of tasks) {
    if (task.hasSecrets) await storeSecrets(task, secrets.get(task.name) ?? {});
    const content = contents.get(task.name);
    if (content) written = withFile(written, task.id, await storeContent(task, content), now);
  }
  return lifecycle.create(written, onError);
}

async function withForm(task: Task): Promise<Task> {
  if (task.operation !== 'import/upload') return task;
  // A form takes one request; larger files are uploaded in parts.
  const maxBytes = Math.min(maxFileBytesOf(task, settings), maxRequestBytes);
  const form = await makeUploadForm(task.id, { seconds: settings.uploadSeconds, maxBytes });
  return { ...task, ...form, uploadToken: newToken() };
}

async function storeContent(task: Task, content: Uint8Array) {
  const name = safeName(String(task.payload.filename));
  const detected = await detectFile(catalogue, content, name);
  const mediaType = catalogue.mediaType(detected.format);
  const key = outputKey(task.id, 0, 0);
  await putObject(key, content, mediaType);
  return { key, name, size: content.byteLength, ...detected, mediaType, token: newToken() };
}

/**
 * Creates the form with which a client posts a file to the bucket. Returns when it expires, in milliseconds: after the
 * requested time, or earlier if the signing credentials expire first.
 */
async function makeUploadForm(
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
