import { secretKey } from '../../files/keys.ts';
import type { JsonObject, Task } from '../../tasks/task.ts';
import { deleteObject, putObject, readObject } from '../objects.ts';

/** A task and its operation, which decides whether its secrets are store credentials or file passwords. */
type Owner = Pick<Task, 'id' | 'operation'>;

/** Stores the secrets of a task until it ends. */
export async function storeSecrets(task: Owner, secrets: JsonObject): Promise<void> {
  await putObject(secretKey(task), JSON.stringify(secrets), 'application/json');
}

/** Reads the secrets of a task in progress. */
export async function readSecrets(task: Owner): Promise<JsonObject> {
  return JSON.parse(Buffer.from(await readObject(secretKey(task))).toString());
}

/** Deletes the secrets of a task. */
export async function deleteSecrets(task: Owner): Promise<void> {
  await deleteObject(secretKey(task));
}
