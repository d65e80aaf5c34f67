import {
  type InstantResult,
  isJobNeeded,
  readInstantResult,
  retriesBeforeJob,
} from '../../../packages/client/src/instant.ts';
import { pause } from '../../../packages/client/src/retry.ts';
import { RequestError, send, unreachable } from './request.ts';
import type { Job } from './types.ts';

/**
 * Converts a file within one request. Returns its result, the job that the service has made of the request, or undefined if
 * it takes a new job.
 */
export async function convertInstantly(
  file: File,
  to: string,
  options: object,
): Promise<InstantResult | Job | undefined> {
  const form = new FormData();
  form.set('output_format', to);
  form.set('options', JSON.stringify(options));
  form.set('file', file);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await send('POST', '/v1/instant/convert', { body: form });
      return await (response.status === 202 ? response.json() : readInstantResult(response, to)).catch(() => {
        throw unreachable();
      });
    } catch (error) {
      if (!(error instanceof RequestError) || !isJobNeeded(error.status)) throw error;
      if (attempt > retriesBeforeJob(error)) return undefined;
      await pause(error.retryAfterMs ?? 0);
    }
  }
}
