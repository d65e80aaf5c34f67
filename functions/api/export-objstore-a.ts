import { endpoint } from '../../shared/http/endpoint.ts';
import { createTask } from './create-task.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['export-objstore-a'], (request) => createTask('export/objstore_a', request));
