/**
 * Headers of every response. What one caller is shown is for nobody else, whatever is between them and the service; and it
 * holds names and messages of a caller's choice, which no browser may take for a page or a script.
 */
export const usualHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
