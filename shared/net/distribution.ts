/**
 * The header by which the stack's distribution shows the API that a request came through it. Its value is known to the two of
 * them, so that a client of the API's own URL cannot pretend to have another address.
 */
export const distributionHeader = 'x-lathe-distribution';
