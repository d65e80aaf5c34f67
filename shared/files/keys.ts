import { isProcessing } from '../operations/operations.ts';

/** First parts of the keys of objects, one for each kind. Roles are limited to kinds by them. */
export const objectPrefixes = {
  /** Files that clients post; the bucket notifies the uploads queue about these only. */
  uploads: 'uploads/',
  /** Files that functions store. */
  files: 'files/',
  /** Credentials of the stores that a task imports from or exports to, until it ends: kept out of records and queues. */
  secrets: 'secrets/',
  /** Passwords of the files that a task processes, until it ends. Apart from the credentials, which no engine needs. */
  passwords: 'passwords/',
  /** Objects that tell an engine that its run is over. */
  revoked: 'revoked/',
} as const;

/** Returns the key of a task's secrets: passwords where an engine processes files, else credentials of a store. */
export function secretKey({ id, operation }: { id: string; operation: string }): string {
  return `${isProcessing(operation) ? objectPrefixes.passwords : objectPrefixes.secrets}${id}`;
}

/** Returns the key an upload of a task goes to. */
export function uploadKey(taskId: string): string {
  return `${objectPrefixes.uploads}${taskId}`;
}

/** Returns the prefix of everything a task stored. Ids are ordered by time, so keys are too, and the sweep lists the oldest first. */
export function taskPrefix(taskId: string): string {
  return `${objectPrefixes.files}${taskId}/`;
}

/** Returns the prefix of what one run of a task stored. Each run has its own, so a run that lost its task overwrites nothing. */
export function attemptPrefix(taskId: string, attempt: number): string {
  return `${taskPrefix(taskId)}${attempt}/`;
}

/** Returns the prefix that the form of an engine's run writes to. What it stored is copied out of the form's reach. */
export function postedPrefix(taskId: string, attempt: number): string {
  return `${attemptPrefix(taskId, attempt)}posted/`;
}

/** Returns the key under which an engine posts the n-th output of a run. */
export function postedKey(taskId: string, attempt: number, index: number): string {
  return `${postedPrefix(taskId, attempt)}${index}`;
}

/** Returns the key of the n-th output of a run. */
export function outputKey(taskId: string, attempt: number, index: number): string {
  return `${attemptPrefix(taskId, attempt)}${index}`;
}

/** Returns the key of the object that exists once a run of a task is revoked. The bucket's lifecycle rule deletes it. */
export function revokedKey(taskId: string, attempt: number): string {
  return `${objectPrefixes.revoked}${taskId}/${attempt}`;
}

/** Returns the key under which a posted file is kept, where no form can write. It is derived from the content, so that two posts never share one. */
export function keptUploadKey(taskId: string, etag: string): string {
  return `${attemptPrefix(taskId, 0)}${etag.replaceAll('"', '')}`;
}

/** Returns the task that owns a key of any prefix. */
export function taskOfKey(key: string): string | undefined {
  const prefix = Object.values(objectPrefixes).find((each) => key.startsWith(each));
  return prefix && /^[0-9a-f]{24}(?=\/|$)/.exec(key.slice(prefix.length))?.[0];
}
