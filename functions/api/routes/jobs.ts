import * as z from 'zod';
import { jobStatuses } from '../../../shared/jobs/job.ts';
import { chargeTask, deleteTask, endTask } from '../../../shared/permissions.ts';
import { JobRequest } from '../creation/schemas.ts';
import { Id, oneOf } from '../http/fields.ts';
import type { Route } from '../http/route.ts';
import { createTask, linkTask } from './creates.ts';
import { includeOf, listRecords, paging } from './lists.ts';

const JobPath = z.object({ jobId: Id });
const showJob = ['group:get', 'group:batchGet'] as const;

export const jobRoutes = {
  'list-jobs': {
    module: 'jobs/list-jobs',
    method: 'GET',
    path: '/v1/process/jobs',
    summary: 'List jobs, newest first',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: listRecords,
    get query() {
      return z.object({
        status: oneOf(jobStatuses).optional(),
        tag: z.string().max(1024).optional(),
        include: includeOf('tasks'),
        ...paging(),
      });
    },
    success: 200,
    response: 'JobPage',
  },
  'create-job': {
    module: 'jobs/create-job',
    method: 'POST',
    path: '/v1/process/jobs',
    summary: 'Create a job with all its tasks',
    tag: 'Jobs',
    access: 'key',
    bucket: 'create',
    scope: 'process',
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
    ],
    get query() {
      return z.object({
        dry_run: oneOf(['true', 'false'])
          .optional()
          .describe('If true, validates the request and estimates its conversion time without creating anything.'),
      });
    },
    get body() {
      return JobRequest();
    },
    alternative: { status: 200, response: 'DryRun', description: 'The request is valid (with dry_run=true).' },
    refusals: ['invalid_input', 'unsupported_format', 'invalid_options', 'invalid_url', 'address_refused'],
    success: 201,
    response: 'Job',
  },
  'show-job': {
    module: 'jobs/show-job',
    method: 'GET',
    path: '/v1/process/jobs/{jobId}',
    summary: 'Show a job with its tasks',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: showJob,
    params: JobPath,
    get query() {
      return z.object({ include: includeOf('tasks') });
    },
    success: 200,
    response: 'Job',
  },
  'wait-for-job': {
    module: 'jobs/wait-for-job',
    bucket: 'wait',
    method: 'GET',
    path: '/v1/process/jobs/{jobId}/wait',
    summary: 'Wait up to 25 seconds for all tasks of a job to end, and show it',
    tag: 'Jobs',
    access: 'key',
    scope: 'read',
    permissions: showJob,
    params: JobPath,
    success: 200,
    response: 'Job',
  },
  'delete-job': {
    module: 'jobs/delete-job',
    method: 'DELETE',
    path: '/v1/process/jobs/{jobId}',
    summary: 'Delete a job, its tasks and their files',
    tag: 'Jobs',
    access: 'key',
    scope: 'process',
    permissions: [...endTask, ...chargeTask, ...deleteTask, 'uploads:list', 'uploads:delete', 'group:query'],
    params: JobPath,
    success: 200,
  },
} as const satisfies Record<string, Route>;
