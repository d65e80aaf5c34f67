/**
 * Public prices of hosted services, gathered in 2026: dollars per month, and the number of single-conversion jobs in the
 * plan. Check them before quoting.
 */
export const hostedPlans: { date: string; plans: [plan: string, dollars: number, jobs: number, rule: string][] } = {
  date: '2026',
  plans: [
    // A job of import, conversion and export is three tasks of at least a minute each.
    ['FreeConvert, 1,500 minutes', 12.99, 500, 'a minute for each task'],
    ['FreeConvert, 4,000 minutes', 29.99, 1333, 'a minute for each task'],
    ['Zamzar, 500 credits', 25, 500, 'a credit for each conversion'],
    ['Zamzar, 10,000 credits', 299, 10_000, 'a credit for each conversion'],
  ],
};

/** Hosted services whose plans do not state a number of conversions. */
export const otherHosted = ['ConvertAPI: 35 to 350 dollars a month, conversions by plan'];
