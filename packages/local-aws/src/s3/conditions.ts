import type { IncomingHttpHeaders } from 'node:http';
import { notImplemented, S3Error } from './error.ts';
import type { StoredObject } from './store.ts';

/**
 * Evaluates the conditions of a request on an object: throws PreconditionFailed, or returns whether the client already
 * has it. A matching If-Match takes precedence over If-Unmodified-Since, and If-None-Match over any date.
 */
export function isUnmodified(
  { etag, modified }: StoredObject,
  headers: IncomingHttpHeaders,
  prefix: '' | 'x-amz-copy-source-' = '',
): boolean {
  const value = (name: string) => textOf(headers[`${prefix}${name}`]);
  const matches = (tag: string) => bareTag(tag) === etag || (tag === '*' && prefix === '');
  const [match, noneMatch] = [value('if-match'), value('if-none-match')];
  const [since, unmodifiedSince] = [dateOf(value('if-modified-since')), dateOf(value('if-unmodified-since'))];
  const second = wholeSecond(modified);
  if (match === undefined ? unmodifiedSince !== undefined && second > unmodifiedSince : !matches(match))
    throw preconditionFailed();
  if (noneMatch !== undefined) return matches(noneMatch);
  return since !== undefined && second <= since;
}

/** Returns whether to send a range, given an If-Range condition. */
export function isRangeWanted({ etag, modified }: StoredObject, headers: IncomingHttpHeaders): boolean {
  const condition = textOf(headers['if-range']);
  return condition === undefined || bareTag(condition) === etag || Date.parse(condition) === wholeSecond(modified);
}

/** Throws unless the key may be written: with `If-None-Match: *` it must have no object. */
export function assertWritable(headers: IncomingHttpHeaders, existing: StoredObject | undefined): void {
  const condition = headers['if-none-match'];
  if (condition === undefined) return;
  if (condition !== '*') throw notImplemented('If-None-Match with an ETag');
  if (existing) throw preconditionFailed();
}

export function preconditionFailed(): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
}

/** HTTP dates have no fractions of a second. */
function wholeSecond(time: number): number {
  return Math.floor(time / 1000) * 1000;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function dateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const date = Date.parse(text);
  if (Number.isNaN(date)) throw new S3Error('InvalidArgument', 'A date of the conditions is not a date.');
  return date;
}

function bareTag(etag: string): string {
  return etag.replaceAll('"', '');
}
