import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A log group with its lines. Those of Lambda itself are objects with a type. */
export type LogGroups = Record<string, { time: number; text: string }[]>;

type Input = Record<string, unknown>;
type Row = { field: string; value: string }[];

interface Query {
  rows: Row[];
  polls: number;
}

class Refused extends Error {}

const account = '123456789012';

/**
 * Simulates the CloudWatch Logs calls of `npm run redrive`: the wire protocol, pages, limits, and slow queries. It
 * supports only the two query forms in use.
 */
export async function startCloudWatchLogs(groups: LogGroups, { polls = 2 }: { polls?: number } = {}) {
  const queries = new Map<string, Query>();
  const calls: [operation: string, input: Input][] = [];
  const operations: Record<string, (input: Input) => unknown> = {
    DescribeLogGroups: (input) => describeGroups(groups, input),
    StartQuery: (input) => {
      const queryId = `00000000-0000-0000-0000-${String(queries.size).padStart(12, '0')}`;
      queries.set(queryId, { rows: runQuery(groups, input), polls });
      return { queryId };
    },
    GetQueryResults: ({ queryId }) => {
      const query = queries.get(String(queryId));
      if (!query) throw new Refused(`The query ${queryId} does not exist.`);
      query.polls -= 1;
      if (query.polls >= 0) return { status: query.polls > 0 ? 'Scheduled' : 'Running', results: [] };
      return { status: 'Complete', results: query.rows };
    },
    StopQuery: () => ({ success: true }),
  };
  const server = createServer(async (req, res) => {
    const input = await readCall(req);
    const operation = String(req.headers['x-amz-target']).replace(/^Logs_20140328\./, '');
    calls.push([operation, input]);
    respond(res, operations[operation], input);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readCall(req: IncomingMessage): Promise<Input> {
  const scope = /Credential=[^/]+\/\d{8}\/[\w-]+\/logs\/aws4_request/;
  if (req.headers['content-type'] !== 'application/x-amz-json-1.1' || !scope.test(req.headers.authorization ?? ''))
    throw new Error('The request is not one of CloudWatch Logs.');
  return Object(await json(req));
}

function respond(res: ServerResponse, operation: ((input: Input) => unknown) | undefined, input: Input): void {
  const send = (status: number, body: unknown) =>
    res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  try {
    if (!operation) throw new Refused('The operation is not known here.');
    send(200, operation(input));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    send(400, { __type: 'InvalidParameterException', message: error.message });
  }
}

/** Returns one group per page, so that callers must paginate. */
function describeGroups(groups: LogGroups, { logGroupNamePrefix = '', nextToken }: Input): unknown {
  const names = Object.keys(groups)
    .filter((name) => name.startsWith(String(logGroupNamePrefix)))
    .sort();
  const index = Number(nextToken ?? 0);
  return {
    logGroups: names.slice(index, index + 1).map((logGroupName) => ({
      logGroupName,
      arn: `arn:aws:logs:us-east-1:${account}:log-group:${logGroupName}:*`,
    })),
    ...(index + 1 < names.length ? { nextToken: String(index + 1) } : {}),
  };
}

function runQuery(groups: LogGroups, { logGroupNames, startTime, endTime, queryString }: Input): Row[] {
  const names: string[] = Array.isArray(logGroupNames) ? logGroupNames : [];
  const query = String(queryString);
  if (names.length === 0 || names.length > 50) throw new Refused('A query takes 1 to 50 log groups.');
  if (query.length > 10_000) throw new Refused('A query has at most 10,000 characters.');
  if (!(Number(startTime) <= Number(endTime))) throw new Refused('A query ends after it begins.');
  const lines = names.flatMap((name) => {
    const group = groups[name];
    if (!group) throw new Refused(`The log group ${name} does not exist.`);
    return group
      .filter(({ time }) => time >= Number(startTime) * 1000 && time <= Number(endTime) * 1000)
      .map(({ time, text }) => ({ name, time, text, fields: fieldsOf(text) }));
  });
  const search =
    /^fields @timestamp, @message \| filter level in \["ERROR", "WARN"\] and @message like \/([\w|-]+)\/ \| sort @timestamp desc \| limit (\d+)$/.exec(
      query,
    );
  if (search) {
    const [, pattern = '', limit] = search;
    if (Number(limit) > 10_000) throw new Refused('A query returns at most 10,000 rows.');
    return lines
      .filter(({ text, fields }) => ['ERROR', 'WARN'].includes(String(fields.level)) && new RegExp(pattern).test(text))
      .toSorted((left, right) => right.time - left.time)
      .slice(0, Number(limit))
      .map(({ time, text }) => [
        { field: '@timestamp', value: new Date(time).toISOString().replace('T', ' ').replace('Z', '') },
        { field: '@message', value: text },
        { field: '@ptr', value: 'pointer' },
      ]);
  }
  const ends =
    'filter type = "platform.report" and record.status != "success" | stats count(*) as times by @log, record.status';
  if (query !== ends) throw new Refused(`The query is not known here: ${query}`);
  const failed = lines.filter(
    ({ fields }) => fields.type === 'platform.report' && Object(fields.record).status !== 'success',
  );
  return [...Map.groupBy(failed, ({ name, fields }) => `${name} ${Object(fields.record).status}`)].map(
    ([key, { length }]) => {
      const [name, status = ''] = key.split(' ');
      return [
        { field: '@log', value: `${account}:${name}` },
        { field: 'record.status', value: status },
        { field: 'times', value: String(length) },
      ];
    },
  );
}

/** Insights extracts the fields of JSON lines. */
function fieldsOf(text: string): Input {
  return text.startsWith('{') ? JSON.parse(text) : {};
}
