import { actorOf } from '../../../shared/accounts/audit.ts';
import type { Caller } from '../../../shared/accounts/caller.ts';
import { excessOf } from '../../../shared/accounts/limits.ts';
import { recordChange } from '../../../shared/aws/stores/audit.ts';
import { newId } from '../../../shared/ids.ts';
import { endpoint } from '../http/endpoint.ts';
import { conflict, HttpError, insufficientPermission, invalidFields } from '../http/errors.ts';
import { type ImageKey, listedOf, listImageKeys, newImageSecrets, storeImageKey } from '../pictures/image-keys.ts';
import { checkPresets } from '../pictures/parse-path.ts';
import { findSource } from '../pictures/sources.ts';
import { routes } from '../routes.ts';
import { presentImageKey } from './present-image-key.ts';

const maxKeys = 20;

export const handler = endpoint(routes['image-key-create'], async ({ account, body, source }) => {
  const { name, sources, presets, presets_only, signature_size, max_age, watermark } = body;
  checkRights(account);
  checkDefinitions(presets);
  if (watermark !== undefined && !findSource(sources, watermark))
    throw invalidFields({ watermark: ['Expected a URL within the sources of the key.'] }, 'invalid_url');
  if ((await listImageKeys(account.user)).length >= maxKeys)
    throw conflict(`An account can have at most ${maxKeys} image keys. Delete one that is no longer needed.`);
  const actor = actorOf(account);
  const key: ImageKey = {
    id: newId(),
    user: account.user,
    name,
    sources,
    presets,
    presetsOnly: presets_only,
    signatureSize: signature_size,
    maxAge: max_age,
    watermark,
    ...newImageSecrets(),
    createdAt: new Date().toISOString(),
    createdBy: actor,
  };
  await recordChange(account.user, { action: 'image_key.created', subject: key.id, name, actor, ...source });
  await storeImageKey(key);
  return { body: { ...presentImageKey(listedOf(key)), key: key.key, salt: key.salt } };
});

/** Throws the 403 if the caller could do more with an image key, which has no limits, than with its own key. */
function checkRights(account: Caller): void {
  const [first] = Object.entries(excessOf(account, { scopes: ['process'], limits: {} }));
  if (first)
    throw insufficientPermission(
      `An image key converts files without limits and does not expire, but your own key does not allow that (${first[0]}).`,
    );
}

function checkDefinitions(presets: Record<string, string>): void {
  try {
    checkPresets(presets);
  } catch (error) {
    if (error instanceof HttpError && error.errors) throw invalidFields(error.errors, 'invalid_options');
    throw error;
  }
}
