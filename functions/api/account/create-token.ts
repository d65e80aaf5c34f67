import { issueToken } from '../../../shared/aws/tokens.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['account-token'], async ({ account, body }) => {
  if (body.job !== undefined) await ownedJob(account, body.job);
  const limit = body.job === undefined ? {} : { job: body.job };
  return { body: { ...(await issueToken({ user: account.user, ...limit }, body.expires_in)), ...limit } };
});
