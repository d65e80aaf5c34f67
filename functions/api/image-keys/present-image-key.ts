import { defined } from '../../../shared/defined.ts';
import { required } from '../../../shared/settings.ts';
import type { ListedImageKey } from '../pictures/image-keys.ts';

/** Presents an image key without its secrets. */
export function presentImageKey({
  id,
  name,
  sources,
  presets,
  presetsOnly,
  signatureSize,
  maxAge,
  watermark,
  createdAt,
  createdBy,
}: ListedImageKey) {
  return {
    id,
    name,
    url: `${required('LATHE_URL')}/i/${id}`,
    sources: sources.map(defined),
    presets,
    presets_only: presetsOnly,
    signature_size: signatureSize,
    max_age: maxAge,
    watermark: watermark ?? null,
    createdAt,
    createdBy,
  };
}
