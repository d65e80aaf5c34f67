/** Proves that a request came through the stack's distribution. Other clients cannot claim another address. */
export const distributionHeader = 'x-lathe-distribution';
