import { endpoint } from '../../shared/http/endpoint.ts';
import { createTask } from './create-task.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes.merge, (request) => createTask('merge', request));
