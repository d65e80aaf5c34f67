import { announce } from '../shared/events/queue.ts';
import { deleteFiles } from '../shared/files/objects.ts';
import { deleteSecrets } from '../shared/files/secrets.ts';
import { enqueue } from '../shared/queues/queues.ts';
import { records } from '../shared/records/records.ts';
import { createLifecycle } from '../shared/tasks/lifecycle.ts';
import { routeTask } from '../shared/tasks/route.ts';
import { catalogue } from './engines/catalogues.ts';

/** The lifecycle on the real records, queues, files and engines: what every function drives tasks with. */
export const lifecycle = {
  ...createLifecycle({
    records,
    enqueue,
    deleteFiles: (taskId) => deleteFiles(taskId),
    deleteSecrets,
    route: (task, inputs) => routeTask(catalogue, task, inputs),
    announce,
    now: Date.now,
  }),
  read: records.task,
};
