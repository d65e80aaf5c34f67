import { actorOf } from '../../../../shared/accounts/audit.ts';
import { deleteKey, readKey } from '../../../../shared/aws/stores/api-keys.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { closeConnections } from '../../../../shared/aws/stores/key-connections.ts';
import { endpoint } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { routes } from '../../routes.ts';

export const handler = endpoint(routes['key-delete'], async ({ account, params, source }) => {
  const key = await readKey(account.user, params.keyId);
  if (!key) throw notFound(`There is no key ${params.keyId}.`);
  const { id, name, hash } = key;
  await recordChange(account.user, { action: 'key.deleted', subject: id, name, actor: actorOf(account), ...source });
  await deleteKey(key);
  await closeConnections(hash);
  return {};
});
