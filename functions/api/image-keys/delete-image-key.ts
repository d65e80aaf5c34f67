import { actorOf } from '../../../shared/accounts/audit.ts';
import { recordChange } from '../../../shared/aws/stores/audit.ts';
import { endpoint } from '../http/endpoint.ts';
import { notFound } from '../http/errors.ts';
import { deleteImageKey, readListedImageKey } from '../pictures/image-keys.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['image-key-delete'], async ({ account, params, source }) => {
  const key = await readListedImageKey(account.user, params.imageKeyId);
  if (!key) throw notFound(`There is no image key ${params.imageKeyId}.`);
  const { id, name } = key;
  const actor = actorOf(account);
  await recordChange(account.user, { action: 'image_key.deleted', subject: id, name, actor, ...source });
  await deleteImageKey(key);
  return {};
});
