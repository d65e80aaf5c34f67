import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { jobAtItsEnd } from './job-at-its-end.ts';

export const handler = endpoint(routes['wait-for-job'], ({ params, ...request }) => jobAtItsEnd(params.jobId, request));
