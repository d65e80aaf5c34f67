import {
  BatchClient,
  DescribeJobsCommand,
  type JobDetail,
  SubmitJobCommand,
  TerminateJobCommand,
} from '@aws-sdk/client-batch';
import { batchVariable } from '../../../shared/aws/queues.ts';
import { jobTag } from '../../../shared/permissions.ts';
import { required } from '../../../shared/settings.ts';
import { mailboxVariable } from '../../engines/runtime/job/mailbox.ts';

/** One attempt: Batch has no token for repeated submissions, and a job whose id is lost ends without a mailbox. */
const submitter = new BatchClient({ maxAttempts: 1 });
const client = new BatchClient();

interface Submission {
  /** Shown in the console and the log. */
  name: string;
  /** The account, among whom the capacity is shared. */
  user: string;
  seconds: number;
  /** URL of the mailbox. */
  mailbox: string;
}

/** A job as Batch reports it. Times are in milliseconds. */
export interface JobState {
  isEnded: boolean;
  startedAt?: number;
  stoppedAt?: number;
  reason: string;
}

/** Submits a job of an engine, and returns its id. */
export async function submitJob(engine: string, { name, user, seconds, mailbox }: Submission): Promise<string> {
  const [jobQueue = '', jobDefinition] = required(batchVariable(engine)).split(' ');
  const { jobId } = await submitter.send(
    new SubmitJobCommand({
      jobName: name,
      jobQueue,
      jobDefinition,
      shareIdentifier: user.replaceAll(/[^A-Za-z0-9]/g, ''),
      timeout: { attemptDurationSeconds: seconds },
      containerOverrides: { environment: [{ name: mailboxVariable, value: mailbox }] },
      tags: { [jobTag]: jobQueue },
    }),
  );
  if (jobId === undefined) throw new Error('Batch accepted a job without an id.');
  return jobId;
}

/** Returns the state of a job; undefined if Batch does not know it. */
export async function describeJob(id: string): Promise<JobState | undefined> {
  const { jobs: [job] = [] } = await client.send(new DescribeJobsCommand({ jobs: [id] }));
  return job && stateOf(job);
}

/** Ends a job, whatever its state. Does nothing if it has ended. */
export async function terminateJob(id: string, reason: string): Promise<void> {
  await client.send(new TerminateJobCommand({ jobId: id, reason }));
}

function stateOf({ status, startedAt, stoppedAt, statusReason }: JobDetail): JobState {
  return {
    isEnded: status === 'SUCCEEDED' || status === 'FAILED',
    ...(startedAt ? { startedAt } : {}),
    ...(stoppedAt ? { stoppedAt } : {}),
    reason: statusReason ?? '',
  };
}
