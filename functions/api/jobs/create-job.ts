import { records } from '../../../shared/aws/stores/records.ts';
import { storeWebhook } from '../../../shared/aws/stores/webhook-store.ts';
import { defined } from '../../../shared/defined.ts';
import { webhookOfJob } from '../../../shared/webhooks/webhook.ts';
import { presentMonth } from '../account/usage/present-month.ts';
import { checkWebhookUrl } from '../account/webhooks/check-webhook-url.ts';
import { estimateTime } from '../creation/estimate.ts';
import { findEarlier, replayedHeader } from '../creation/idempotency-keys.ts';
import { prepareTasks } from '../creation/prepare-tasks.ts';
import { readJobTasks, warningsFor } from '../creation/read-requests.ts';
import { makeUploadForm } from '../creation/upload-form.ts';
import { writeTasks } from '../creation/write-tasks.ts';
import { endpoint } from '../http/endpoint.ts';
import { waitedHeader } from '../http/preference.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';
import { jobAtItsEnd } from './job-at-its-end.ts';

export const handler = endpoint(routes['create-job'], async (request) => {
  const { account, body, logger } = request;
  const { tag, webhook_url: url } = body;
  if (url !== undefined) checkWebhookUrl(url, 'webhook_url');
  const requests = readJobTasks(body.tasks);
  const warnings = warningsFor(requests, request.unknownFields);
  const prepared = await prepareTasks(requests, account, defined({ tag, hasWebhook: url !== undefined }));
  const { job } = prepared.plan;
  if (!job) throw new Error('The plan of a job contains no job.');
  if (request.query.dry_run === 'true') {
    const [estimate, { remainingMinutes }] = await Promise.all([
      estimateTime(account.user, prepared),
      presentMonth(account.user),
    ]);
    return { status: 200, body: { valid: true, ...estimate, remainingMinutes, ...warnings } };
  }

  const earlier = await findEarlier(request, 'job', job.id, records.job);
  if (earlier) return { body: { ...(await presentJobWithTasks(earlier)), ...warnings }, headers: replayedHeader };

  // Logged before the write, so that records of an interrupted request can be traced to it.
  logger.info('creating', { jobId: job.id });
  const webhook = url === undefined ? undefined : webhookOfJob(job, url);
  if (webhook) await storeWebhook(webhook);
  const onError = (error: unknown) => logger.warn('left to the sweep', { jobId: job.id, error });
  const written = await writeTasks(prepared, { onError, makeForm: makeUploadForm });
  const created = written?.job ?? (await records.job(job.id));
  if (!created) return {};
  const waited = request.hold.milliseconds > 0 ? await jobAtItsEnd(job.id, request) : undefined;
  return {
    headers: waited ? { ...waited.headers, ...waitedHeader(request) } : {},
    body: {
      ...(waited?.body ?? (await presentJobWithTasks(created, written?.tasks))),
      // The only response that contains the secret.
      ...(webhook ? { webhook: { id: webhook.id, url: webhook.url, secret: webhook.secret } } : {}),
      ...warnings,
    },
  };
});
