import { batchVariable } from '../../../shared/aws/queues.ts';

/** Returns whether an engine has hours on AWS Batch. */
export function hasBatch(engine: string): boolean {
  return process.env[batchVariable(engine)] !== undefined;
}

/** Loads the code for AWS Batch, which few deployments need. */
export function batch() {
  return import('./batch-run.ts');
}
