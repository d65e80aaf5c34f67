import { type ProcessingOperation, processingOf, processingOperations } from '../../../shared/operations/operations.ts';
import { chargeTask } from '../../../shared/permissions.ts';
import { instantSchemas } from '../creation/schemas.ts';
import { keyed, type Route } from '../http/route.ts';
import { createTask, linkTask, nameOf } from './operations.ts';

const permissions = [
  'engines:invoke',
  ...chargeTask,
  // Large outputs, and inputs by URL or of earlier tasks.
  'files:get',
  'files:put',
  'files:abort',
  'files:delete',
  // Tells an output that the engine did not store from one that may not be read.
  'files:list',
  'files:sign',
  // The job of work that takes longer.
  ...createTask,
  ...linkTask,
  'bus:put',
  'passwords:put',
  'passwords:delete',
] as const;

/** Returns the row of the endpoint that performs an operation within the request. */
const performs = <Name extends ProcessingOperation>(operation: Name) =>
  ({
    module: 'instant/instant',
    // One function stays warm for all of them.
    sharedFunction: 'instant',
    operation,
    ...keyed('POST', `/v1/instant/${operation}`, 'process', 'Instant'),
    summary: `${processingOf(operation).summary} within the request`,
    bucket: 'create',
    permissions,
    upload: () => instantSchemas[operation],
    json: false,
    alternative: {
      status: 202,
      response: 'Job',
      description: 'The work takes longer, or no engine is free, and it has become a job.',
    },
    errors: [409, 422, 504],
    refusals: ['invalid_input', 'unsupported_format', 'invalid_options', 'invalid_url', 'address_refused'],
  }) as const satisfies Route;

export const instantRoutes = Object.fromEntries(
  processingOperations.map((operation) => [`instant-${nameOf(operation)}`, performs(operation)] as const),
);
