/**
 * Headers of every response. Caches must not store responses, because they are private to the caller. Browsers must not
 * interpret them as pages or scripts, because they contain text of the caller's choice.
 */
export const usualHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
