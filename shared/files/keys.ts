/** Prefix of files that clients post; the bucket notifies the uploads queue about these only. */
export const uploadPrefix = 'uploads/';
/** Prefix of files that functions store. */
export const filePrefix = 'files/';

/** Prefix of the secrets of tasks that have not ended: kept out of records and queues, in the encrypted bucket. */
export const secretPrefix = 'secrets/';

/** Returns the key of a task's secrets. */
export function secretKey(taskId: string): string {
  return `${secretPrefix}${taskId}`;
}

/** Returns the key an upload of a task goes to. */
export function uploadKey(taskId: string): string {
  return `${uploadPrefix}${taskId}`;
}

/** Returns the prefix of everything a task stored. Ids are ordered by time, so keys are too, and the sweep lists the oldest first. */
export function taskPrefix(taskId: string): string {
  return `${filePrefix}${taskId}/`;
}

/** Returns the prefix of what one run of a task stored. Each run has its own, so a run that lost its task overwrites nothing. */
export function attemptPrefix(taskId: string, attempt: number): string {
  return `${taskPrefix(taskId)}${attempt}/`;
}

/** Returns the key of the n-th output of a run. */
export function outputKey(taskId: string, attempt: number, index: number): string {
  return `${attemptPrefix(taskId, attempt)}${index}`;
}

/** Prefix of the objects that tell an engine to end a run. */
export const revokedPrefix = 'revoked/';

/** Returns the key of the object that exists once a run of a task is revoked. The bucket's lifecycle rule deletes it. */
export function revokedKey(taskId: string, attempt: number): string {
  return `${revokedPrefix}${taskId}/${attempt}`;
}

/** Returns the key under which a posted file is kept, where no form can write. It is derived from the content, so that two posts never share one. */
export function keptUploadKey(taskId: string, etag: string): string {
  return `${attemptPrefix(taskId, 0)}${etag.replaceAll('"', '')}`;
}

/** Returns the task that owns a key of any prefix. */
export function taskOfKey(key: string): string | undefined {
  return /^(?:uploads|files|secrets)\/([0-9a-f]{24})(?:\/|$)/.exec(key)?.[1];
}
