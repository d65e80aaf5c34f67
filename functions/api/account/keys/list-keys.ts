import { listKeys } from '../../../../shared/aws/stores/api-keys.ts';
import { endpoint } from '../../http/endpoint.ts';
import { lastUses } from '../../http/rate-store.ts';
import { routes } from '../../routes.ts';
import { presentKey } from './present-key.ts';

export const handler = endpoint(routes['key-list'], async ({ account }) => {
  const [keys, used] = await Promise.all([listKeys(account.user), lastUses(account.user)]);
  return { body: { docs: keys.map((key) => presentKey(key, used.get(key.id))) } };
});
