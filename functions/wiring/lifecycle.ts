import { hasSubscribers } from '../../shared/aws/account-subscribers.ts';
import { deleteFiles } from '../../shared/aws/objects.ts';
import { performExport } from '../../shared/aws/perform-export.ts';
import { publish } from '../../shared/aws/publish.ts';
import { enqueue } from '../../shared/aws/queues.ts';
import { records } from '../../shared/aws/records.ts';
import { deleteSecrets } from '../../shared/aws/secrets.ts';
import type { LifecycleDependencies } from '../../shared/lifecycle/dependencies.ts';
import { createLifecycle } from '../../shared/lifecycle/lifecycle.ts';
import { routeTask } from '../../shared/tasks/route.ts';
import { catalogue } from '../catalogue/catalogues.ts';

const parts: LifecycleDependencies = {
  records,
  enqueue,
  deleteFiles: (task) => deleteFiles(task),
  deleteSecrets,
  route: (task, inputs) => routeTask(catalogue, task, inputs),
  publish,
  hasSubscribers,
  now: Date.now,
};

/** The lifecycle on the real records, queues, files and engines: what every function changes tasks with. */
export const lifecycle = { ...createLifecycle(parts), read: records.task };

/** The lifecycle as workers use it, which have the permissions to do small exports themselves. */
export const workerLifecycle = { ...createLifecycle({ ...parts, perform: performExport }), read: records.task };
