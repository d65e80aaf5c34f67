import { records } from '../../../shared/aws/records.ts';
import { storeWebhook } from '../../../shared/aws/webhook-store.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { type Webhook, webhookOfJob } from '../../../shared/webhooks/webhook.ts';
import { checkWebhookUrl } from '../account/webhook-url.ts';
import { createOnce } from '../creation/create-once.ts';
import { prepareTasks } from '../creation/prepare-tasks.ts';
import { readJobTasks } from '../creation/read-requests.ts';
import { endpoint } from '../http/endpoint.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['create-job'], (request) => {
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
      const { tag, tasks, webhook_url: url } = request.body;
      if (url !== undefined) checkWebhookUrl(url, 'webhook_url');
      const settings = { ...(tag === undefined ? {} : { tag }), hasWebhook: url !== undefined };
      const { plan, write } = await prepareTasks(readJobTasks(tasks), {
        ...request.account,
        job: settings,
      });
      const { job } = plan;
      if (!job) throw new Error('A plan for a job holds none.');
      return {
        id: job.id,
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
