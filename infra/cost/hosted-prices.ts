interface HostedPlan {
  service: string;
  plan: string;
  dollarsPerMonth: number;
  /** Number of single-conversion jobs in the plan. */
  jobs: number;
  rule: string;
}

/** Public prices of hosted services, gathered in 2026. Check them before quoting. */
export const hostedPlans: { date: string; plans: HostedPlan[] } = {
  date: '2026',
  plans: [
    // A job of import, conversion and export is three tasks of at least a minute each.
    {
      service: 'FreeConvert',
      plan: '1,500 minutes',
      dollarsPerMonth: 12.99,
      jobs: 500,
      rule: 'a minute for each task',
    },
    {
      service: 'FreeConvert',
      plan: '4,000 minutes',
      dollarsPerMonth: 29.99,
      jobs: 1333,
      rule: 'a minute for each task',
    },
    { service: 'Zamzar', plan: '500 credits', dollarsPerMonth: 25, jobs: 500, rule: 'a credit for each conversion' },
    {
      service: 'Zamzar',
      plan: '10,000 credits',
      dollarsPerMonth: 299,
      jobs: 10_000,
      rule: 'a credit for each conversion',
    },
  ],
};

/** Hosted services whose plans do not state a number of conversions. */
export const otherHosted = ['ConvertAPI: 35 to 350 dollars a month, conversions by plan'];
