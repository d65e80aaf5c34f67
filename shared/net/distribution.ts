/**
 * The header that proves to the API that a request came through the stack's distribution. Only the two know its value, so
 * a client that calls the API directly cannot claim another address.
 */
export const distributionHeader = 'x-lathe-distribution';
