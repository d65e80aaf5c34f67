import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler('archive', new URL('run.ts', import.meta.url));
