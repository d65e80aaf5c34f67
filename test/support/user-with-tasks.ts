import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../infra/bundling.ts';
import { newId } from '../../shared/ids.ts';
import { addUser, type RunningService } from './running-stack.ts';

/** Adds a user with so many tasks, one every four seconds up to now, most of them in jobs; returns their API key. */
export async function addUserWithTasks(
  service: Pick<RunningService, 'url' | 'dataDirectory' | 'as'>,
  count: number,
): Promise<string> {
  const caller = await service.as('functions/api/jobs/create-job.ts');
  const { credentials, endpoint, region } = caller.client('dynamodb');
  const user = newId();
  const { url, dataDirectory } = service;
  const apiKey = await addUser({ url, dataDirectory, stack: caller.stack }, user);
  const program = join(projectRoot, 'test/support/fixtures/write-tasks.ts');
  await promisify(execFile)(process.execPath, [program, user, String(count)], {
    env: {
      ...process.env,
      AWS_REGION: region,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      LATHE_TABLE: caller.stack.tables[0]?.name,
    },
  });
  return apiKey;
}
