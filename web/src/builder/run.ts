import { upload } from '../convert/upload.ts';
import { cancelJob } from '../service/cancel.ts';
import { request } from '../service/request.ts';
import type { Job } from '../service/types.ts';
import { type Draft, jobOf } from './draft.ts';

/** Creates the job of a draft and uploads its files; cancels the job if an upload fails. */
export async function runDraft(draft: Draft, onProgress: (share: number) => void, stopped: AbortSignal): Promise<Job> {
  const job = await request<Job>('POST', '/v1/process/jobs', jobOf(draft));
  const files = draft.tasks.flatMap(({ name, file }) => {
    const form = job.tasks?.find((task) => task.name === name)?.result.form;
    return file && form ? [{ file, form, sent: 0 }] : [];
  });
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  try {
    stopped.throwIfAborted();
    await Promise.all(
      files.map((each) =>
        upload(
          each.form,
          each.file,
          (share) => {
            each.sent = share * each.file.size;
            onProgress(total > 0 ? files.reduce((sum, { sent }) => sum + sent, 0) / total : 1);
          },
          stopped,
        ),
      ),
    );
  } catch (error) {
    await cancelJob(job);
    throw error;
  }
  return job;
}
