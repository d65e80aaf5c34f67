import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { secretKey } from '../files/keys.ts';
import type { JsonObject } from '../tasks/task.ts';
import { bucket } from './bucket.ts';

/** Stores the secrets of a task until it ends. */
export async function storeSecrets(taskId: string, secrets: JsonObject): Promise<void> {
  const { client, name } = bucket();
  const body = JSON.stringify(secrets);
  await client.send(
    new PutObjectCommand({ Bucket: name, Key: secretKey(taskId), Body: body, ContentType: 'application/json' }),
  );
}

/** Reads the secrets of a task that is being processed. */
export async function readSecrets(taskId: string): Promise<JsonObject> {
  const { client, name } = bucket();
  const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: secretKey(taskId) }));
  if (!Body) throw new Error(`S3 responded without a body for the secrets of ${taskId}.`);
  return JSON.parse(await Body.transformToString());
}

/** Deletes the secrets of a task. */
export async function deleteSecrets(taskId: string): Promise<void> {
  const { client, name } = bucket();
  await client.send(new DeleteObjectCommand({ Bucket: name, Key: secretKey(taskId) }));
}
