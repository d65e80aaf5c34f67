import { signal } from '@preact/signals';
import { upload } from '../convert/upload.ts';
import { followJob } from '../service/live.ts';
import { messageOf, request } from '../service/request.ts';
import type { Job, Task } from '../service/types.ts';
import { jobOf, type Page, type Source } from './edits.ts';

/** Twice the width of a page on the screen. */
const pictureWidth = 280;

export const pages = signal<(Page & { picture: string })[]>([]);
export const opening = signal<string[]>([]);
export const problems = signal<string[]>([]);

let opened = 0;
let made = 0;

/** Opens PDFs: uploads them and fetches a picture of each page. */
export async function open(files: File[]): Promise<void> {
  problems.value = [];
  for (const file of files) {
    opening.value = [...opening.value, file.name];
    try {
      const { source, pictures } = await openOne(file);
      const added = pictures.map((picture, index) => {
        made += 1;
        return { key: made, source, number: index + 1, turn: 0 as const, startsFile: false, picture };
      });
      pages.value = [...pages.value, ...added];
    } catch (error) {
      problems.value = [...problems.value, `${file.name}: ${messageOf(error)}`];
    } finally {
      opening.value = opening.value.toSpliced(opening.value.indexOf(file.name), 1);
    }
  }
}

async function openOne(file: File): Promise<{ source: Source; pictures: string[] }> {
  const job = await request<Job>('POST', '/v1/process/jobs', {
    tag: 'page',
    tasks: {
      import: { operation: 'import/upload' },
      pictures: {
        operation: 'convert',
        input: 'import',
        input_format: 'pdf',
        output_format: 'jpg',
        options: { image_custom_width: pictureWidth, quality: 80 },
      },
    },
  });
  const form = taskOf(job, 'import')?.result.form;
  if (!form) throw new Error('The service returned no form for the upload.');
  await upload(form, file, () => undefined, new AbortController().signal);
  const end = await endOf(job);
  const pictures = (taskOf(end, 'pictures')?.result.files ?? []).map(({ url }) => url);
  opened += 1;
  const id = taskOf(end, 'import')?.id ?? '';
  return { source: { task: `file-${opened}`, id, name: file.name, pages: pictures.length }, pictures };
}

/** Makes the files as arranged, and returns the links to them. */
export async function save(onProgress: (job: Job) => void): Promise<{ url: string; filename: string; size: number }[]> {
  const job = await request<Job>('POST', '/v1/process/jobs', { tag: 'page', ...jobOf(pages.value) });
  const end = await endOf(job, onProgress);
  return taskOf(end, 'export')?.result.files ?? [];
}

function taskOf({ tasks = [] }: Job, name: string): Task | undefined {
  return tasks.find((task) => task.name === name);
}

/** Waits for the end of a job. Throws if it failed. */
function endOf(job: Job, onChange: (job: Job) => void = () => undefined): Promise<Job> {
  const { promise, resolve, reject } = Promise.withResolvers<Job>();
  const stop = followJob(job.id, {
    onChange: (next) => {
      onChange(next);
      if (next.status === 'completed') resolve(next);
      else if (next.status === 'failed') {
        const failed = next.tasks?.find(({ status }) => status === 'failed');
        reject(new Error(failed?.result.msg ?? 'The job failed.'));
      }
    },
    onProblem: (error, isFinal) => {
      if (isFinal) reject(error);
    },
  });
  return promise.finally(stop);
}
