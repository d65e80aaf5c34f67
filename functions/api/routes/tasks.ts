import * as z from 'zod';
import { chargeTask, deleteTask, endTask } from '../../../shared/permissions.ts';
import { taskStatuses } from '../../../shared/tasks/task.ts';
import { Id, oneOf } from '../http/fields.ts';
import type { Route } from '../http/route.ts';
import { includeOf, listRecords, paging } from './lists.ts';

const TaskPath = z.object({ taskId: Id });

export const taskRoutes = {
  'list-tasks': {
    module: 'tasks/list-tasks',
    method: 'GET',
    path: '/v1/process/tasks',
    summary: 'List tasks, newest first',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: listRecords,
    get query() {
      return z.object({
        status: oneOf(taskStatuses).optional(),
        operation: z.string().max(100).optional(),
        job: Id.optional(),
        include: includeOf('payload', 'job'),
        ...paging(),
      });
    },
    success: 200,
    response: 'TaskPage',
  },
  'show-task': {
    module: 'tasks/show-task',
    method: 'GET',
    path: '/v1/process/tasks/{taskId}',
    summary: 'Show a task',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: ['group:get', 'group:batchGet'],
    params: TaskPath,
    get query() {
      return z.object({ include: includeOf('payload', 'job') });
    },
    success: 200,
    response: 'Task',
  },
  'wait-for-task': {
    module: 'tasks/wait-for-task',
    bucket: 'wait',
    method: 'GET',
    path: '/v1/process/tasks/{taskId}/wait',
    summary: 'Wait up to 25 seconds for a task to end, and show it',
    tag: 'Tasks',
    access: 'key',
    scope: 'read',
    permissions: ['group:get'],
    params: TaskPath,
    success: 200,
    response: 'Task',
  },
  'cancel-task': {
    module: 'tasks/cancel-task',
    method: 'POST',
    path: '/v1/process/tasks/{taskId}/cancel',
    summary: 'Cancel a task that has not ended',
    tag: 'Tasks',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask],
    params: TaskPath,
    success: 200,
    errors: [409],
    response: 'Task',
  },
  'delete-task': {
    module: 'tasks/delete-task',
    method: 'DELETE',
    path: '/v1/process/tasks/{taskId}',
    summary: 'Delete a task and its files',
    tag: 'Tasks',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask, ...deleteTask, 'uploads:list', 'uploads:delete'],
    params: TaskPath,
    success: 200,
  },
} as const satisfies Record<string, Route>;
