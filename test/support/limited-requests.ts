import { Agent, get } from 'node:http';
import type { CapacityMeter } from '../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { Client } from './client.ts';
import { descendantsOf } from './processes.ts';
import { addUser, functionOf, startAlteredStack } from './running-stack.ts';
import { until } from './until.ts';

/** Connections of the client, for sending all requests at once; each takes two of the process's descriptors. */
const connections = 500;
/** The status of requests that pass: they request a task of another account. */
const passes = 404;
const entry = 'functions/api/tasks/wait-for-task.ts';

export interface LimitedRequests {
  /** Requests that passed, per minute since the first. */
  passed: number[];
  refused: number;
  /** Unexpected responses, or ones without rate limit headers. */
  others: string[];
  /** The environments of the function that received all requests. */
  environments: number;
  /** Write units of the counter. */
  writeUnits: number;
  milliseconds: number;
}

/** Sends concurrent requests of one key to a function with many environments; a limited number passes per minute. */
export async function sendLimited(
  { requests, environments, limit }: { requests: number; environments: number; limit: number },
  capacityMeter: CapacityMeter,
): Promise<LimitedRequests> {
  await using service = await startAlteredStack(
    // Otherwise API Gateway and Lambda would refuse requests before the function.
    (stack) => {
      for (const api of stack.httpApis) delete api.throttle;
      // Without reserved concurrency, one account has few environments of a function here.
      functionOf(stack, entry).reservedConcurrency = requests + environments;
    },
    { LATHE_RATE_PER_MINUTE: String(limit), LATHE_IDLE_ENVIRONMENTS: String(environments + connections) },
    { capacityMeter },
  );
  const warm = () => environmentsOf(entry);
  const warmer = new Client({ url: service.url, apiKey: await addUser(service) });
  const { id } = await warmer.createTask('import/upload');
  // Each occupies an environment until the task ends.
  const held = Array.from({ length: environments }, () => warmer.call('GET', `/v1/process/tasks/${id}/wait`));
  await until('there is an environment for each wait', async () => (await warm()) >= environments);
  await warmer.call('POST', `/v1/process/tasks/${id}/cancel`);
  await Promise.all(held);

  const user = 'f'.repeat(24);
  const apiKey = await addUser(service, user);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const start = performance.now();
  const url = `${service.url}/v1/process/tasks/${id}/wait`;
  const responses = await Promise.all(Array.from({ length: requests }, () => statusOf(url, apiKey, agent)));
  const milliseconds = performance.now() - start;
  agent.destroy();
  const units = capacityMeter.keys().filter(({ key, kind }) => key === `${partitions.rate}${user}` && kind === 'write');
  const minutes = Object.groupBy(
    responses.filter(({ status }) => status === passes),
    ({ until: end }) => Math.round((end - Math.min(...responses.map((each) => each.until))) / 60_000),
  );
  return {
    passed: Object.values(minutes).map((same = []) => same.length),
    refused: responses.filter(({ status }) => status === 429).length,
    others: responses.flatMap(({ status, until: end }) =>
      (status === passes || status === 429) && Number.isFinite(end) ? [] : [`${status} until ${end}`],
    ),
    environments: await warm(),
    writeUnits: units.reduce((sum, each) => sum + each.units, 0),
    milliseconds,
  };
}

async function environmentsOf(module: string): Promise<number> {
  return (await descendantsOf(process.pid)).filter(({ command }) => command.trimEnd().endsWith(module)).length;
}

/** Returns the status of a response, and when all tokens are available again by its headers. */
function statusOf(url: string, apiKey: string, agent: Agent): Promise<{ status: number; until: number }> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${apiKey}` } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      const isComplete = 'ratelimit-limit' in headers && 'ratelimit-remaining' in headers;
      const seconds = isComplete ? Number(headers['ratelimit-reset']) : Number.NaN;
      response.resume().once('end', () => resolve({ status, until: performance.now() + seconds * 1_000 }));
    }).once('error', reject);
  });
}
