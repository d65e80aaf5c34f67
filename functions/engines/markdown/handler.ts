import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler(new URL('run.ts', import.meta.url));
