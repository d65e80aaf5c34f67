import { newToken, putObject } from '../../../shared/aws/objects.ts';
import { storeSecrets } from '../../../shared/aws/stores/secrets.ts';
import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { safeName } from '../../../shared/files/names.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { withFile } from './plan.ts';
import type { PreparedTasks } from './prepare-tasks.ts';
import { makeUploadForm } from './upload-form.ts';

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
  const maxBytes = Math.min(settings.maxFileBytes, task.limits?.maxFileBytes ?? settings.maxFileBytes);
  return { ...task, ...(await makeUploadForm(task.id, { seconds: settings.uploadSeconds, maxBytes })) };
}

async function storeContent(task: Task, content: Uint8Array) {
  const name = safeName(String(task.payload.filename));
  const detected = await detectFile(catalogue, content, name);
  const mediaType = catalogue.mediaType(detected.format);
  const key = outputKey(task.id, 0, 0);
  await putObject(key, content, mediaType);
  return { key, name, size: content.byteLength, ...detected, mediaType, token: newToken() };
}
