import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { newId } from '../../shared/ids.ts';
import { Client } from './client.ts';
import { actAs, addUser, type Caller, type FunctionName, stackOf, startService } from './running-stack.ts';

interface SharedService {
  url: string;
  dataDirectory: string;
  pid: number;
}

declare module 'vitest' {
  export interface ProvidedContext {
    sharedService: SharedService;
  }
}

/**
 * Starts one service for all files of a project that only change their own account. Starting a service and its
 * functions takes some seconds of processor time, more than most of these files need.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await startService({ LATHE_ALLOW_HOSTS: '127.0.0.1' });
  const { url, dataDirectory, pid } = service;
  project.provide('sharedService', { url, dataDirectory, pid });
  return () => service.stop();
}

/** The shared service, with an account of its own. */
export interface JoinedService extends SharedService {
  stack: LocalStack;
  user: string;
  apiKey: string;
  client: Client;
  /** Acts with the role of a function, through the gate like the function itself. */
  as(named: FunctionName): Promise<Caller>;
}

/** Joins a service with a new account; defaults to the project's service. */
export async function joinService(
  { url, dataDirectory, pid }: SharedService = inject('sharedService'),
): Promise<JoinedService> {
  const service = { url, dataDirectory, pid };
  const stack = await stackOf(service);
  const user = newId();
  const apiKey = await addUser({ ...service, stack }, user);
  const client = new Client({ url: service.url, apiKey });
  return { ...service, stack, user, apiKey, client, as: (named) => actAs({ ...service, stack }, named) };
}
