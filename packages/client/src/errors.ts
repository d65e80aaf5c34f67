import { retryAfterOf } from './retry.ts';
import type { Job } from './types.ts';

export interface LatheErrorDetails {
  /** Status of the response; absent if there was none, or if a job failed. */
  status?: number | undefined;
  /** Problems by field. */
  errors?: Record<string, string[]> | undefined;
  /** Why a request was rejected although it matches the schema, such as `unsupported_format`. */
  reason?: string | undefined;
  /** Include it when you report an error. */
  requestId?: string | undefined;
  /** Delay that the service requests before a retry. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Transient statuses. A 409 with Retry-After is also transient: a request with the same key is in progress. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** An error of the service or the connection. */
export class LatheError extends Error {
  override name = 'LatheError';
  readonly status: number | undefined;
  /** A code of the service, or `unreachable`, `canceled`, `invalid_response`. */
  readonly errorCode: string;
  readonly msg: string;
  readonly errors: Record<string, string[]> | undefined;
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(errorCode: string, msg: string, details: LatheErrorDetails = {}) {
    const { status, errors, reason, requestId, retryAfterMs, cause } = details;
    super(msg, cause === undefined ? undefined : { cause });
    this.errorCode = errorCode;
    this.msg = msg;
    this.status = status;
    this.errors = errors;
    this.reason = reason;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    const { status } = this;
    if (status === undefined) return this.errorCode === 'unreachable';
    return passing.has(status) || (status === 409 && this.retryAfterMs !== undefined);
  }
}

/** A job that failed, with the code and message of its first failed task. */
export class JobFailedError extends LatheError {
  override name = 'JobFailedError';
  readonly job: Job;

  constructor(job: Job) {
    const failed = (job.tasks ?? [])
      .filter(({ status }) => status === 'failed' || status === 'canceled')
      .toSorted((left, right) => (left.endedAt ?? '').localeCompare(right.endedAt ?? ''))[0];
    const { errorCode = job.result.errorCode, msg = job.result.msg } = failed?.result ?? {};
    super(errorCode ?? 'task_failed', msg ?? describe(job, failed));
    this.job = job;
  }
}

function describe({ id }: Job, task: { name: string; status: string } | undefined): string {
  return task ? `The task ${task.name} of the job ${id} was ${task.status}.` : `The job ${id} failed.`;
}

/** Converts an error response of the service, API Gateway or the file store. */
export async function errorOf(response: Response): Promise<LatheError> {
  const { status } = response;
  const retryAfterMs = retryAfterOf(response.headers);
  const text = await response.text();
  const body = parseObject(text);
  if (typeof body.errorCode === 'string' && typeof body.msg === 'string')
    return new LatheError(body.errorCode, body.msg, {
      status,
      retryAfterMs,
      errors: fieldErrors(body.errors),
      reason: textIn(body.reason),
      requestId: textIn(body.requestId),
    });
  // API Gateway sends only a message, the file store XML.
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
  const message = textIn(body.message) ?? /<Message>([^<]*)<\/Message>/.exec(text)?.[1];
  const msg = message ?? `The service responded with status ${status}.`;
  return new LatheError(code ?? `http_${status}`, msg, { status, retryAfterMs });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text)));
  } catch {
    return {};
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function fieldErrors(value: unknown): Record<string, string[]> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([field, problems]) => [field, Array.isArray(problems) ? problems.map(String) : []]),
  );
}
