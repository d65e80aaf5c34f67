import { GetObjectCommand } from '@aws-sdk/client-s3';
import { secretKey } from '../../files/keys.ts';
import type { JsonObject, Task } from '../../tasks/task.ts';
import { bucket } from '../bucket.ts';
import { deleteObject, putObject } from '../objects.ts';

/** A task and its operation, which decides whether its secrets are store credentials or file passwords. */
type Owner = Pick<Task, 'id' | 'operation'>;

/** Stores the secrets of a task until it ends. */
export async function storeSecrets(task: Owner, secrets: JsonObject): Promise<void> {
  await putObject(secretKey(task), JSON.stringify(secrets), 'application/json');
}

/** Reads the secrets of a task in progress. */
export async function readSecrets(task: Owner): Promise<JsonObject> {
  const { client, name } = bucket();
  const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: secretKey(task) }));
  if (!Body) throw new Error(`S3 responded without a body for the secrets of ${task.id}.`);
  return JSON.parse(await Body.transformToString());
}

/** Deletes the secrets of a task. */
export async function deleteSecrets(task: Owner): Promise<void> {
  await deleteObject(secretKey(task));
}
