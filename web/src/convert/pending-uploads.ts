import { request } from '../service/request.ts';
import type { Job } from '../service/types.ts';

/** A job that waits for the rest of a large file. The file is not kept, and has to be chosen again after a reload. */
interface PendingUpload {
  name: string;
  size: number;
  modified: number;
  /** The request of the job, as JSON. */
  request: string;
  job: string;
}

const storageKey = 'lathe-pending-uploads';
/** Older uploads have expired. */
const maxPending = 20;

function read(): PendingUpload[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

const isOf = (file: File, jobRequest: object) => (pending: PendingUpload) =>
  pending.name === file.name &&
  pending.size === file.size &&
  pending.modified === file.lastModified &&
  pending.request === JSON.stringify(jobRequest);

/** Remembers the job of a large file until its upload is complete. */
export function remember(file: File, jobRequest: object, { id: job }: Job): void {
  const { name, size, lastModified: modified } = file;
  const others = read().filter((pending) => !isOf(file, jobRequest)(pending));
  const kept = [{ name, size, modified, request: JSON.stringify(jobRequest), job }, ...others].slice(0, maxPending);
  localStorage.setItem(storageKey, JSON.stringify(kept));
}

/** Forgets a job whose upload is complete or was canceled. */
export function forget(id: string): void {
  const pending = read();
  const kept = pending.filter(({ job }) => job !== id);
  if (kept.length < pending.length) localStorage.setItem(storageKey, JSON.stringify(kept));
}

/** Returns the job that waits for the rest of a file, if it still does. */
export async function findPending(file: File, jobRequest: object): Promise<Job | undefined> {
  const pending = read().find(isOf(file, jobRequest));
  if (!pending) return undefined;
  const job = await request<Job>('GET', `/v1/process/jobs/${pending.job}?include=tasks`).catch(() => undefined);
  if (job?.tasks?.some(({ result }) => result.form?.endpoint)) return job;
  forget(pending.job);
  return undefined;
}
