import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../infra/bundling.ts';
import { newId } from '../../shared/ids.ts';
import { tableVariables } from './roles.ts';
import { addUser, type RunningService } from './running-stack.ts';

/** Adds a user with that many tasks, one every four seconds up to now, most of them in jobs; returns their API key. */
export async function addUserWithTasks(
  service: Pick<RunningService, 'url' | 'dataDirectory' | 'as'>,
  count: number,
): Promise<string> {
  const { stack } = await service.as('functions/api/jobs/create-job.ts');
  const user = newId();
  const { url, dataDirectory } = service;
  const apiKey = await addUser({ url, dataDirectory, stack }, user);
  const program = join(projectRoot, 'test/support/fixtures/write-tasks.ts');
  await promisify(execFile)(process.execPath, [program, user, String(count)], {
    env: { ...process.env, ...(await tableVariables({ url, dataDirectory, stack }, 'HttpCreateJob')) },
  });
  return apiKey;
}
