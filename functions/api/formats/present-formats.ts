import type { JsonObject } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';

/** Returns a format list as the API presents it. */
export function presentFormats(extensions: string[]): { formats: JsonObject[] } {
  return {
    formats: extensions.map((ext) => {
      const canonical = catalogue.canonical(ext);
      return canonical === ext ? { ext } : { ext, aliasOf: canonical };
    }),
  };
}
