import { listChanges } from '../../../shared/aws/stores/audit.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';

const defaultLimit = 50;

export const handler = endpoint(routes['audit-list'], async ({ account, query }) => {
  const { before, limit = defaultLimit } = query;
  const found = await listChanges(account.user, limit + 1, before);
  const docs = found.slice(0, limit);
  return { body: { docs, next: found.length > limit ? docs.at(-1)?.id : null } };
});
