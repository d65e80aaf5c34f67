import * as z from 'zod';
import { jobStatuses } from '../../../shared/jobs/job.ts';
import { chargeTask, deleteTask, endTask } from '../../../shared/permissions.ts';
import { JobRequest } from '../creation/schemas.ts';
import { Id, oneOf } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';
import { includeOf, listRecords, paging } from './lists.ts';
import { createTask, linkTask } from './operations.ts';

const JobPath = () => z.object({ jobId: Id });
const showJob = ['group:get', 'group:batchGet'] as const;

export const jobRoutes = {
  'list-jobs': {
    module: 'jobs/list-jobs',
    ...keyed('GET', '/v1/process/jobs', 'read', 'Jobs'),
    summary: 'List jobs, newest first',
    permissions: listRecords,
    query: () =>
      z.object({
        status: oneOf(jobStatuses).optional(),
        tag: z.string().max(1024).optional(),
        include: includeOf('tasks'),
        ...paging(),
      }),
    response: 'JobPage',
  },
  'create-job': {
    module: 'jobs/create-job',
    ...keyed('POST', '/v1/process/jobs', 'process', 'Jobs'),
    summary: 'Create a job with all its tasks',
    bucket: 'create',
    mayWait: true,
    permissions: [
      ...createTask,
      ...linkTask,
      // Files, upload forms and secrets of the tasks.
      'files:put',
      'uploads:sign',
      'secrets:put',
      'passwords:put',
      'bus:put',
      'webhook:put',
      'secrets:delete',
      'passwords:delete',
      // For the estimate of a dry run.
      'usage:query',
      'minutes:get',
      'engine:get',
    ],
    query: () =>
      z.object({
        dry_run: oneOf(['true', 'false'])
          .optional()
          .describe('If true, validates the request and estimates its conversion time without creating anything.'),
      }),
    body: JobRequest,
    alternative: { status: 200, response: 'DryRun', description: 'The request is valid (with dry_run=true).' },
    refusals: ['invalid_input', 'unsupported_format', 'invalid_options', 'invalid_url', 'address_refused'],
    success: 201,
    response: 'Job',
  },
  'show-job': {
    module: 'jobs/show-job',
    ...keyed('GET', '/v1/process/jobs/{jobId}', 'read', 'Jobs'),
    summary: 'Show a job with its tasks',
    permissions: showJob,
    params: JobPath,
    query: () => z.object({ include: includeOf('tasks') }),
    response: 'Job',
  },
  'wait-for-job': {
    module: 'jobs/wait-for-job',
    ...keyed('GET', '/v1/process/jobs/{jobId}/wait', 'read', 'Jobs'),
    bucket: 'wait',
    summary: 'Wait up to 25 seconds for all tasks of a job to end, and show it',
    permissions: showJob,
    params: JobPath,
    response: 'Job',
  },
  'delete-job': {
    module: 'jobs/delete-job',
    ...keyed('DELETE', '/v1/process/jobs/{jobId}', 'process', 'Jobs'),
    summary: 'Delete a job, its tasks and their files',
    permissions: [
      ...endTask,
      ...chargeTask,
      ...deleteTask,
      'uploads:list',
      'uploads:delete',
      'files:abort',
      'group:query',
    ],
    params: JobPath,
  },
} as const satisfies Record<string, Route>;
