/**
 * AWS list prices of us-east-1 in dollars, without the free tiers of new accounts. On the date below, those of Lambda
 * memory and DynamoDB requests were compared with published ones. The tenant price was taken a day later from an
 * example on Lambda's pricing page. The others were written from memory and are to be checked at
 * https://aws.amazon.com/<service>/pricing/
 */
export const prices = {
  date: '2026-11-16',
  region: 'us-east-1',
  lambda: {
    /** Includes INIT, since August 2025 also for zips on managed runtimes. */
    gigabyteSecond: { x86_64: 0.0000166667, arm64: 0.0000133334 },
    /** For disk beyond the free 512 MB. */
    diskGigabyteSecond: 0.0000000309,
    request: 0.2 / 1e6,
    /**
     * Per new environment of a function with tenants, by memory: "200K * $0.000167 * 1024 MB / 1024MB = $33.4", for
     * x86. The example has no price for Arm, which may be lower.
     */
    tenantEnvironmentGigabyte: 0.000167,
  },
  httpApi: { request: 1 / 1e6 },
  /** Messages of up to 32 KB, in either direction. */
  webSocketApi: { message: 1 / 1e6, connectionMinute: 0.25 / 1e6 },
  /** HTTPS in Europe and North America. Fetches from AWS origins are free. */
  cloudfront: {
    request: 1 / 1e6,
    functionInvocation: 0.1 / 1e6,
    gigabyte: 0.085,
    /** Per month, for all distributions of an account together. */
    free: { requests: 10_000_000, functionInvocations: 2_000_000, gigabytes: 1_000 },
  },
  sqs: {
    request: { standard: 0.4 / 1e6, fifo: 0.5 / 1e6 },
    /** Per month, for both kinds together. */
    freeRequests: 1_000_000,
  },
  dynamodb: { read: 0.125 / 1e6, write: 0.625 / 1e6 },
  s3: { write: 0.005 / 1e3, read: 0.0004 / 1e3, gigabyteMonth: 0.023 },
  /** For function logs and access logs; 5 GB per month are free. */
  logs: { gigabyte: 0.5, freeGigabytes: 5 },
  cloudwatch: {
    /** Per combination of name and dimensions, prorated by the hours with values. */
    metricMonth: 0.3,
    freeMetrics: 10,
    alarm: 0.1,
    compositeAlarm: 0.5,
    freeAlarms: 10,
    dashboard: 3,
    freeDashboards: 3,
  },
  kms: { key: 1, request: 0.03 / 1e4 },
  secrets: { secret: 0.4 },
  waf: { acl: 5, rule: 1 },
  ecr: { gigabyteMonth: 0.1 },
  eventBridge: { event: 1 / 1e6 },
  internet: { gigabyte: 0.09 },
} as const;

/** Resources billed by the hour even if idle. */
export const hourlyTypes: readonly RegExp[] = [
  /^AWS::EC2::(?:NatGateway|Instance|VPCEndpoint|EIP|TransitGateway.*)$/,
  /^AWS::(?:RDS|Redshift|ElastiCache|OpenSearchService|MSK|EKS|EFS|DAX|MemoryDB)::/,
  /^AWS::ECS::Service$/,
  /^AWS::ElasticLoadBalancingV2::LoadBalancer$/,
  /^AWS::Kinesis::Stream$/,
];
