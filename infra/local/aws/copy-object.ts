import type { IncomingMessage } from 'node:http';
import type { StoredObject } from './object-store.ts';
import { s3Error } from './s3-error.ts';

/** S3 copies no larger object in one request. */
const LARGEST_COPY_BYTES = 5 * 1024 ** 3;

const MATCH = 'x-amz-copy-source-if-match';
const NONE_MATCH = 'x-amz-copy-source-if-none-match';
const MODIFIED = 'x-amz-copy-source-if-modified-since';
const UNMODIFIED = 'x-amz-copy-source-if-unmodified-since';

type Headers = IncomingMessage['headers'];

/** Tells whether a request copies only an object that meets conditions. */
export function hasCopyConditions(headers: Headers): boolean {
  return [MATCH, NONE_MATCH, MODIFIED, UNMODIFIED].some((name) => headers[name] !== undefined);
}

/** Throws unless S3 would copy the object: it meets the conditions of the request and is not too large. */
export function assertCopyable(source: StoredObject, headers: Headers): void {
  if (!conditionsHold(source, headers))
    throw s3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
  if (source.size > LARGEST_COPY_BYTES)
    throw s3Error(
      'InvalidRequest',
      `The specified copy source is larger than the maximum allowable size for a copy source: ${LARGEST_COPY_BYTES}`,
    );
}

/** A tag that matches outweighs a date that does not, and a tag that should not match outweighs any date. */
function conditionsHold({ etag, modified }: StoredObject, headers: Headers): boolean {
  const [match, noneMatch] = [textOf(headers[MATCH]), textOf(headers[NONE_MATCH])];
  const [since, unmodifiedSince] = [dateOf(headers[MODIFIED]), dateOf(headers[UNMODIFIED])];
  // Dates of HTTP have no fractions of a second.
  const second = Math.floor(modified / 1000) * 1000;
  if (match !== undefined) {
    if (bare(match) !== etag) return false;
  } else if (unmodifiedSince !== undefined && second > unmodifiedSince) return false;
  if (noneMatch !== undefined) return bare(noneMatch) !== etag;
  return since === undefined || second > since;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function dateOf(value: string | string[] | undefined): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const date = Date.parse(text);
  if (Number.isNaN(date)) throw s3Error('InvalidArgument', 'A date of the copy source is not a date.');
  return date;
}

function bare(etag: string): string {
  return etag.replaceAll('"', '');
}
