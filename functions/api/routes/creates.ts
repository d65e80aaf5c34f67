import type { OperationName } from '../../../shared/operations/operations.ts';
import type { Refusal } from '../../../shared/operations/problems.ts';
import { type Permission, publishTask } from '../../../shared/permissions.ts';
import { endpointSchemas } from '../creation/schemas.ts';
import type { Route } from '../http/route.ts';

/** Permissions to write the records of tasks. */
export const createTask = ['group:batchPut', 'group:get', 'idempotency:get', 'idempotency:put', 'account:get'] as const;

/** Permissions to add tasks to the dependents of their inputs, and to fail those whose input has already failed. */
export const linkTask = ['group:batchGet', 'group:update', 'group:put', 'work:send', ...publishTask] as const;

/** Returns the row of the endpoint that creates tasks of an operation. */
export const creates = <Name extends OperationName>(
  operation: Name,
  summary: string,
  permissions: readonly Permission[],
) =>
  ({
    module: 'tasks/create-task',
    operation,
    method: 'POST',
    path: `/v1/process/${operation}`,
    summary,
    tag: operation.startsWith('import/') ? 'Imports' : operation.startsWith('export/') ? 'Exports' : 'Processing',
    access: 'key',
    bucket: 'create',
    scope: 'process',
    permissions,
    get body() {
      return endpointSchemas[operation];
    },
    success: 201,
    get refusals() {
      return refusalsOf(operation);
    },
    response: 'Task',
  }) as const satisfies Route;

function refusalsOf(operation: OperationName): Refusal[] {
  const schema = endpointSchemas[operation].shape;
  return [
    ...('input' in schema ? (['invalid_input'] as const) : []),
    ...('options' in schema ? (['unsupported_format', 'invalid_options'] as const) : []),
    ...('url' in schema || 'endpoint' in schema ? (['invalid_url'] as const) : []),
  ];
}
