/**
 * What AWS charges, in dollars: list prices of us-east-1, without the free tiers of new accounts. On the date below those of
 * Lambda's memory and DynamoDB's requests were compared with published ones, and that of tenants, which came a day later, was
 * taken from an example of Lambda's pricing page; the others were written from memory and are to be checked at https://aws.amazon.com/<service>/pricing/
 */
export const prices = {
  date: '2026-11-16',
  region: 'us-east-1',
  lambda: {
    /** Of INIT too: since August 2025 in zips on managed runtimes as well. */
    gigabyteSecond: { x86_64: 0.0000166667, arm64: 0.0000133334 },
    /** Of disk above the 512 MB that are free. */
    diskGigabyteSecond: 0.0000000309,
    request: 0.2 / 1e6,
    /**
     * Of each new environment of a function with tenants, by its memory: "200K * $0.000167 * 1024 MB / 1024MB = $33.4", of x86.
     * That of Arm, which may be less, is not in the example.
     */
    tenantEnvironmentGigabyte: 0.000167,
  },
  httpApi: { request: 1 / 1e6 },
  /** Messages of up to 32 KB, in either direction. */
  webSocketApi: { message: 1 / 1e6, connectionMinute: 0.25 / 1e6 },
  /** Of HTTPS in Europe and North America. What it fetches from origins in AWS costs nothing more. */
  cloudfront: {
    request: 1 / 1e6,
    functionInvocation: 0.1 / 1e6,
    gigabyte: 0.085,
    /** In every month, of all distributions of an account together. */
    free: { requests: 10_000_000, functionInvocations: 2_000_000, gigabytes: 1_000 },
  },
  sqs: {
    request: { standard: 0.4 / 1e6, fifo: 0.5 / 1e6 },
    /** In every month, of both kinds together. */
    freeRequests: 1_000_000,
  },
  dynamodb: { read: 0.125 / 1e6, write: 0.625 / 1e6 },
  s3: { write: 0.005 / 1e3, read: 0.0004 / 1e3, gigabyteMonth: 0.023 },
  /** Of what functions write and of access logs alike; 5 GB of every month are free. */
  logs: { gigabyte: 0.5, freeGigabytes: 5 },
  cloudwatch: {
    /** Of each combination of a name and dimensions, prorated by the hours in which it has values. */
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

/** Resources that cost by the hour whether or not anything happens. */
export const hourlyTypes: readonly RegExp[] = [
  /^AWS::EC2::(?:NatGateway|Instance|VPCEndpoint|EIP|TransitGateway.*)$/,
  /^AWS::(?:RDS|Redshift|ElastiCache|OpenSearchService|MSK|EKS|EFS|DAX|MemoryDB)::/,
  /^AWS::ECS::Service$/,
  /^AWS::ElasticLoadBalancingV2::LoadBalancer$/,
  /^AWS::Kinesis::Stream$/,
];
