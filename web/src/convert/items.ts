import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type InstantResult, maxInstantBytes } from '../../../packages/client/src/instant.ts';
import { extensionOf, isTransfer } from '../format.ts';
import { cancelJob } from '../service/cancel.ts';
import { convertInstantly } from '../service/instant.ts';
import { followJob } from '../service/live.ts';
import { messageOf, request, send } from '../service/request.ts';
import { session } from '../service/session.ts';
import type { Job, ResultFile, Task } from '../service/types.ts';
import { likelyOutput, outputsOf } from './formats.ts';
import type { OptionValues } from './options-form.tsx';
import { findPending, forget, remember } from './pending-uploads.ts';
import { isResumable, upload } from './upload.ts';

/** What to convert: a file, a URL, or several items that become one file. */
export type Source = { file: File } | { url: string } | { parts: Part[] };

/** An item that can be merged with others. */
export type Part = Item & { source: { file: File } | { url: string } };

export type Phase = 'ready' | 'waiting' | 'uploading' | 'working' | 'done' | 'failed' | 'canceled';

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
  /** When the current phase began, in milliseconds. */
  phaseSince: number;
  problem: Signal<string>;
  job: Signal<Job | undefined>;
  results: Signal<ResultFile[]>;
  stop: AbortController;
}

export const items = signal<Item[]>([]);
let made = 0;

export const isBusy = ({ phase }: Item): boolean => ['waiting', 'uploading', 'working'].includes(phase.value);
/** Whether an item has a format to convert to, or may still get one. */
export const isConvertible = ({ to, outputs }: Item): boolean => to.value !== '' || outputs.value === undefined;
export const waiting = computed(() =>
  items.value.filter((item) => ['ready', 'failed', 'canceled'].includes(item.phase.value) && isConvertible(item)),
);
export const finished = computed(() => items.value.filter(({ phase }) => phase.value === 'done'));

/** The items that can be merged, in their order. */
export const parts = computed(() => items.value.filter(isPart));

const isPart = (item: Item): item is Part => !('parts' in item.source);

/** Adds files and URLs to the list. */
export function add(sources: Source[]): void {
  const added = sources.map(itemOf);
  items.value = [...items.value, ...added];
  for (const item of added) void begin(item);
}

/** Adds an item that merges the given ones into one file, before all others. */
export function addMerged(merged: Part[], outputs: string[]): void {
  const item = itemOf({ parts: merged });
  item.outputs.value = outputs;
  item.to.value = outputs.includes('pdf') ? 'pdf' : (outputs[0] ?? '');
  items.value = [item, ...items.value];
}

/** Returns the formats that all items can be merged into. */
export async function mergedFormats(merged: Part[]): Promise<string[]> {
  const [first = [], ...others] = await Promise.all(merged.map(({ from }) => outputsOf(from.value, 'merge')));
  return first.filter((format) => others.every((outputs) => outputs.includes(format)));
}

/** Moves an item before the previous one. */
export function moveUp(item: Item): void {
  const at = items.value.indexOf(item);
  if (at > 0) items.value = items.value.toSpliced(at, 1).toSpliced(at - 1, 0, item);
}

/** Sets the output format of all items that can have it. Returns the number of the others. */
export function setAll(format: string): number {
  const able = waiting.value.filter((item) => isPart(item) && item.outputs.value?.includes(format));
  for (const item of able) item.to.value = format;
  return waiting.value.filter(isPart).length - able.length;
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
  showFiles(item, []);
  items.value = items.value.filter((each) => each !== item);
}

function itemOf(source: Source): Item {
  const name = nameOf(source);
  const extension = 'parts' in source ? (source.parts[0]?.from.value ?? '') : extensionOf(name);
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
    phaseSince: 0,
    problem: signal(''),
    job: signal(undefined),
    results: signal([]),
    stop: new AbortController(),
  };
}

function nameOf(source: Source): string {
  if ('parts' in source) return `${source.parts.length} files in one`;
  return 'file' in source ? source.file.name : nameIn(source.url);
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

/** Converts an item: within one request, or by a job that is tracked to the end. */
export async function start(item: Item): Promise<void> {
  item.stop = new AbortController();
  item.problem.value = '';
  item.job.value = undefined;
  showFiles(item, []);
  const { signal: stopped } = item.stop;
  if (!(await isPrepared(item, stopped))) return;
  try {
    // Neither request is aborted on cancel: the job might be created anyway.
    const result = await resultOf(item);
    if (result && 'files' in result) {
      if (!stopped.aborted) finish(item, result.files);
      return;
    }
    if (!result && stopped.aborted) return;
    if (!result) showProgress(item);
    const job = result ?? (await pendingJob(item)) ?? (await request<Job>('POST', '/v1/process/jobs', jobOf(item)));
    if (stopped.aborted) return await cancelJob(job);
    await track(item, job, stopped);
  } catch (error) {
    if (stopped.aborted) return;
    item.phase.value = 'failed';
    item.problem.value = messageOf(error);
    // The next attempt resumes the upload of a large file.
    if (item.job.value && !(await pendingJob(item).catch(() => undefined))) void cancelJob(item.job.value);
  }
}

/**
 * Waits for the sign-in and the formats, which the person need not wait for. Returns whether the item can be converted.
 */
async function isPrepared(item: Item, stopped: AbortSignal): Promise<boolean> {
  item.phase.value = 'waiting';
  const { promise, resolve } = Promise.withResolvers<void>();
  stopped.addEventListener('abort', () => resolve());
  const dispose = effect(() => {
    if (session.value.state === 'in' && item.outputs.value) resolve();
  });
  await promise.finally(dispose);
  if (stopped.aborted) return false;
  if (item.to.value === '') item.phase.value = 'ready';
  return item.to.value !== '';
}

/** Returns the job that waits for the rest of a large file, whose upload was broken off before. */
async function pendingJob(item: Item): Promise<Job | undefined> {
  return 'file' in item.source ? findPending(item.source.file, jobOf(item)) : undefined;
}

/** Converts a single small file within one request. The results of several are stored, so that a ZIP can have them. */
async function resultOf(item: Item): Promise<InstantResult | Job | undefined> {
  const { source, to, options } = item;
  const isInstant = 'file' in source && source.file.size <= maxInstantBytes && items.value.length === 1;
  if (!isInstant) return undefined;
  enter(item, 'working');
  return convertInstantly(source.file, to.value, options.value);
}

function showProgress(item: Item): void {
  const isUpload = filesOf(item).length > 0;
  enter(item, isUpload ? 'uploading' : 'working');
  if (isUpload) item.progress.value = 0;
}

function enter(item: Item, phase: Phase): void {
  item.phaseSince = Date.now();
  item.progress.value = undefined;
  item.phase.value = phase;
}

/** Returns the tasks that import the sources of an item. */
function importsOf({ source, isPage }: Item): { name: string; definition: object; file?: File }[] {
  if ('parts' in source)
    return source.parts.flatMap((part, index) =>
      importsOf(part).map((each) => ({ ...each, name: `${each.name}-${index + 1}` })),
    );
  if ('file' in source) return [{ name: 'import', definition: { operation: 'import/upload' }, file: source.file }];
  const operation = isPage.value ? 'import/webpage' : 'import/url';
  return [{ name: 'import', definition: { operation, url: source.url } }];
}

function filesOf(item: Item): { name: string; file: File }[] {
  return importsOf(item).flatMap(({ name, file }) => (file ? [{ name, file }] : []));
}

/** Uploads the files of an item to its job, and shows what happens to them. */
async function track(item: Item, job: Job, stopped: AbortSignal): Promise<void> {
  item.job.value = job;
  const unfollow = followJob(job.id, {
    onChange: (next) => show(item, next),
    onProblem: (error, isFinal) => {
      item.problem.value = messageOf(error);
      if (isFinal) item.phase.value = 'failed';
    },
  });
  stopped.addEventListener('abort', unfollow);
  const files = filesOf(item);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  let sent = 0;
  // One after another, because together they would not be faster.
  for (const { name, file } of files) {
    const form = job.tasks?.find((task) => task.name === name)?.result.form;
    if (form && 'file' in item.source && isResumable(form, file)) remember(file, jobOf(item), job);
    if (form) await upload(form, file, (share) => showUpload(item, (sent + share * file.size) / total), stopped);
    sent += file.size;
  }
  forget(job.id);
  if (item.phase.value === 'uploading') enter(item, 'working');
}

function showUpload(item: Item, share: number): void {
  if (item.phase.value === 'uploading' && Number.isFinite(share)) item.progress.value = share;
}

function jobOf(item: Item): object {
  const { source, to, options } = item;
  const imports = importsOf(item);
  const input = imports.map(({ name }) => name);
  const work = { output_format: to.value, options: options.value };
  return {
    tag: 'page',
    tasks: {
      ...Object.fromEntries(imports.map(({ name, definition }) => [name, definition])),
      ...('parts' in source
        ? { merge: { operation: 'merge', input, ...work } }
        : { convert: { operation: 'convert', input: 'import', ...work } }),
      export: { operation: 'export/url', input: 'parts' in source ? 'merge' : 'convert' },
    },
  };
}

/** Returns the task of a job that makes the result. */
function workOf({ tasks = [] }: Job): Task | undefined {
  return tasks.find(({ operation }) => !isTransfer(operation));
}

function show(item: Item, job: Job): void {
  if (item.job.value?.id !== job.id || !isBusy(item)) return;
  item.job.value = job;
  item.problem.value = '';
  const tasks = job.tasks ?? [];
  const imports = tasks.filter(({ operation }) => operation.startsWith('import/'));
  if (imports.every(({ status }) => status === 'completed')) {
    if (item.phase.value === 'uploading') enter(item, 'working');
    const { progress } = workOf(job) ?? {};
    item.progress.value = progress === undefined ? undefined : progress / 100;
  }
  const files = tasks.find(({ operation }) => operation === 'export/url')?.result.files ?? [];
  if (job.status === 'completed' && files.length > 0) finish(item, files);
  else if (job.status === 'failed') {
    item.problem.value = reasonOf(job);
    item.phase.value = 'failed';
  }
}

function finish(item: Item, files: ResultFile[]): void {
  showFiles(item, files);
  item.phase.value = 'done';
}

/** Shows files, and releases the memory of those that were shown before. */
function showFiles(item: Item, files: ResultFile[]): void {
  for (const { content, url } of item.results.value) if (content) URL.revokeObjectURL(url);
  item.results.value = files;
}

function reasonOf(job: Job): string {
  const failed = job.tasks?.find(({ status }) => status === 'failed');
  return failed?.result.msg ?? job.result.msg ?? 'The conversion failed.';
}

/** Cancels the work on an item. */
export async function cancel(item: Item): Promise<void> {
  item.stop.abort();
  item.phase.value = 'canceled';
  if (item.job.value) {
    forget(item.job.value.id);
    await cancelJob(item.job.value);
  }
}

/** Creates a ZIP of all results, and returns its URL. */
export async function zipOf(all: Item[]): Promise<string> {
  const input = (await Promise.all(all.map(tasksOf))).flat();
  let task = await createTask('export/url', { input, archive_multiple_files: true }, { prefer: 'wait=25' });
  while (task.endedAt === null) task = await request<Task>('GET', `/v1/process/tasks/${task.id}/wait`);
  if (task.result.url === undefined) throw new Error(task.result.msg ?? 'The ZIP could not be created.');
  return task.result.url;
}

/** Returns the tasks that have the results of an item. What only this page has is uploaded. */
async function tasksOf({ job, results, stop }: Item): Promise<string[]> {
  const converted = job.value && workOf(job.value);
  if (converted) return [converted.id];
  return Promise.all(
    results.value.map(async ({ filename, content = '' }) => {
      const { id, result } = await createTask('import/upload', {});
      if (result.form) await upload(result.form, new File([content], filename), () => undefined, stop.signal);
      return id;
    }),
  );
}

async function createTask(operation: string, body: object, preference: Record<string, string> = {}): Promise<Task> {
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...preference };
  return (await send('POST', `/v1/process/${operation}`, { headers, body: JSON.stringify(body) })).json();
}
