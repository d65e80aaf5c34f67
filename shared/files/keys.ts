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

/** Returns the prefix of one run of a task. Each run has its own, so a run that lost its task overwrites nothing. */
export function attemptPrefix(taskId: string, attempt: number): string {
  return `${taskPrefix(taskId)}${attempt}/`;
}

/** Returns the prefix that an engine's run may write to. Outputs are copied out of it, beyond its reach. */
export function postedPrefix(taskId: string, attempt: number): string {
  return `${attemptPrefix(taskId, attempt)}posted/`;
}

/** Returns the key of the n-th output that an engine posts. */
export function postedKey(taskId: string, attempt: number, index: number): string {
  return `${postedPrefix(taskId, attempt)}${index}`;
}

/** Returns the key of the n-th output of a run. */
export function outputKey(taskId: string, attempt: number, index: number): string {
  return `${attemptPrefix(taskId, attempt)}${index}`;
}

/** Returns the key of the marker that revokes a run of a task. The bucket's lifecycle rule deletes it. */
export function revokedKey(taskId: string, attempt: number): string {
  return `${objectPrefixes.revoked}${taskId}/${attempt}`;
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
