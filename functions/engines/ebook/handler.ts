import { engineHandler } from '../runtime/engine-handler.ts';

export const handler = engineHandler('ebook', new URL('run.ts', import.meta.url));
