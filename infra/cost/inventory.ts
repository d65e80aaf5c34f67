import { hourlyTypes } from './prices.ts';

interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  Metadata?: Record<string, unknown>;
}

type Resources = Record<string, Resource>;

export type Architecture = 'x86_64' | 'arm64';

/** The properties of a function that determine its cost. */
export interface PricedFunction {
  memoryMegabytes: number;
  diskMegabytes: number;
  architecture: Architecture;
  /** Whether each account has its own environments. */
  hasTenants: boolean;
}

/** The contents of a template that cost something or determine the cost of a job. */
export interface Inventory {
  /** Queues that Lambda polls continuously, by kind. */
  polled: { standard: number; fifo: number };
  /** Scheduled runs per month. */
  scheduledRuns: number;
  alarms: number;
  compositeAlarms: number;
  dashboards: number;
  keys: number;
  secrets: number;
  /** Web ACLs, each with its rules. */
  webAcls: { rules: number }[];
  images: number;
  /** Distributions in front of the API. */
  distributions: number;
  /** Whether the HTTP API logs every request. */
  hasAccessLog: boolean;
  /** Requests per second that each API accepts. */
  throttleRate: number;
  /** Maximum concurrent waits at each endpoint that has them. */
  waitConcurrency: number;
  /** Logical ids of resources that are billed by the hour. */
  hourly: string[];
  /** Engines' functions by engine. */
  engines: Map<string, PricedFunction>;
  worker: PricedFunction;
  sweep: PricedFunction;
  /** The WebSocket function. */
  socket: PricedFunction;
  api: PricedFunction;
}

const minutesPerMonth = 30 * 24 * 60;
const perMinute: Record<string, number> = { minute: 1, hour: 1 / 60, day: 1 / 1440 };

/** Counts the contents of a flattened template. */
export function inventoryOf(template: { Resources?: unknown }): Inventory {
  const resources = template.Resources as Resources;
  const all = Object.entries(resources);
  const ofType = (type: string) => all.filter(([, { Type }]) => Type === type);
  const functions = ofType('AWS::Lambda::Function').map(([, { Properties = {}, Metadata = {} }]) => ({
    entry: String(Metadata['local-aws:entry'] ?? ''),
    image: Properties.PackageType === 'Image',
    reserved: Number(Properties.ReservedConcurrentExecutions ?? 0),
    priced: pricedOf(Properties),
  }));
  const one = (pattern: RegExp) => {
    const found = functions.find(({ entry }) => pattern.test(entry));
    if (!found) throw new Error(`Expected a function of ${pattern} in the template but found none.`);
    return found;
  };
  const stages = ofType('AWS::ApiGatewayV2::Stage').map(([, { Properties = {} }]) => Properties);
  const fifo = ofType('AWS::Lambda::EventSourceMapping').map(([, mapping]) => isFifo(mapping, resources));
  return {
    polled: {
      standard: fifo.filter((each) => each === false).length,
      fifo: fifo.filter((each) => each === true).length,
    },
    scheduledRuns: [...ofType('AWS::Events::Rule'), ...ofType('AWS::Scheduler::Schedule')]
      .map(([, { Properties = {} }]) => runsPerMonth(Properties))
      .reduce((sum, runs) => sum + runs, 0),
    alarms: ofType('AWS::CloudWatch::Alarm').length,
    compositeAlarms: ofType('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    keys: ofType('AWS::KMS::Key').length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    webAcls: ofType('AWS::WAFv2::WebACL').map(([, { Properties = {} }]) => ({
      rules: Array.isArray(Properties.Rules) ? Properties.Rules.length : 0,
    })),
    images: functions.filter(({ image }) => image).length,
    distributions: ofType('AWS::CloudFront::Distribution').length,
    // Only HTTP APIs can have a stage of this name.
    hasAccessLog: stages.some(({ StageName, AccessLogSettings }) => StageName === '$default' && AccessLogSettings),
    throttleRate: Math.min(...stages.map(rateOf)),
    waitConcurrency: one(/^functions\/api\/jobs\/wait-for-job\.ts$/).reserved,
    hourly: all.flatMap(([id, resource]) => (isHourly(resource) ? [id] : [])),
    engines: new Map(
      functions.flatMap(({ entry, priced }) => {
        const engine = /^functions\/engines\/(?!runtime\/)([^/]+)\/handler\.ts$/.exec(entry)?.[1];
        return engine === undefined ? [] : [[engine, priced] as const];
      }),
    ),
    worker: one(/^functions\/worker\//).priced,
    sweep: one(/^functions\/lifecycle\/sweep\.ts$/).priced,
    socket: one(/^functions\/events\/websocket\/socket\.ts$/).priced,
    api: one(/^functions\/api\/jobs\//).priced,
  };
}

function pricedOf(properties: Record<string, unknown>): PricedFunction {
  const { MemorySize = 128, EphemeralStorage, Architectures } = properties;
  const { Size = 512 } = (EphemeralStorage ?? {}) as { Size?: number };
  const arm = Array.isArray(Architectures) && Architectures.includes('arm64');
  return {
    memoryMegabytes: Number(MemorySize),
    diskMegabytes: Size,
    architecture: arm ? 'arm64' : 'x86_64',
    hasTenants: properties.TenancyConfig !== undefined,
  };
}

function rateOf({ DefaultRouteSettings }: Record<string, unknown>): number {
  const { ThrottlingRateLimit = Number.POSITIVE_INFINITY } = (DefaultRouteSettings ?? {}) as {
    ThrottlingRateLimit?: number;
  };
  return ThrottlingRateLimit;
}

/** Returns whether the queue of an event source is FIFO, or undefined if it has none. */
function isFifo({ Properties = {} }: Resource, resources: Resources): boolean | undefined {
  if (Properties.Enabled === false) return undefined;
  const [id = ''] = /(?<="(?:Ref|Fn::GetAtt)":\[?")[^".]+/.exec(JSON.stringify(Properties.EventSourceArn)) ?? [];
  const queue = resources[id];
  if (queue?.Type !== 'AWS::SQS::Queue') return undefined;
  return queue.Properties?.FifoQueue === true;
}

function runsPerMonth({ ScheduleExpression, State }: Record<string, unknown>): number {
  if (ScheduleExpression === undefined || State === 'DISABLED') return 0;
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(ScheduleExpression)) ?? [];
  const rate = perMinute[unit];
  if (rate === undefined)
    throw new Error(`Expected rate(…) for a schedule but received ${JSON.stringify(ScheduleExpression)}.`);
  return (minutesPerMonth * rate) / Number(count);
}

function isHourly({ Type, Properties = {} }: Resource): boolean {
  if (hourlyTypes.some((type) => type.test(Type))) return true;
  if (Type === 'AWS::Lambda::EventSourceMapping') return Properties.ProvisionedPollerConfig !== undefined;
  if (Type === 'AWS::DynamoDB::Table') return Properties.BillingMode !== 'PAY_PER_REQUEST';
  return (
    (Type === 'AWS::Lambda::Alias' || Type === 'AWS::Lambda::Version') &&
    Properties.ProvisionedConcurrencyConfig !== undefined
  );
}
