import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler('media', new URL('run.ts', import.meta.url));
