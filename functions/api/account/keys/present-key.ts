import type { ApiKey } from '../../../../shared/aws/stores/api-keys.ts';

/** Presents a key without its hash. */
export function presentKey(
  { id, name, start, scopes, limits, createdAt, createdBy, expiresAt }: ApiKey,
  lastUsedAt: string | undefined,
) {
  return {
    id,
    name,
    start,
    scopes,
    limits,
    createdAt,
    createdBy,
    expiresAt: expiresAt ?? null,
    lastUsedAt: lastUsedAt ?? null,
  };
}
