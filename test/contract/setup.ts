import type { TestProject } from 'vitest/node';
import { addUser, startService } from '../support/running-stack.ts';

/** What the suite judges: any implementation of the spec that answers at this address. */
export interface ContractTarget {
  url: string;
  apiKey: string;
  /** A key of another user. */
  otherKey: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    target: ContractTarget;
  }
}

/** Takes the service that LATHE_CONTRACT_URL, LATHE_CONTRACT_KEY and LATHE_CONTRACT_OTHER_KEY name, or starts one on this machine. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { LATHE_CONTRACT_URL: url, LATHE_CONTRACT_KEY: apiKey, LATHE_CONTRACT_OTHER_KEY: otherKey } = process.env;
  if (url) {
    if (!apiKey || !otherKey)
      throw new Error(
        'LATHE_CONTRACT_URL needs LATHE_CONTRACT_KEY and LATHE_CONTRACT_OTHER_KEY of two users beside it.',
      );
    project.provide('target', { url: url.replace(/\/$/, ''), apiKey, otherKey });
    return undefined;
  }
  const service = await startService({ LATHE_RATE_PER_MINUTE: '1000000', LATHE_IDLE_ENVIRONMENTS: '60' });
  const { stack } = await service.as('functions/api/tasks/show-task.ts');
  const { url: ownUrl, apiKey: ownKey, dataDirectory } = service;
  const secondKey = await addUser({ url: ownUrl, dataDirectory, stack });
  project.provide('target', { url: ownUrl, apiKey: ownKey, otherKey: secondKey });
  return async () => {
    await service.stop();
    const refused = service.reports.flatMap((text) => text.split('\n')).filter((line) => line.startsWith('refused: '));
    // Some of what follows from a request is left to the sweep where it fails, and no response tells.
    if (refused.length > 0) throw new Error(`Roles lack permissions:\n${[...new Set(refused)].join('\n')}`);
  };
}
