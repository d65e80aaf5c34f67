import { engineHandler } from '../runtime/engine-handler.ts';
import { catalogue } from './catalogue.ts';

export const handler = engineHandler(new URL('run.ts', import.meta.url), catalogue.resources);
