import { defined } from '../../../shared/defined.ts';
import { catalogue } from '../../catalogue/catalogues.ts';

/** Returns a format as the format queries list it. */
export function describeFormat(ext: string) {
  return defined({ ext, media_type: catalogue.mediaType(ext), alias_of: catalogue.format(ext)?.aliasOf });
}
