import { operationRoutes } from '../routes/operations.ts';
import { taskEndpoints } from '../tasks/task-endpoints.ts';

/** Creates one task of any operation on documents. */
export const handler = taskEndpoints(Object.values(operationRoutes).filter(({ tag }) => tag === 'Documents'));
