import { S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Upload } from '@aws-sdk/lib-storage';

// All three packages are part of the Lambda runtime.
const { LATHE_URL, KEY_SECRET_ARN, TARGET_BUCKET, TAG } = process.env;
const s3 = new S3Client();
const secrets = new SecretsManagerClient();

let key;

/** Returns the API key of the service. Environments keep it, so a new key needs a deployment or a few hours. */
async function apiKey() {
  key ??= secrets
    .send(new GetSecretValueCommand({ SecretId: KEY_SECRET_ARN }))
    .then(({ SecretString }) => SecretString);
  try {
    return await key;
  } catch (error) {
    key = undefined;
    throw error;
  }
}

/** The event has the job without its tasks, so that it always fits; their links come from the API. */
async function fetchJob(id) {
  const headers = { authorization: `Bearer ${await apiKey()}` };
  const response = await fetch(`${LATHE_URL}/v1/process/jobs/${id}`, { headers });
  // The job was deleted, or its records have expired: nothing is left to copy, and another attempt finds no more.
  if (response.status === 404) return undefined;
  // EventBridge invokes the function again after an error, and in the end puts the event into the dead-letter queue.
  if (!response.ok) throw new Error(`The service responded with ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Copies a file to the bucket, in parts and without holding it in memory. */
async function copy(jobId, task, { url, filename, media_type }) {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`The link of ${filename} responded with ${response.status}.`);
  // The same event leads to the same keys, so one that arrives twice does no harm.
  const Key = `jobs/${jobId}/${task}/${filename}`;
  await new Upload({
    client: s3,
    params: { Bucket: TARGET_BUCKET, Key, Body: response.body, ContentType: media_type },
  }).done();
  return Key;
}

/** Handles the event `job_completed` or `job_failed` of the service's event bus. */
export async function handler(event) {
  const { data } = event.detail;
  if (TAG && data.tag !== TAG) return { copied: [] };
  if (event['detail-type'] === 'job_failed') {
    console.warn(JSON.stringify({ message: 'the job failed', job: data.id, tag: data.tag, ...data.result }));
    return { copied: [] };
  }
  const job = await fetchJob(data.id);
  const copied = [];
  for (const task of job?.tasks ?? []) {
    if (task.operation !== 'export/url') continue;
    for (const file of task.result.files ?? []) copied.push(await copy(data.id, task.name, file));
  }
  console.log(JSON.stringify({ message: 'copied', job: data.id, copied }));
  return { copied };
}
