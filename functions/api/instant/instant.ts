import type { Logger } from '@aws-lambda-powertools/logger';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { records } from '../../../shared/aws/stores/records.ts';
import { sha256 } from '../../../shared/crypto.ts';
import { contentDisposition } from '../../../shared/files/names.ts';
import { collectRarely } from '../../../shared/heap.ts';
import { required } from '../../../shared/settings.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { findEarlier, type KeyedRequest, replayedHeader } from '../creation/idempotency-keys.ts';
import { type PreparedTasks, prepareTasks } from '../creation/prepare-tasks.ts';
import { writeTasks } from '../creation/write-tasks.ts';
import { presignDownload } from '../files/signer.ts';
import { endpoint } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import { preferenceOf } from '../http/preference.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import type { ApiRequest, ApiResponse } from '../http/route.ts';
import { instantRoutes } from '../routes/instant.ts';
import { type InstantResult, performNow } from './perform.ts';
import { readInstantRequest } from './read-request.ts';

collectRarely();

type InstantRoute = (typeof instantRoutes)[keyof typeof instantRoutes];

/** Time for the engine. API Gateway's limit of 30 seconds leaves the rest to the request. */
const maxSeconds = 25;

/**
 * Converts files within one request. It is planned like a job of an import, the operation and an export, but nothing of the
 * plan is written. Work that would take too long, or that no engine is free for, becomes that job.
 */
async function respond({ operation }: InstantRoute, request: ApiRequest<InstantRoute>): Promise<ApiResponse> {
  const { account, raw, headers, logger } = request;
  const { requests, contents } = await readInstantRequest(operation, raw);
  const prepared = await prepareTasks(requests, account, {}, contents);
  const asJob = () => createJob(prepared, { account, headers, body: [requests, hashesOf(contents)] }, logger);
  const { isAsync, waitSeconds } = preferenceOf(headers.prefer);
  if (isAsync && waitSeconds === undefined) return asJob();
  const deadline = Date.now() + 1000 * Math.min(maxSeconds, waitSeconds ?? maxSeconds);
  try {
    const result = await performNow(prepared, account.user, deadline, logger);
    return result ? await asFile(result) : await asJob();
  } catch (error) {
    // Both preferences together: a response within the time, and otherwise a job.
    if (isAsync && error instanceof HttpError && error.status === 504) return asJob();
    throw error;
  }
}

async function asFile({ file, archivedType, details, engineMs }: InstantResult): Promise<ApiResponse> {
  const facts = {
    'Lathe-Conversion-Seconds': String(engineMs / 1000),
    ...(archivedType === undefined ? {} : { 'Lathe-Archive': archivedType }),
    ...warningsOf(details),
  };
  if ('key' in file) return { status: 303, headers: { ...facts, Location: await presignDownload(file, 'GET') } };
  return {
    headers: { ...facts, 'Content-Type': file.mediaType, 'Content-Disposition': contentDisposition(file.name) },
    file: file.bytes,
  };
}

const handlers = new Map(
  Object.values(instantRoutes).map((route) => [
    `${route.method} ${route.path}`,
    endpoint(route, (request: ApiRequest<InstantRoute>) => respond(route, request)),
  ]),
);

/** Performs the operation of the route that was requested. */
export const handler = async (event: APIGatewayProxyEventV2, context: Context) => {
  const own = handlers.get(event.routeKey);
  if (!own) throw new Error(`No operation has the route ${event.routeKey}.`);
  return own(event, context);
};

/** Creates the job of a request, and responds with it. A request that is repeated with the same key gets the same job. */
async function createJob(prepared: PreparedTasks, request: KeyedRequest, logger: Logger): Promise<ApiResponse> {
  const { job } = prepared.plan;
  if (!job) throw new Error('The plan of an instant request contains no job.');
  const earlier = await findEarlier(request, 'instant', job.id, records.job);
  if (earlier) return accepted(earlier.id, await presentJobWithTasks(earlier), replayedHeader);
  logger.info('creating', { jobId: job.id });
  const onError = (error: unknown) => logger.warn('left to the sweep', { jobId: job.id, error });
  const written = await writeTasks(prepared, { onError });
  const created = written?.job ?? (await records.job(job.id));
  return accepted(job.id, created && (await presentJobWithTasks(created, written?.tasks)));
}

function accepted(id: string, body: JsonObject | undefined, headers: Record<string, string> = {}): ApiResponse {
  return {
    status: 202,
    headers: { Location: `${required('LATHE_URL')}/v1/process/jobs/${id}`, ...headers },
    ...(body ? { body } : {}),
  };
}

function hashesOf(contents: Map<string, Uint8Array>): string[] {
  return [...contents.values()].map(sha256);
}

/** Maximum length of the header with warnings. */
const maxWarningCharacters = 2_000;

/** Returns the warnings of a conversion as a JSON array in ASCII, which a header can hold. */
function warningsOf({ warnings }: JsonObject): Record<string, string> {
  if (!Array.isArray(warnings)) return {};
  const shown: unknown[] = [];
  for (const warning of warnings) {
    if (ascii([...shown, warning]).length > maxWarningCharacters) break;
    shown.push(warning);
  }
  return shown.length > 0 ? { 'Lathe-Warnings': ascii(shown) } : {};
}

function ascii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
