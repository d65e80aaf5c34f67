import { required } from '../../../shared/settings.ts';
import { makeUploadForm } from '../creation/upload-form.ts';
import { operationRoutes } from '../routes/operations.ts';
import { taskEndpoints } from './task-endpoints.ts';

/** Creates one task. Most operations have their own function with this handler; LATHE_OPERATION names the operation. */
export const handler = taskEndpoints([routeOfOperation(required('LATHE_OPERATION'))], makeUploadForm);

function routeOfOperation(operation: string) {
  for (const row of Object.values(operationRoutes)) if (row.operation === operation) return row;
  throw new Error(`No endpoint creates tasks of the operation ${operation}.`);
}
