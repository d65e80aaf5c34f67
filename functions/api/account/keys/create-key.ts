import { actorOf } from '../../../../shared/accounts/audit.ts';
import type { KeyLimits } from '../../../../shared/accounts/caller.ts';
import { excessOf } from '../../../../shared/accounts/limits.ts';
import { describeKey, listKeys, newApiKey, storeKey } from '../../../../shared/aws/stores/api-keys.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { defined } from '../../../../shared/defined.ts';
import { newId } from '../../../../shared/ids.ts';
import { catalogue } from '../../../catalogue/catalogues.ts';
import { endpoint } from '../../http/endpoint.ts';
import { conflict, insufficientPermission } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { presentKey } from './present-key.ts';

const maxKeys = 100;

export const handler = endpoint(routes['key-create'], async ({ account, body, source }) => {
  const { name, scopes, expires_in: seconds, expires_at: time } = body;
  const fixed = time === undefined ? undefined : Date.parse(time);
  const expiresAt = seconds === undefined ? fixed : Date.now() + seconds * 1000;
  const limits = withCanonicalFormats(body.limits);
  const excess = excessOf(account, defined({ scopes, limits, expiresAt }));
  if (Object.keys(excess).length > 0) throw insufficientPermission(excess);
  if ((await listKeys(account.user)).length >= maxKeys)
    throw conflict(`An account can have at most ${maxKeys} keys. Delete one that is no longer needed.`);
  const apiKey = newApiKey();
  const actor = actorOf(account);
  const key = describeKey(apiKey, {
    id: newId(),
    user: account.user,
    name,
    scopes,
    limits,
    createdBy: actor,
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  });
  await recordChange(account.user, { action: 'key.created', subject: key.id, name, scopes, actor, ...source });
  await storeKey(key);
  return { body: { ...presentKey(key, undefined), key: apiKey } };
});

function withCanonicalFormats(limits: { [Name in keyof KeyLimits]: KeyLimits[Name] | undefined }): KeyLimits {
  const formats = limits.formats?.map((format) => catalogue.canonical(format));
  return defined({ ...limits, formats: formats && [...new Set(formats)] });
}
