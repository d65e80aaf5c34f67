import * as z from 'zod';
import { chargeTask, deleteTask, endTask } from '../../../shared/permissions.ts';
import { taskStatuses } from '../../../shared/tasks/task.ts';
import { Id, oneOf } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';
import { includeOf, listRecords, paging } from './lists.ts';

const TaskPath = () => z.object({ taskId: Id });

export const taskRoutes = {
  'list-tasks': {
    module: 'tasks/list-tasks',
    ...keyed('GET', '/v1/process/tasks', 'read', 'Tasks'),
    summary: 'List tasks, newest first',
    permissions: listRecords,
    query: () =>
      z.object({
        status: oneOf(taskStatuses).optional(),
        operation: z.string().max(100).optional(),
        job: Id.optional(),
        include: includeOf('payload', 'job'),
        ...paging(),
      }),
    response: 'TaskPage',
  },
  'show-task': {
    module: 'tasks/show-task',
    ...keyed('GET', '/v1/process/tasks/{taskId}', 'read', 'Tasks'),
    summary: 'Show a task',
    permissions: ['group:get', 'group:batchGet'],
    params: TaskPath,
    query: () => z.object({ include: includeOf('payload', 'job') }),
    response: 'Task',
  },
  'wait-for-task': {
    module: 'tasks/wait-for-task',
    ...keyed('GET', '/v1/process/tasks/{taskId}/wait', 'read', 'Tasks'),
    bucket: 'wait',
    summary: 'Wait up to 25 seconds for a task to end, and show it',
    permissions: ['group:get'],
    params: TaskPath,
    response: 'Task',
  },
  'cancel-task': {
    module: 'tasks/cancel-task',
    ...keyed('POST', '/v1/process/tasks/{taskId}/cancel', 'process', 'Tasks'),
    summary: 'Cancel a task that has not ended',
    permissions: [...endTask, ...chargeTask, 'files:abort'],
    params: TaskPath,
    errors: [409],
    response: 'Task',
  },
  'delete-task': {
    module: 'tasks/delete-task',
    ...keyed('DELETE', '/v1/process/tasks/{taskId}', 'process', 'Tasks'),
    summary: 'Delete a task and its files',
    permissions: [...endTask, ...chargeTask, ...deleteTask, 'uploads:list', 'uploads:delete', 'files:abort'],
    params: TaskPath,
  },
} as const satisfies Record<string, Route>;
