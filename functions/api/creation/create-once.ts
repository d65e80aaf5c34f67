import type { Logger } from '@aws-lambda-powertools/logger';
import type { Caller } from '../../../shared/accounts/caller.ts';
import { sha256 } from '../../../shared/crypto.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { HttpError, invalidFields } from '../http/errors.ts';
import type { ApiResponse } from '../http/route.ts';
import { claimKey } from './idempotency-keys.ts';

const maxKeyLength = 255;

interface Request {
  account: Caller;
  headers: Record<string, string | undefined>;
  body: unknown;
  logger: Pick<Logger, 'info'>;
}

interface Resource {
  id: string;
  /** What of the request is ignored. */
  warnings: string[];
  /** Writes the resource and returns it as it is presented, or undefined where it is to be read again. */
  write(): Promise<JsonObject | undefined>;
}

/**
 * Creates a resource, once for each Idempotency-Key if the client sends one: the same key and body returns the same
 * resource, the same key with another body is refused. The planned id is claimed before anything is written, so that a
 * retry finds out whether an interrupted request has created its resource.
 */
export async function createOnce(
  request: Request,
  kind: string,
  prepare: () => Promise<Resource>,
  show: (id: string) => Promise<JsonObject | undefined>,
): Promise<ApiResponse> {
  const key = request.headers['idempotency-key'];
  const resource = await prepare();
  // Before it is written, so that what an interrupted request left behind can be traced to it.
  const create = async (): Promise<ApiResponse> => {
    request.logger.info('creating', kind === 'job' ? { jobId: resource.id } : { taskId: resource.id });
    return { body: withWarnings((await resource.write()) ?? (await show(resource.id))) };
  };
  // Not stored: the same request has the same.
  const withWarnings = (body: JsonObject | undefined) =>
    body && resource.warnings.length > 0 ? { ...body, warnings: resource.warnings } : body;
  if (key === undefined) return create();
  if (key === '' || key.length > maxKeyLength) {
    throw invalidFields({ 'Idempotency-Key': [`Expected a header of 1 to ${maxKeyLength} characters.`] });
  }
  const claim = await claimKey({
    user: request.account.user,
    key: sha256(key),
    fingerprint: sha256(JSON.stringify([kind, request.body ?? {}])),
    resource: resource.id,
    seconds: settings.recordSeconds,
    exists: async (id) => (await show(id)) !== undefined,
  });
  switch (claim.outcome) {
    case 'claimed':
      return create();
    case 'exists':
      return { body: withWarnings(await show(claim.resource)), headers: { 'Idempotent-Replayed': 'true' } };
    case 'other-body':
      throw new HttpError(
        409,
        'already_exists',
        'This Idempotency-Key was used with another request. Send a new key with a new request.',
      );
    case 'under-way':
      throw new HttpError(409, 'conflict', 'A request with this Idempotency-Key is in progress. Retry in a moment.', {
        headers: { 'Retry-After': '1' },
      });
  }
}
