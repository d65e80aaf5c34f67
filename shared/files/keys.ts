import { isProcessing } from '../operations/operations.ts';

/** Prefixes of object keys, one per kind. Roles are limited to kinds by them. */
export const objectPrefixes = {
  /** Files that clients post; the bucket notifies the uploads queue about these only. */
  uploads: 'uploads/',
  /** Files that functions store. */
  files: 'files/',
  /** Credentials for the stores of a task until it ends, kept out of records and queues. */
  secrets: 'secrets/',
  /** Passwords of a task's files until it ends, apart from credentials, which no engine needs. */
  passwords: 'passwords/',
  /** Markers that tell an engine its run was revoked. */
  revoked: 'revoked/',
} as const;

/** Returns the key of a task's secrets: file passwords if an engine processes it, otherwise store credentials. */
export function secretKey({ id, operation }: { id: string; operation: string }): string {
  return `${isProcessing(operation) ? objectPrefixes.passwords : objectPrefixes.secrets}${id}`;
}

/** Returns the key of a task's upload. */
export function uploadKey(taskId: string): string {
  return `${objectPrefixes.uploads}${taskId}`;
}

/** Returns the prefix of everything a task stored. Like ids, keys sort by time: the sweep lists the oldest first. */
export function taskPrefix(taskId: string): string {
  return `${objectPrefixes.files}${taskId}/`;
}

/** One run of an engine for a task: the number of the attempt, or a part of a split run. */
export type RunName = number | `parts/${string}`;

/** Returns the name of one try at a part of a split run. Each stores its output under a prefix of its own. */
export function partRun(attempt: number, part: string, count: number): RunName {
  return `parts/${attempt}-${part}-${count}`;
}

/** Returns the prefix of the parts of a split run. They outlive the attempt that made them, so that the next one resumes. */
export function partsPrefix(taskId: string): string {
  return `${taskPrefix(taskId)}parts/`;
}

/** Returns the prefix of one run of a task. Each run has its own, so a run that lost its task overwrites nothing. */
export function attemptPrefix(taskId: string, run: RunName): string {
  return `${taskPrefix(taskId)}${run}/`;
}

/** Returns the prefix that an engine's run may write to. Outputs are copied out of it, beyond its reach. */
export function postedPrefix(taskId: string, run: RunName): string {
  return `${attemptPrefix(taskId, run)}posted/`;
}

/** Returns the key of the n-th output that an engine posts. */
export function postedKey(taskId: string, run: RunName, index: number): string {
  return `${postedPrefix(taskId, run)}${index}`;
}

/** Returns the key of the n-th output of a run. */
export function outputKey(taskId: string, run: RunName, index: number): string {
  return `${attemptPrefix(taskId, run)}${index}`;
}

/** Returns the key of the output of a run that is too large for a form. Nothing but its signed parts writes to it. */
export function largeKey(taskId: string, run: RunName): string {
  return `${attemptPrefix(taskId, run)}large`;
}

/**
 * What a marker revokes: an attempt with its parts, the join of its parts, which goes on when parts are revoked, or a job on AWS
 * Batch.
 */
export type Revocable = number | `${number}/join` | `${number}/batch`;

/** Returns the key of the marker that revokes a run of a task. The bucket's lifecycle rule deletes it. */
export function revokedKey(taskId: string, run: Revocable): string {
  return `${objectPrefixes.revoked}${taskId}/${run}`;
}

/** Returns the key that keeps a posted file, out of reach of forms. Posts with different contents never share one. */
export function keptUploadKey(taskId: string, etag: string): string {
  return `${attemptPrefix(taskId, 0)}${etag.replaceAll('"', '')}`;
}

/** Returns the key of a file that a client uploads in parts. No form covers it, and an upload writes to it only once. */
export function partsKey(taskId: string, name: string): string {
  return `${attemptPrefix(taskId, 0)}${name}`;
}

/** Returns whether a file was uploaded in parts, and not to a form. */
export function isPartsKey(key: string): boolean {
  return key.startsWith(objectPrefixes.files);
}

/** Returns the task that owns a key of any prefix. */
export function taskOfKey(key: string): string | undefined {
  const prefix = Object.values(objectPrefixes).find((each) => key.startsWith(each));
  return prefix && /^[0-9a-f]{24}(?=\/|$)/.exec(key.slice(prefix.length))?.[0];
}
