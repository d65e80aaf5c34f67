import { rasterType } from '../document/guards/pictures.ts';
import type { Picture } from './model.ts';

/** Returns a picture if its bytes are of a format that readers of Markdown show. Vectors may refer to other files. */
export function rasterPicture(bytes: Buffer): Picture | undefined {
  const format = rasterType(bytes)?.replace('image/', '').replace('jpeg', 'jpg');
  return format === undefined ? undefined : { bytes, format };
}
