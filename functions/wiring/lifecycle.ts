import { publish } from '../../shared/aws/events.ts';
import { deleteFiles } from '../../shared/aws/objects.ts';
import { enqueue } from '../../shared/aws/queues.ts';
import { records } from '../../shared/aws/records.ts';
import { deleteSecrets } from '../../shared/aws/secrets.ts';
import { createLifecycle } from '../../shared/lifecycle/lifecycle.ts';
import { routeTask } from '../../shared/tasks/route.ts';
import { catalogue } from '../engines/runtime/catalogues.ts';

/** The lifecycle on the real records, queues, files and engines: what every function changes tasks with. */
export const lifecycle = {
  ...createLifecycle({
    records,
    enqueue,
    deleteFiles: (task) => deleteFiles(task),
    deleteSecrets,
    route: (task, inputs) => routeTask(catalogue, task, inputs),
    publish,
    now: Date.now,
  }),
  read: records.task,
};
