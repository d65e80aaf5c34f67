import { deleteFiles } from '../../shared/aws/objects.ts';
import { performExport } from '../../shared/aws/perform-export.ts';
import { enqueue } from '../../shared/aws/queues.ts';
import { hasSubscribers } from '../../shared/aws/stores/account-subscribers.ts';
import { publish } from '../../shared/aws/stores/publish.ts';
import { records } from '../../shared/aws/stores/records.ts';
import { deleteSecrets } from '../../shared/aws/stores/secrets.ts';
import type { LifecycleDependencies } from '../../shared/lifecycle/dependencies.ts';
import { createLifecycle } from '../../shared/lifecycle/lifecycle.ts';
import { routeTask } from '../../shared/tasks/route.ts';
import { catalogue } from '../catalogue/catalogues.ts';

const dependencies: LifecycleDependencies = {
  records,
  enqueue,
  deleteFiles: (task) => deleteFiles(task),
  // Few tasks have such an upload, and most functions start without the code for it.
  abortParts: async ({ upload }) =>
    upload && (await import('../../shared/aws/incomplete-uploads.ts')).abortParts(upload),
  deleteSecrets,
  route: (task, inputs) => routeTask(catalogue, task, inputs),
  publish,
  hasSubscribers,
  now: Date.now,
};

/** The lifecycle on the real records, queues, files and engines. Every function changes tasks through it. */
export const lifecycle = { ...createLifecycle(dependencies), read: records.task };

/** The lifecycle of workers, which have the permissions to perform small exports. */
export const workerLifecycle = { ...createLifecycle({ ...dependencies, perform: performExport }), read: records.task };
