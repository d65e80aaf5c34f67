import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler('webpage', new URL('run.ts', import.meta.url));
