import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/** Where what the checks need is kept, which is not part of the project. */
export const cache = join(projectRoot, 'node_modules/.cache/second-opinions');
