import * as z from 'zod';
import type { Route } from '../../shared/http/endpoint.ts';
import { Id, JobRequest, operationSchemas } from '../../shared/operations/schemas.ts';

const TaskPath = z.object({ taskId: Id });
const JobPath = z.object({ jobId: Id });

const creates = [
  'records:write',
  'records:read',
  'queues:send',
  'files:write',
  'files:delete',
  'secrets:write',
  'secrets:delete',
] as const;

/**
 * Every endpoint, keyed by the file in this folder that answers it.
 * The stack's routes and roles, validation and the tests follow from these rows.
 */
export const routes = {
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Show the version and which engines are usable',
    access: 'public',
    needs: [],
    success: 200,
  },
  formats: {
    method: 'GET',
    path: '/v1/query/formats',
    summary: 'List all supported formats',
    access: 'public',
    needs: [],
    success: 200,
  },
  'show-task': {
    method: 'GET',
    path: '/v1/process/tasks/{taskId}',
    summary: 'Show a task',
    access: 'key',
    needs: ['records:read'],
    params: TaskPath,
    success: 200,
  },
  'create-job': {
    method: 'POST',
    path: '/v1/process/jobs',
    summary: 'Create a job with all its tasks',
    access: 'key',
    needs: creates,
    body: JobRequest,
    success: 201,
  },
  'show-job': {
    method: 'GET',
    path: '/v1/process/jobs/{jobId}',
    summary: 'Show a job with its tasks',
    access: 'key',
    needs: ['records:read'],
    params: JobPath,
    success: 200,
  },
  'import-upload': {
    method: 'POST',
    path: '/v1/process/import/upload',
    summary: 'Import a file that the client posts to the returned form',
    access: 'key',
    needs: creates,
    body: operationSchemas['import/upload'],
    success: 201,
  },
  'import-base64': {
    method: 'POST',
    path: '/v1/process/import/base64',
    summary: 'Import a small file given in the request',
    access: 'key',
    needs: creates,
    body: operationSchemas['import/base64'],
    success: 201,
  },
  convert: {
    method: 'POST',
    path: '/v1/process/convert',
    summary: 'Convert a file to another format',
    access: 'key',
    needs: creates,
    body: operationSchemas.convert,
    success: 201,
  },
  'export-url': {
    method: 'POST',
    path: '/v1/process/export/url',
    summary: 'Make temporary download links',
    access: 'key',
    needs: creates,
    body: operationSchemas['export/url'],
    success: 201,
  },
  file: {
    method: 'GET',
    path: '/v1/files/{taskId}/{token}/{name}',
    summary: 'Download a file by the link in a result',
    access: 'public',
    needs: ['records:read', 'files:read'],
    params: z.object({ taskId: Id, token: z.string(), name: z.string() }),
    success: 302,
    json: false,
  },
} as const satisfies Record<string, Route>;

export type EndpointName = keyof typeof routes;
