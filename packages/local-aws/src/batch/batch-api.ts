import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Refusal, type RequiredAction } from '../iam/refusal.ts';
import type { LocalJobDefinition, LocalJobQueue, LocalStack } from '../template/model.ts';
import type { Job, JobScheduler } from './job-scheduler.ts';

/** The part of the scheduler that callers use. */
export type BatchJobs = Pick<JobScheduler, 'stack' | 'submit' | 'find' | 'terminate'>;

interface Call {
  method: string;
  path: string;
}

type Input = Record<string, unknown>;
type Authorise = (need: RequiredAction) => void;

/** An error of the caller, as Batch reports all of them. */
class ClientException extends Error {
  override readonly name = 'ClientException';
}

/** ECS limits what a job overrides in its container. */
const maxOverridesCharacters = 8_192;
const minTimeoutSeconds = 60;
const maxDescribed = 100;

/** Handles `SubmitJob`, `DescribeJobs` and `TerminateJob`. */
export function callBatch(
  jobs: BatchJobs | undefined,
  { method, path }: Call,
  input: Input,
  res: ServerResponse,
  authorise: Authorise,
): void {
  const operation = { '/v1/submitjob': submitJob, '/v1/describejobs': describeJobs, '/v1/terminatejob': terminateJob }[
    path
  ];
  if (method !== 'POST' || !operation)
    throw new Refusal('unsupported', 'The request does not name an operation of Batch that is supported here.');
  if (!jobs) throw new Refusal('unsupported', 'The stack has no job queue.');
  try {
    const output = JSON.stringify(operation(jobs, input, authorise));
    res.setHeader('content-type', 'application/json').end(output);
  } catch (error) {
    if (!(error instanceof ClientException)) throw error;
    res.writeHead(400, { 'content-type': 'application/json', 'x-amzn-errortype': error.name });
    res.end(JSON.stringify({ message: error.message }));
  }
}

function submitJob(jobs: BatchJobs, input: Input, authorise: Authorise) {
  const { stack } = jobs;
  only(input, [
    ...['jobName', 'jobQueue', 'jobDefinition', 'shareIdentifier', 'schedulingPriorityOverride'],
    ...['containerOverrides', 'timeout', 'tags'],
  ]);
  const tags = tagsOf(input.tags);
  const requested = Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [`aws:requesttag/${name.toLowerCase()}`, () => [value]]),
  );
  const [queueName, definitionName] = [textOf(input, 'jobQueue'), textOf(input, 'jobDefinition')];
  for (const resource of [arnOf(stack, 'job-queue', queueName), arnOf(stack, 'job-definition', definitionName)])
    authorise({ action: 'batch:SubmitJob', resource, conditions: requested });
  const id = randomUUID();
  if (Object.keys(tags).length > 0)
    authorise({ action: 'batch:TagResource', resource: jobArn(stack, id), conditions: requested });
  const name = textOf(input, 'jobName');
  if (!/^[a-zA-Z0-9][\w-]{0,127}$/.test(name))
    throw new ClientException(`Job name should match valid pattern but received ${name}.`);
  const queue = stack.jobQueues.find(({ arn }) => arn === arnOf(stack, 'job-queue', queueName));
  if (!queue) throw new ClientException(`JobQueue ${queueName} not found.`);
  const definition = stack.jobDefinitions.find(({ arn }) => arn === arnOf(stack, 'job-definition', definitionName));
  if (!definition) throw new ClientException(`JobDefinition ${definitionName} not found.`);
  const share = shareOf(input, queue, definition);
  const job = jobs.submit({
    id,
    name,
    queue,
    definition,
    share,
    tags,
    timeoutSeconds: timeoutOf(input.timeout) ?? definition.timeoutSeconds,
    environment: overridesOf(input.containerOverrides),
  });
  return { jobArn: jobArn(stack, job.id), jobName: name, jobId: job.id };
}

function describeJobs(jobs: BatchJobs, input: Input, authorise: Authorise) {
  authorise({ action: 'batch:DescribeJobs', resource: '*' });
  only(input, ['jobs']);
  const ids = Array.isArray(input.jobs) ? input.jobs : [];
  if (ids.length === 0 || ids.length > maxDescribed)
    throw new ClientException(`Expected 1 to ${maxDescribed} jobs but received ${ids.length}.`);
  return { jobs: ids.flatMap((id) => detailOf(jobs.stack, jobs.find(idOf(String(id))))) };
}

function terminateJob(jobs: BatchJobs, input: Input, authorise: Authorise) {
  only(input, ['jobId', 'reason']);
  const id = idOf(textOf(input, 'jobId'));
  const job = jobs.find(id);
  const conditions = Object.fromEntries(
    Object.entries(job?.tags ?? {}).map(([name, value]) => [`aws:resourcetag/${name.toLowerCase()}`, () => [value]]),
  );
  authorise({ action: 'batch:TerminateJob', resource: jobArn(jobs.stack, id), conditions });
  const reason = textOf(input, 'reason');
  if (!job) throw new ClientException(`Job ${id} not found.`);
  jobs.terminate(job, reason);
  return {};
}

function detailOf({ region, account }: LocalStack, job: Job | undefined): object[] {
  if (!job) return [];
  const { id, name, queue, definition, share, tags, status, statusReason, createdAt, startedAt, stoppedAt } = job;
  return [
    {
      jobArn: jobArn({ region, account }, id),
      jobId: id,
      jobName: name,
      jobQueue: queue.arn,
      jobDefinition: definition.arn,
      ...(share === undefined ? {} : { shareIdentifier: share, schedulingPriority: definition.schedulingPriority }),
      status,
      statusReason,
      createdAt,
      startedAt,
      stoppedAt,
      isTerminated: job.isTerminated,
      tags,
      platformCapabilities: ['FARGATE'],
      container: { exitCode: job.exitCode },
      attempts: stoppedAt === undefined ? [] : [{ startedAt, stoppedAt, statusReason }],
    },
  ];
}

/** A queue with a scheduling policy requires a share and a priority, and one without refuses a share. */
function shareOf(input: Input, queue: LocalJobQueue, definition: LocalJobDefinition): string | undefined {
  const { shareIdentifier: share } = input;
  if (!queue.hasShares) {
    if (share === undefined) return undefined;
    throw new ClientException('A share identifier can only be given for a job queue with a scheduling policy.');
  }
  if (typeof share !== 'string' || !/^[A-Za-z0-9]{1,255}$/.test(share))
    throw new ClientException(`Expected a share identifier of letters and digits but received ${share}.`);
  if (definition.schedulingPriority === undefined && input.schedulingPriorityOverride === undefined)
    throw new ClientException('A scheduling priority is required for a job queue with a scheduling policy.');
  return share;
}

function timeoutOf(timeout: unknown): number | undefined {
  if (timeout === undefined) return undefined;
  const { attemptDurationSeconds: seconds } = Object(timeout);
  if (Number.isInteger(seconds) && seconds >= minTimeoutSeconds) return seconds;
  throw new ClientException(`Expected a timeout of at least ${minTimeoutSeconds} seconds but received ${seconds}.`);
}

function overridesOf(overrides: unknown): Record<string, string> {
  if (overrides === undefined) return {};
  if (JSON.stringify(overrides).length > maxOverridesCharacters)
    throw new ClientException(`Container overrides are limited to ${maxOverridesCharacters} characters.`);
  const { environment = [], ...others } = Object(overrides);
  only(others, []);
  if (!Array.isArray(environment)) throw new ClientException('Expected a list for environment.');
  return Object.fromEntries(
    environment.map((variable) => {
      const { name, value = '' } = Object(variable);
      if (typeof name !== 'string' || typeof value !== 'string' || name === '' || name.startsWith('AWS_BATCH'))
        throw new ClientException(`Environment variables cannot start with AWS_BATCH, but received ${name}.`);
      return [name, value];
    }),
  );
}

function tagsOf(tags: unknown): Record<string, string> {
  const entries = Object.entries(Object(tags ?? {}));
  const isValid = ([name, value]: [string, unknown]) =>
    name.length <= 128 &&
    !name.startsWith('aws:') &&
    typeof value === 'string' &&
    value.length <= 256 &&
    /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u.test(value);
  const wrong = entries.find((entry) => !isValid(entry));
  if (wrong || entries.length > 50) throw new ClientException(`The tag ${wrong?.[0]} is not valid.`);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** Refuses what has no effect here. */
function only(input: Input, names: string[]): void {
  const other = Object.keys(input).find((name) => !names.includes(name));
  if (other !== undefined) throw new Refusal('unsupported', `${other} is not supported here.`);
}

function textOf(input: Input, name: string): string {
  const value = input[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ClientException(`Expected a string for ${name} but received ${JSON.stringify(value)}.`);
}

/** Returns the ARN of a queue or definition that a caller identifies by name or ARN. */
function arnOf({ region, account }: LocalStack, kind: string, name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:batch:${region}:${account}:${kind}/${name}`;
}

function jobArn({ region, account }: Pick<LocalStack, 'region' | 'account'>, id: string): string {
  return `arn:aws:batch:${region}:${account}:job/${id}`;
}

/** Returns the id of a job that a caller identifies by id or ARN. */
function idOf(text: string): string {
  return text.startsWith('arn:') ? (text.split('/').at(-1) ?? '') : text;
}
