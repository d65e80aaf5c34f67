import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler('document', new URL('run.ts', import.meta.url));
