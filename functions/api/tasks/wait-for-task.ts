import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { taskAtItsEnd } from './task-at-its-end.ts';

export const handler = endpoint(routes['wait-for-task'], ({ params, ...request }) =>
  taskAtItsEnd(params.taskId, request),
);
