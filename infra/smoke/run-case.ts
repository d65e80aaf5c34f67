import type { Case } from './cases.ts';
import { type Health, type Job, type Service, SmokeError, type Task } from './service.ts';

export type Outcome =
  | { result: 'ok'; bytes: number }
  | { result: 'skipped'; reason: string }
  | { result: 'failed'; reason: string };

export interface CaseOptions {
  /** How long a case may take. */
  seconds: number;
  /** Called with each progress report of the job. */
  onProgress(text: string): void;
}

/** Sends the files of a case through the service and checks the output. */
export async function runCase(
  service: Service,
  { engines }: Pick<Health, 'engines'>,
  one: Case,
  { seconds, onProgress }: CaseOptions,
): Promise<Outcome> {
  try {
    const missing = await reasonToSkip(service, engines, one);
    if (missing !== undefined) return { result: 'skipped', reason: missing };
    const inputs = await Promise.all(one.files.map((file) => file.content()));
    const job = await service.createJob(tasksOf(one));
    for (const [index, content] of inputs.entries()) {
      const { form } = taskOf(job, `upload-${index}`).result;
      if (!form) throw new SmokeError('The upload task has no form.');
      await service.upload(form, one.files[index]?.name ?? '', content);
    }
    const ended = await follow(service, job, { deadline: Date.now() + seconds * 1000, seconds, onProgress });
    const output = await service.download(outputOf(ended));
    const wrong = await one.check(output, inputs[0] ?? Buffer.alloc(0));
    if (wrong !== undefined) return { result: 'failed', reason: `The output is wrong: ${wrong}. Job ${job.id}.` };
    return { result: 'ok', bytes: output.length };
  } catch (error) {
    if (!(error instanceof SmokeError)) throw error;
    return { result: 'failed', reason: error.message };
  }
}

async function reasonToSkip(service: Service, engines: Health['engines'], one: Case): Promise<string | undefined> {
  const engine = engines.find(({ name }) => name === one.engine);
  if (!engine?.usable) return engine?.reason ?? `The service has no engine ${one.engine}.`;
  const formats = [one.from, ...one.steps.map(({ to }) => to)];
  for (const [index, { operation, to }] of one.steps.entries()) {
    const from = formats[index] ?? '';
    if ((await service.outputsOf(operation, from)).includes(to)) continue;
    const missing = engine.missing ? ` Missing: ${JSON.stringify(engine.missing)}` : '';
    return `The service does not offer ${operation} of ${from} to ${to}.${missing}`;
  }
  return undefined;
}

/** Returns the tasks of a case: an upload for each file, the steps, and the link. */
function tasksOf({ files, steps }: Case): Record<string, unknown> {
  const uploads = files.map((_, index) => `upload-${index}`);
  const processing = steps.map(({ operation, to }, index) => {
    const input = index === 0 ? uploads : [`step-${index - 1}`];
    return [
      `step-${index}`,
      {
        operation,
        input: operation === 'merge' ? input : input[0],
        ...(operation === 'compress' ? {} : { output_format: to }),
      },
    ] as const;
  });
  return Object.fromEntries([
    ...uploads.map((name) => [name, { operation: 'import/upload' }] as const),
    ...processing,
    ['link', { operation: 'export/url', input: `step-${steps.length - 1}` }],
  ]);
}

/** Waits for the end of a job, and throws if it fails or does not end in time. */
async function follow(
  service: Service,
  created: Job,
  { deadline, seconds, onProgress }: { deadline: number; seconds: number; onProgress(text: string): void },
): Promise<Job> {
  let job = created;
  while (job.endedAt === null) {
    if (Date.now() > deadline) throw new SmokeError(lateness(job, seconds));
    job = await service.waitForJob(job.id);
    onProgress(job.tasks.map(stateOf).join(', '));
  }
  const failed = job.tasks.find(({ status }) => status === 'failed');
  if (job.status === 'completed') return job;
  throw new SmokeError(
    `${failed?.operation ?? 'The job'} failed: ${failed?.result.errorCode} ${failed?.result.msg} For more, see the log: docs/runbook.md has the query, with job ${job.id}.`,
  );
}

function lateness(job: Job, seconds: number): string {
  const open = job.tasks.find(({ status }) => status !== 'completed');
  const advice =
    open?.status === 'processing'
      ? 'Its worker is running: try a longer --timeout.'
      : 'No worker has taken it: see the alarms that end in Waiting in docs/runbook.md.';
  return `${open?.operation} was ${open?.status} after ${seconds} seconds. ${advice} Job ${job.id}.`;
}

function stateOf({ operation, status, progress }: Task): string {
  return `${operation} ${status}${status === 'processing' && progress !== undefined ? ` ${progress} %` : ''}`;
}

function taskOf(job: Job, name: string): Task {
  const task = job.tasks.find((each) => each.name === name);
  if (!task) throw new SmokeError(`The job ${job.id} has no task ${name}.`);
  return task;
}

function outputOf(job: Job) {
  const [file, ...more] = taskOf(job, 'link').result.files ?? [];
  if (!file || more.length > 0)
    throw new SmokeError(`The job ${job.id} has ${more.length + (file ? 1 : 0)} outputs, not one.`);
  return file;
}

/** Returns a line of the table: the case, its outcome and its duration. */
export function lineOf(one: { name: string; path: string }, outcome: Outcome, milliseconds: number): string {
  const time = outcome.result === 'skipped' ? '' : `${(milliseconds / 1000).toFixed(1)} s`;
  const rest = outcome.result === 'ok' ? `${outcome.bytes.toLocaleString('en')} bytes` : outcome.reason;
  return `${one.name.padEnd(10)} ${one.path.padEnd(18)} ${outcome.result.padEnd(8)} ${time.padStart(8)}  ${rest}`;
}
