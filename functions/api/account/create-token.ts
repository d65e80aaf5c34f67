import { issueToken } from '../../../shared/aws/stores/tokens.ts';
import { defined } from '../../../shared/defined.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['account-token'], async ({ account, body }) => {
  if (body.job !== undefined) await ownedJob(account, body.job);
  const { user, keyHash, person } = account;
  const { job } = body;
  return { body: defined({ ...(await issueToken(defined({ user, job, keyHash, person }), body.expires_in)), job }) };
});
