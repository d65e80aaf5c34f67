import { newToken, putObject } from '../../../shared/aws/objects.ts';
import { storeSecrets } from '../../../shared/aws/stores/secrets.ts';
import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { maxRequestBytes } from '../../../shared/files/limits.ts';
import { safeName } from '../../../shared/files/names.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import { maxFileBytesOf } from '../../../shared/tasks/limits.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { withFile } from './plan.ts';
import type { PreparedTasks } from './prepare-tasks.ts';
import type { makeUploadForm } from './upload-form.ts';

/**
 * Stores the files and secrets of a request, writes its records and enqueues the first tasks. Later errors that the sweep
 * recovers from are reported to `onError`; `makeForm` makes the forms of uploads. Returns the plan as written, or undefined if records may have changed since.
 */
export async function writeTasks(
  { plan, contents, secrets, now }: PreparedTasks,
  { onError, makeForm }: { onError?: (error: unknown) => void; makeForm?: typeof makeUploadForm } = {},
): Promise<Plan | undefined> {
  const tasks = await Promise.all(plan.tasks.map((task) => withForm(task, makeForm)));
  let written: Plan = { ...plan, tasks };
  for (const task of tasks) {
    if (task.hasSecrets) await storeSecrets(task, secrets.get(task.name) ?? {});
    const content = contents.get(task.name);
    if (content) written = withFile(written, task.id, await storeContent(task, content), now);
  }
  return lifecycle.create(written, onError);
}

async function withForm(task: Task, makeForm: typeof makeUploadForm | undefined): Promise<Task> {
  if (task.operation !== 'import/upload') return task;
  if (!makeForm) throw new Error('This function creates no uploads.');
  // A form takes one request; larger files are uploaded in parts.
  const maxBytes = Math.min(maxFileBytesOf(task, settings), maxRequestBytes);
  const form = await makeForm(task.id, { seconds: settings.uploadSeconds, maxBytes });
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
