import { records } from '../../../shared/aws/records.ts';
import { storeWebhook } from '../../../shared/aws/webhook-store.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { type Webhook, webhookOfJob } from '../../../shared/webhooks/webhook.ts';
import { presentMonth } from '../account/usage/present-month.ts';
import { checkWebhookUrl } from '../account/webhooks/check-webhook-url.ts';
import { createOnce } from '../creation/create-once.ts';
import { estimateTime } from '../creation/estimate.ts';
import { type Creation, prepareTasks } from '../creation/prepare-tasks.ts';
import { ignoredFields, readJobTasks } from '../creation/read-requests.ts';
import { endpoint } from '../http/endpoint.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import type { ApiRequest, ApiResponse } from '../http/route.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['create-job'], (request) => {
  if (request.query.dry_run === 'true') return dryRun(request);
  let webhook: Webhook | undefined;
  const present = async (job: Job, tasks?: Task[]): Promise<JsonObject> => ({
    ...(await presentJobWithTasks(job, tasks)),
    // The secret is shown this once, to whoever made the job.
    ...(webhook ? { webhook: { id: webhook.id, url: webhook.url, secret: webhook.secret } } : {}),
  });
  return createOnce(
    request,
    'job',
    async () => {
      const { plan, write, warnings } = await prepareJob(request);
      const { webhook_url: url } = request.body;
      const { job } = plan;
      if (!job) throw new Error('A plan for a job holds none.');
      return {
        id: job.id,
        warnings,
        async write() {
          if (url !== undefined) {
            webhook = webhookOfJob(job, url);
            await storeWebhook(webhook);
          }
          const written = await write((error) => request.logger.warn('left to the sweep', { jobId: job.id, error }));
          return written?.job && present(written.job, written.tasks);
        },
      };
    },
    async (id) => {
      const job = await records.job(id);
      return job && present(job);
    },
  );
});

type JobRequest = ApiRequest<(typeof routes)['create-job']>;

async function prepareJob({
  account,
  body,
  unknownFields,
}: Pick<JobRequest, 'account' | 'body' | 'unknownFields'>): Promise<Creation & { warnings: string[] }> {
  const { tag, tasks, webhook_url: url } = body;
  if (url !== undefined) checkWebhookUrl(url, 'webhook_url');
  const job = { ...(tag === undefined ? {} : { tag }), hasWebhook: url !== undefined };
  const requests = readJobTasks(tasks);
  return { ...(await prepareTasks(requests, account, job)), warnings: ignoredFields(requests, unknownFields) };
}

/** Validates a request for a job and estimates what it would take, without creating anything. */
async function dryRun(request: JobRequest): Promise<ApiResponse> {
  const { plan, warnings } = await prepareJob(request);
  const { user } = request.account;
  const [estimate, { remainingMinutes }] = await Promise.all([
    estimateTime(user, plan.tasks, Date.now()),
    presentMonth(user),
  ]);
  return {
    status: 200,
    body: { valid: true, ...estimate, remainingMinutes, ...(warnings.length > 0 ? { warnings } : {}) },
  };
}
