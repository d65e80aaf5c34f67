import { fileURLToPath } from 'node:url';
import {
  BatchClient,
  DescribeJobsCommand,
  SubmitJobCommand,
  type SubmitJobCommandInput,
  TerminateJobCommand,
} from '@aws-sdk/client-batch';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { JobScheduler } from '../../src/batch/job-scheduler.ts';
import { accountId, allow, type LocalAws, nothing, role, startLocalAws } from './fixture.ts';

const batchArn = (resource: string) => `arn:aws:batch:eu-central-1:${accountId}:${resource}`;
const queue = { logicalId: 'Queue', arn: batchArn('job-queue/Queue'), maxVcpus: 2, hasShares: true };
const script = fileURLToPath(new URL('../lambda/fixtures/job.ts', import.meta.url));
const definition = {
  logicalId: 'Definition',
  arn: batchArn('job-definition/Definition:1'),
  script,
  entry: script,
  vcpus: 2,
  memoryMegabytes: 4_096,
  timeoutSeconds: undefined,
  schedulingPriority: 1,
  environment: { OF_DEFINITION: 'yes' },
};

const submitter = role('Submitter', [
  allow(['batch:SubmitJob'], [queue.arn, definition.arn]),
  allow(['batch:TagResource'], [batchArn('job/*')]),
  allow(['batch:DescribeJobs'], ['*']),
  allow(['batch:TerminateJob'], [batchArn('job/*')], {
    conditions: { StringEquals: { 'aws:ResourceTag/owner': ['tests'] } },
  }),
]);

let aws: LocalAws;
let scheduler: JobScheduler;

beforeAll(async () => {
  aws = await startLocalAws({
    roles: [submitter],
    change: (stack) => {
      stack.jobQueues.push(queue);
      stack.jobDefinitions.push(definition);
    },
    jobs: (stack) => {
      scheduler = new JobScheduler({ stack, cores: 2, variables: {}, log: () => {} });
      return scheduler;
    },
  });
});

afterAll(async () => {
  await scheduler.stop();
  await aws[Symbol.asyncDispose]();
});

const clientOf = (caller = submitter) =>
  new BatchClient({
    endpoint: `${aws.origin}/_aws/batch`,
    region: 'eu-central-1',
    credentials: aws.credentials(caller),
    maxAttempts: 1,
  });

function submit(mode: string, changes: Partial<SubmitJobCommandInput> = {}) {
  return clientOf().send(
    new SubmitJobCommand({
      jobName: 'test-1',
      jobQueue: queue.arn,
      jobDefinition: definition.arn,
      shareIdentifier: 'someone',
      containerOverrides: { environment: [{ name: 'MODE', value: mode }] },
      tags: { owner: 'tests' },
      ...changes,
    }),
  );
}

async function describe(jobId = '') {
  const { jobs = [] } = await clientOf().send(new DescribeJobsCommand({ jobs: [jobId] }));
  return jobs[0];
}

const reaches = (jobId: string | undefined, status: string) =>
  vi.waitFor(async () => expect((await describe(jobId))?.status).toBe(status), { timeout: 20_000, interval: 50 });

test('A job runs as a process with the variables of its definition and its submission, and ends by its exit code', async () => {
  const [good, bad] = [await submit('exit-0'), await submit('exit-3')];
  expect(good).toMatchObject({ jobName: 'test-1', jobArn: batchArn(`job/${good.jobId}`) });
  await reaches(good.jobId, 'SUCCEEDED');
  await reaches(bad.jobId, 'FAILED');
  expect(await describe(bad.jobId)).toMatchObject({ container: { exitCode: 3 }, tags: { owner: 'tests' } });
  const { createdAt = 0, startedAt = 0, stoppedAt = 0 } = (await describe(good.jobId)) ?? {};
  expect(createdAt).toBeLessThanOrEqual(startedAt);
  expect(startedAt).toBeLessThanOrEqual(stoppedAt);
});

test('Jobs wait while their queue has no capacity, and ending a job ends its process', async () => {
  const [first, second] = [await submit('wait'), await submit('exit-0')];
  await reaches(first.jobId, 'RUNNING');
  expect((await describe(second.jobId))?.status).toMatch(/^(?:SUBMITTED|RUNNABLE)$/);
  const began = Date.now();
  await clientOf().send(new TerminateJobCommand({ jobId: first.jobId, reason: 'Enough.' }));
  await reaches(first.jobId, 'FAILED');
  expect(Date.now() - began).toBeLessThan(2_000);
  expect(await describe(first.jobId)).toMatchObject({ statusReason: 'Enough.', isTerminated: true });
  await reaches(second.jobId, 'SUCCEEDED');
  // Ended jobs stay as they are.
  await clientOf().send(new TerminateJobCommand({ jobId: second.jobId, reason: 'Late.' }));
  expect((await describe(second.jobId))?.status).toBe('SUCCEEDED');
});

test('The role of the caller limits which jobs it submits and ends', async () => {
  const denied = { name: 'AccessDeniedException', $metadata: { httpStatusCode: 403 } };
  const { jobId } = await submit('exit-0', { tags: { owner: 'others' } });
  await expect(clientOf().send(new TerminateJobCommand({ jobId, reason: 'Not mine.' }))).rejects.toMatchObject(denied);
  await expect(submit('exit-0', { jobQueue: batchArn('job-queue/Other') })).rejects.toMatchObject(denied);
  await expect(clientOf(nothing).send(new DescribeJobsCommand({ jobs: ['a'] }))).rejects.toMatchObject(denied);
});

test.each<[string, Partial<SubmitJobCommandInput>]>([
  ['a name with a space', { jobName: 'a b' }],
  ['no share in a queue with shares', { shareIdentifier: undefined }],
  ['a share with other characters', { shareIdentifier: 'a/b' }],
  ['a timeout of less than a minute', { timeout: { attemptDurationSeconds: 59 } }],
  [
    'overrides of more than 8,192 characters',
    { containerOverrides: { environment: [{ name: 'A', value: 'a'.repeat(8_192) }] } },
  ],
  ['a variable of Batch itself', { containerOverrides: { environment: [{ name: 'AWS_BATCH_JOB_ID', value: '1' }] } }],
])('%s is refused', async (_what, changes) => {
  await expect(submit('exit-0', changes)).rejects.toMatchObject({
    name: 'ClientException',
    $metadata: { httpStatusCode: 400 },
  });
});

test('Jobs that Batch does not know are left out', async () => {
  expect(await describe('00000000-0000-4000-8000-000000000000')).toBeUndefined();
});
