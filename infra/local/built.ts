import { join } from 'node:path';
import { templateFile } from '../build/synth.ts';

/** What the service needs in addition to its modules, built ahead for an image. */
export interface BuiltService {
  /** Path of the template. */
  template: string;
  /** Folder of the page. */
  page: string;
  /** Folder of the bundles. */
  bundles: string;
}

/** Returns the paths of a built service in a folder. */
export function builtService(folder: string): BuiltService {
  return {
    template: join(folder, 'templates', templateFile),
    page: join(folder, 'page'),
    bundles: join(folder, 'bundles'),
  };
}
