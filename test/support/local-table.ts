import { vi } from 'vitest';
import { everything, type LocalAws, startLocalAws } from '../../packages/local-aws/test/gate/fixture.ts';

/** Starts a local AWS and points the clients of modules that are imported afterwards to its table. */
export async function startLocalTable(): Promise<LocalAws> {
  const aws = await startLocalAws();
  const { accessKeyId, secretAccessKey, sessionToken } = aws.credentials(everything);
  vi.stubEnv('LATHE_TABLE', 'records');
  vi.stubEnv('AWS_REGION', aws.stack.region);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `${aws.origin}/_aws/dynamodb`);
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);
  // Clients read the variables on creation.
  vi.resetModules();
  return aws;
}
