import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/** Holds downloads of the checks, which are not part of the project. */
export const cache = join(projectRoot, 'node_modules/.cache/second-opinions');
