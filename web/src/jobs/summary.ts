import { canonical } from '../convert/formats.ts';
import { extensionOf, isTransfer } from '../format.ts';
import type { Job, Task } from '../service/types.ts';

/** Returns the names of the files that a job reads, as far as they are known. */
export function filesOf({ tasks = [] }: Job): string[] {
  const imports = tasks.filter(({ operation }) => operation.startsWith('import/'));
  return imports.flatMap((task) => {
    const [first] = task.result.files ?? [];
    const name = first?.filename ?? textOf(task, 'filename') ?? lastOf(textOf(task, 'url') ?? textOf(task, 'key'));
    return name === undefined || name === '' ? [] : [name];
  });
}

const maxNames = 2;

/** Returns the names of the files that a job reads, as its title. */
export function titleOf(job: Job): string {
  const names = filesOf(job);
  const others = names.length - maxNames;
  if (names.length === 0) return job.tasks?.some(isUpload) ? 'Waiting for the upload' : 'No files';
  return names.slice(0, maxNames).join(', ') + (others > 0 ? ` and ${others} more` : '');
}

const isUpload = ({ operation, endedAt }: Task) => operation === 'import/upload' && endedAt === null;

/** Returns what a job does to formats: `png → webp, pdf`. */
export function formatsOf(job: Job): string {
  const { tasks = [] } = job;
  const work = tasks.filter(({ operation }) => !isTransfer(operation));
  if (work.length === 0) return '';
  const produced = tasks.flatMap(({ operation, result }) =>
    operation.startsWith('import/') ? (result.files ?? []).map(({ format }) => format) : [],
  );
  const from = new Set(
    (produced.length > 0 ? produced : filesOf(job).map(extensionOf)).map(canonical).filter((format) => format !== ''),
  );
  const to = new Set(work.flatMap((task) => textOf(task, 'output_format') ?? []).map(canonical));
  const verbs = new Set(work.map(({ operation }) => operation).filter((operation) => operation !== 'convert'));
  const formats = [from, to].map((each) => [...each].join(', ')).filter((each) => each !== '');
  return [[...verbs].join(', '), formats.join(' → ')].filter((each) => each !== '').join(' ');
}

/** Returns the share of the work of a job that is done, in percent, if its running tasks report it. */
export function percentOf({ tasks = [] }: Job): number | undefined {
  const work = tasks.filter(({ operation }) => !isTransfer(operation));
  if (!work.some(({ status, progress }) => status === 'processing' && progress !== undefined)) return undefined;
  const done = work.map(({ endedAt, progress = 0 }) => (endedAt === null ? progress : 100));
  return Math.round(done.reduce((sum, each) => sum + each, 0) / work.length);
}

function textOf({ payload }: Task, name: string): string | undefined {
  const value = (payload as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the last segment of a URL or key, or the host of a URL without a path. */
function lastOf(address = ''): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const last = (url?.pathname ?? address).split('/').findLast((segment) => segment !== '') ?? url?.host ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
