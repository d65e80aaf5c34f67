import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { extensionOf } from '../format.ts';
import { cancelJob } from '../service/cancel.ts';
import { followJob } from '../service/live.ts';
import { messageOf, request } from '../service/request.ts';
import type { Job, ResultFile, Task } from '../service/types.ts';
import { likelyOutput, outputsOf } from './formats.ts';
import type { OptionValues } from './options-form.tsx';
import { upload } from './upload.ts';

export type Source = { file: File } | { url: string };

export type Phase = 'ready' | 'uploading' | 'working' | 'done' | 'failed' | 'canceled';

/** A file or URL to convert. */
export interface Item {
  id: number;
  source: Source;
  name: string;
  /** Whether the URL is rendered as a web page instead of downloaded as a file. */
  isPage: Signal<boolean>;
  /** From the filename; `*` if that has no extension. */
  from: ReadonlySignal<string>;
  /** Object URL of the original, for previews. */
  original?: string;
  outputs: Signal<string[] | undefined>;
  to: Signal<string>;
  options: Signal<OptionValues>;
  phase: Signal<Phase>;
  /** From 0 to 1, if known. */
  progress: Signal<number | undefined>;
  problem: Signal<string>;
  job: Signal<Job | undefined>;
  results: Signal<ResultFile[]>;
  stop: AbortController;
}

export const items = signal<Item[]>([]);
let made = 0;

export const isBusy = (item: Item): boolean => item.phase.value === 'uploading' || item.phase.value === 'working';
export const waiting = computed(() =>
  items.value.filter(({ phase, to }) => ['ready', 'failed', 'canceled'].includes(phase.value) && to.value !== ''),
);
export const finished = computed(() => items.value.filter(({ phase }) => phase.value === 'done'));

/** Adds files and URLs to the list. */
export function add(sources: Source[]): void {
  const added = sources.map(itemOf);
  items.value = [...items.value, ...added];
  for (const item of added) void begin(item);
}

async function begin(item: Item): Promise<void> {
  await findOutputs(item);
  // A URL such as /index.php can only mean the page.
  if ('url' in item.source && item.outputs.value?.length === 0) chooseKind(item, true);
}

/** Removes an item from the list, and cancels its work. */
export function remove(item: Item): void {
  if (isBusy(item)) void cancel(item);
  if (item.original !== undefined) URL.revokeObjectURL(item.original);
  items.value = items.value.filter((each) => each !== item);
}

function itemOf(source: Source): Item {
  const name = 'file' in source ? source.file.name : nameIn(source.url);
  const extension = extensionOf(name);
  const isPage = signal('url' in source && ['', 'htm', 'html'].includes(extension));
  made += 1;
  return {
    id: made,
    source,
    name,
    isPage,
    from: computed(() => (isPage.value ? 'html' : extension || '*')),
    ...('file' in source ? { original: URL.createObjectURL(source.file) } : {}),
    outputs: signal(undefined),
    to: signal(''),
    options: signal({}),
    phase: signal('ready'),
    progress: signal(undefined),
    problem: signal(''),
    job: signal(undefined),
    results: signal([]),
    stop: new AbortController(),
  };
}

function nameIn(url: string): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last;
  }
}

/** Treats a URL as a web page or as a file. */
export function chooseKind(item: Item, isPage: boolean): void {
  item.isPage.value = isPage;
  item.problem.value = '';
  void findOutputs(item);
}

async function findOutputs(item: Item): Promise<void> {
  const from = item.from.value;
  try {
    const outputs = await outputsOf(from);
    // The choice has changed in the meantime.
    if (from !== item.from.value) return;
    item.outputs.value = outputs;
    item.to.value = likelyOutput(from, outputs);
    if (outputs.length === 0) item.problem.value = `Files with the extension .${from} cannot be converted.`;
  } catch (error) {
    item.outputs.value = [];
    item.problem.value = messageOf(error);
  }
}

/** Converts an item: creates its job, uploads its file, and tracks it to the end. */
export async function start(item: Item): Promise<void> {
  item.stop = new AbortController();
  item.problem.value = '';
  item.job.value = undefined;
  item.results.value = [];
  item.progress.value = 'file' in item.source ? 0 : undefined;
  item.phase.value = 'file' in item.source ? 'uploading' : 'working';
  const { signal: stopped } = item.stop;
  try {
    // Not aborted on cancel: the job might be created anyway.
    const job = await request<Job>('POST', '/v1/process/jobs', jobOf(item));
    if (stopped.aborted) return await cancelJob(job);
    item.job.value = job;
    const unfollow = followJob(job.id, {
      onChange: (next) => show(item, next),
      onProblem: (error, isFinal) => {
        item.problem.value = messageOf(error);
        if (isFinal) item.phase.value = 'failed';
      },
    });
    stopped.addEventListener('abort', unfollow);
    const form = job.tasks?.find(({ name }) => name === 'import')?.result.form;
    if ('file' in item.source && form)
      await upload(form, item.source.file, (share) => showUpload(item, share), stopped);
    if (item.phase.value === 'uploading') {
      item.phase.value = 'working';
      item.progress.value = undefined;
    }
  } catch (error) {
    if (stopped.aborted) return;
    item.phase.value = 'failed';
    item.problem.value = messageOf(error);
    if (item.job.value) void cancelJob(item.job.value);
  }
}

function showUpload(item: Item, share: number): void {
  if (item.phase.value === 'uploading') item.progress.value = share;
}

function jobOf({ source, isPage, to, options }: Item): object {
  return {
    tag: 'page',
    tasks: {
      import:
        'file' in source
          ? { operation: 'import/upload' }
          : { operation: isPage.value ? 'import/webpage' : 'import/url', url: source.url },
      convert: { operation: 'convert', input: 'import', output_format: to.value, options: options.value },
      export: { operation: 'export/url', input: 'convert' },
    },
  };
}

function show(item: Item, job: Job): void {
  if (item.job.value?.id !== job.id || !isBusy(item)) return;
  item.job.value = job;
  item.problem.value = '';
  const tasks = job.tasks ?? [];
  const named = (name: string) => tasks.find((task) => task.name === name);
  if (named('import')?.status === 'completed') {
    item.phase.value = 'working';
    const { progress } = named('convert') ?? {};
    item.progress.value = progress === undefined ? undefined : progress / 100;
  }
  const files = named('export')?.result.files ?? [];
  if (job.status === 'completed' && files.length > 0) {
    item.results.value = files;
    item.phase.value = 'done';
  } else if (job.status === 'failed') {
    item.problem.value = reasonOf(job);
    item.phase.value = 'failed';
  }
}

function reasonOf(job: Job): string {
  const failed = job.tasks?.find(({ status }) => status === 'failed');
  return failed?.result.msg ?? job.result.msg ?? 'The conversion failed.';
}

/** Cancels the work on an item. */
export async function cancel(item: Item): Promise<void> {
  item.stop.abort();
  item.phase.value = 'canceled';
  if (item.job.value) await cancelJob(item.job.value);
}

/** Creates a ZIP of all results, and returns its URL. */
export async function zipOf(all: Item[]): Promise<string> {
  const input = all.flatMap(({ job }) => job.value?.tasks?.find(({ name }) => name === 'convert')?.id ?? []);
  const body = { input, archive_multiple_files: true };
  let task = await request<Task>('POST', '/v1/process/export/url', body);
  while (task.endedAt === null) task = await request<Task>('GET', `/v1/process/tasks/${task.id}/wait`);
  if (task.result.url === undefined) throw new Error(task.result.msg ?? 'The ZIP could not be created.');
  return task.result.url;
}
