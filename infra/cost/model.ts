import { coresOf } from '../../shared/catalogue/sizes.ts';
import type { Inventory, PricedFunction } from './inventory.ts';
import { measurements, type TypicalJob } from './measurements.ts';
import { prices } from './prices.ts';

/** Dollars by what they are for. */
export type Costs = Record<string, number>;

/** Lambda polls a queue by five requests at once, each of which waits 20 seconds for a message. */
const pollsPerMonth = (5 * 30 * 24 * 60 * 60) / 20;
const freeDiskMegabytes = 512;

/** Computes what a deployment costs in a month in which nothing is asked of it. */
export function idleCosts(inventory: Inventory): Costs {
  const { polled, scheduledRuns, sweep } = inventory;
  const { sqs, cloudwatch, kms, secrets, waf, ecr, dynamodb, s3, logs } = prices;
  const standard = polled.standard * pollsPerMonth;
  const fifo = polled.fifo * pollsPerMonth;
  const free = Math.min(sqs.freeRequests, standard);
  const each = measurements.sweep;
  return {
    'polling of queues': (standard - free) * sqs.request.standard + fifo * sqs.request.fifo,
    'sweep: function': scheduledRuns * invocation(sweep, each.milliseconds / 1000),
    'sweep: table': scheduledRuns * each.dynamodbReads * dynamodb.read,
    'sweep: receives of dead letters': scheduledRuns * each.sqsReceives * sqs.request.standard,
    'sweep: lists of the bucket': scheduledRuns * each.s3Lists * s3.write,
    logs: (scheduledRuns * measurements.logBytesPerInvocation * logs.gigabyte) / 1e9,
    alarms:
      Math.max(0, inventory.alarms - cloudwatch.freeAlarms) * cloudwatch.alarm +
      inventory.compositeAlarms * cloudwatch.compositeAlarm,
    dashboards: Math.max(0, inventory.dashboards - cloudwatch.freeDashboards) * cloudwatch.dashboard,
    keys: inventory.keys * kms.key,
    secrets: inventory.secrets * secrets.secret,
    firewall: inventory.webAcls.reduce((sum, { rules }) => sum + waf.acl + rules * waf.rule, 0),
    images: inventory.images * measurements.imageGigabytes * ecr.gigabyteMonth,
  };
}

/** Computes what a thousand jobs cost, by service; what clients download over the internet is apart from it. */
export function jobCosts(inventory: Inventory, job: TypicalJob): Costs {
  const engine = inventory.engines.get(job.engine);
  if (!engine) throw new Error(`Expected a function of the engine ${job.engine} in the template but found none.`);
  const seconds = engineSeconds(engine, job);
  const { calls, requests } = measurements;
  const { dynamodb, sqs, s3, logs, eventBridge, httpApi } = prices;
  const invocations = calls.invocations + requests.count;
  return perThousand({
    engine: invocation(engine, seconds),
    'new environments': measurements.newEnvironments * environmentCost(engine),
    // It waits for its engine all the while.
    worker: invocation(inventory.worker, seconds),
    'other functions':
      requests.count * invocation(inventory.api, requests.milliseconds / 1000) +
      (calls.invocations - 2) * invocation(inventory.worker, calls.milliseconds / 1000),
    'HTTP API': requests.count * httpApi.request,
    distribution:
      inventory.distributions * served({ requests: requests.count, bytes: requests.count * requests.responseBytes }),
    table: calls.dynamodbReads * dynamodb.read + calls.dynamodbWrites * dynamodb.write,
    queues: calls.sqsRequests * sqs.request.fifo,
    bucket: calls.s3Writes * s3.write + calls.s3Reads * s3.read + storage(job),
    bus: calls.busEvents * eventBridge.event,
    logs: (invocations * measurements.logBytesPerInvocation * logs.gigabyte) / 1e9,
  });
}

/** Returns what a new environment of an engine costs for being one account's, whatever runs in it. */
export function environmentCost({ memoryMegabytes, hasTenants }: PricedFunction): number {
  return hasTenants ? (memoryMegabytes / 1024) * prices.lambda.tenantEnvironmentGigabyte : 0;
}

/** Computes what a thousand first loads of the page cost, beyond what CloudFront serves for nothing in a month. */
export function pageCosts(inventory: Inventory): Costs {
  const { requests, documents, bytes } = measurements.firstLoad;
  return perThousand({
    distribution: inventory.distributions * served({ requests, bytes }),
    'CloudFront function': inventory.distributions * documents * prices.cloudfront.functionInvocation,
  });
}

/** Computes what a thousand hours of idle connections of Socket.IO cost. */
export function connectionCosts(inventory: Inventory): Costs {
  const { pings, milliseconds } = measurements.idleConnection;
  const { message, connectionMinute } = prices.webSocketApi;
  return perThousand({
    'connection minutes': 60 * connectionMinute,
    pings: pings * message,
    'responses to pings': pings * (message + invocation(inventory.socket, milliseconds / 1000)),
  });
}

/** Estimates how long an engine's function runs for a job. */
export function engineSeconds({ memoryMegabytes }: PricedFunction, job: TypicalJob): number {
  const working = job.phases.reduce(
    (sum, { cpuSeconds, cores }) => sum + cpuSeconds / coresOf(memoryMegabytes, cores),
    0,
  );
  return working + (job.inputBytes + job.outputBytes) / measurements.bytesPerSecond;
}

/** Adds up costs. */
export function total(costs: Costs): number {
  return Object.values(costs).reduce((sum, each) => sum + each, 0);
}

function perThousand(costs: Costs): Costs {
  return Object.fromEntries(Object.entries(costs).map(([name, each]) => [name, each * 1000]));
}

function served({ requests, bytes }: { requests: number; bytes: number }): number {
  return requests * prices.cloudfront.request + (bytes / 1e9) * prices.cloudfront.gigabyte;
}

/** Files are kept for four hours. */
function storage({ inputBytes, outputBytes }: TypicalJob): number {
  return ((inputBytes + outputBytes) / 1e9) * prices.s3.gigabyteMonth * (4 / (30 * 24));
}

function invocation({ memoryMegabytes, diskMegabytes, architecture }: PricedFunction, seconds: number): number {
  const { lambda } = prices;
  const memory = (memoryMegabytes / 1024) * seconds * lambda.gigabyteSecond[architecture];
  const disk = ((diskMegabytes - freeDiskMegabytes) / 1024) * seconds * lambda.diskGigabyteSecond;
  return memory + disk + lambda.request;
}
