import { maxHoldMs } from '../../functions/api/http/token-leases.ts';
import { coresOf } from '../../shared/catalogue/sizes.ts';
import { metrics } from '../../shared/metrics.ts';
import type { Inventory, PricedFunction } from './inventory.ts';
import { measurements, type TypicalJob } from './measurements.ts';
import { prices } from './prices.ts';

/** Dollars by purpose. */
export type Costs = Record<string, number>;

/** Lambda polls a queue with five concurrent requests, each waiting 20 seconds for a message. */
const pollsPerMonth = (5 * 30 * 24 * 60 * 60) / 20;
const freeDiskMegabytes = 512;
const hoursPerMonth = 30 * 24;
/** Metrics that every run of a task writes; the others count failures. */
const runMetrics = Object.values(metrics).filter(({ dimensions }) => String(dimensions) === 'engine').length;

/** Computes the monthly cost of an idle deployment. */
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
    'sweep: INIT': scheduledRuns * measurements.init.share * running(sweep, measurements.init.zipSeconds),
    logs: Math.max(0, (scheduledRuns * measurements.logBytesPerInvocation) / 1e9 - logs.freeGigabytes) * logs.gigabyte,
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

/** Computes the monthly cost of run metrics if that many engines have jobs in every hour. */
export function metricCosts(engines: number): { metrics: number; dollars: number } {
  const { metricMonth, freeMetrics } = prices.cloudwatch;
  const count = engines * runMetrics;
  return { metrics: count, dollars: Math.max(0, count - freeMetrics) * metricMonth };
}

/**
 * Computes the cost of a thousand jobs by service, given the jobs per hour of an engine. Downloads over the internet
 * are excluded.
 */
export function jobCosts(inventory: Inventory, job: TypicalJob, jobsPerHour: number = measurements.jobsPerHour): Costs {
  const engine = inventory.engines.get(job.engine);
  if (!engine) throw new Error(`Expected a function of the engine ${job.engine} in the template but found none.`);
  const seconds = engineSeconds(engine, job);
  const { calls, init, requests } = measurements;
  const { cloudwatch, dynamodb, sqs, s3, logs, eventBridge, httpApi } = prices;
  const waits = waitsFor(seconds);
  const count = requests.count + waits.requests;
  const invocations = calls.invocations + count;
  return perThousand({
    engine: invocation(engine, seconds),
    'new environments': measurements.newEnvironments * environmentCost(engine),
    INIT:
      measurements.newEnvironments * running(engine, init.engineSeconds) +
      init.share * (calls.invocations - 1) * running(inventory.worker, init.zipSeconds) +
      init.share * count * running(inventory.api, init.zipSeconds),
    // It waits for its engine all the time.
    worker: invocation(inventory.worker, seconds),
    'other functions':
      requests.count * invocation(inventory.api, requests.milliseconds / 1000) +
      (calls.invocations - 2) * invocation(inventory.worker, calls.milliseconds / 1000),
    waits:
      waits.requests * invocation(inventory.api, requests.milliseconds / 1000) +
      running(inventory.api, seconds) +
      waits.reads * dynamodb.read,
    'HTTP API': count * httpApi.request,
    'access logs': inventory.hasAccessLog ? (count * measurements.accessLogBytes * logs.gigabyte) / 1e9 : 0,
    distribution: inventory.distributions * served({ requests: count, bytes: count * requests.responseBytes }),
    table: calls.dynamodbReads * dynamodb.read + calls.dynamodbWrites * dynamodb.write,
    queues: calls.sqsRequests * sqs.request.fifo,
    bucket: calls.s3Writes * s3.write + calls.s3Reads * s3.read + storage(job),
    bus: calls.busEvents * eventBridge.event,
    logs: (invocations * measurements.logBytesPerInvocation * logs.gigabyte) / 1e9,
    'custom metrics':
      (runMetrics * cloudwatch.metricMonth) / hoursPerMonth / jobsPerHour +
      (measurements.metricsLineBytes * logs.gigabyte) / 1e9,
  });
}

/** Returns the cost of a new engine environment for one account. */
export function environmentCost({ memoryMegabytes, hasTenants }: PricedFunction): number {
  return hasTenants ? (memoryMegabytes / 1024) * prices.lambda.tenantEnvironmentGigabyte : 0;
}

/** Computes the cost of a thousand first loads of the page, beyond CloudFront's free tier. */
export function pageCosts(inventory: Inventory): Costs {
  const { requests, documents, bytes } = measurements.firstLoad;
  return perThousand({
    distribution: inventory.distributions * served({ requests, bytes }),
    'CloudFront function': inventory.distributions * documents * prices.cloudfront.functionInvocation,
  });
}

/** Computes the cost of a thousand hours of idle Socket.IO connections. */
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
  const { cpuSeconds, cores, inputBytes, outputBytes } = job;
  return cpuSeconds / coresOf(memoryMegabytes, cores) + (inputBytes + outputBytes) / measurements.bytesPerSecond;
}

/** Counts a client's consecutive wait requests for work of that duration, and their reads. */
export function waitsFor(seconds: number): { requests: number; reads: number } {
  const { minPauseSeconds, maxPauseSeconds, pausePart } = measurements.waits;
  const requests = Math.max(1, Math.ceil(seconds / (maxHoldMs / 1000)));
  let reads = requests;
  for (let taken = 0; taken < seconds; reads++)
    taken += Math.max(minPauseSeconds, Math.min(maxPauseSeconds, taken * pausePart));
  return { requests, reads };
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

export function invocation(priced: PricedFunction, seconds: number): number {
  return running(priced, seconds) + prices.lambda.request;
}

function running({ memoryMegabytes, diskMegabytes, architecture }: PricedFunction, seconds: number): number {
  const { lambda } = prices;
  const memory = (memoryMegabytes / 1024) * seconds * lambda.gigabyteSecond[architecture];
  const disk = ((diskMegabytes - freeDiskMegabytes) / 1024) * seconds * lambda.diskGigabyteSecond;
  return memory + disk;
}
