import { issueToken } from '../../../shared/aws/tokens.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['account-token'], async ({ account, body }) => {
  if (body.job !== undefined) await ownedJob(account, body.job);
  const { user, keyHash, person } = account;
  const limit = body.job === undefined ? {} : { job: body.job };
  const by = { ...(keyHash === undefined ? {} : { keyHash }), ...(person === undefined ? {} : { person }) };
  return { body: { ...(await issueToken({ user, ...limit, ...by }, body.expires_in)), ...limit } };
});
