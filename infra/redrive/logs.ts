import { setTimeout as wait } from 'node:timers/promises';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  paginateDescribeLogGroups,
  type ResultField,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { chunksOf } from '../../shared/aws/batches.ts';
import { namesOfStack } from '../deployed-stack.ts';
import type { DeadLetter } from './dead-letters.ts';
import { causeIn, idsIn } from './describe.ts';

/** Limits of CloudWatch Logs Insights: log groups per query, and rows per result. */
const maxGroups = 50;
const maxRows = 10_000;
/** Keeps a query below its limit of 10,000 characters. */
const maxIds = 150;
const pollMs = 500;

export interface Search {
  stack: string;
  messages: DeadLetter[];
  now: number;
  /** Timeout of all queries together, because the messages are hidden meanwhile. */
  seconds: number;
}

/** Log entries about dead letters. */
export interface Found {
  /** Lines that name one of the messages. */
  lines: string[];
  /** Timeouts and crashes per function in that time, if no line names a message: it could not be logged. */
  ends: string[];
  /** Why the result may be incomplete. */
  problem?: string;
}

/** Finds errors and warnings in the logs of a deployed stack that name dead letters or their tasks. */
export async function searchLogs(logs: CloudWatchLogsClient, search: Search): Promise<Found> {
  const ids = [...new Set(search.messages.flatMap(idsIn))];
  const found: Found = { lines: [], ends: [] };
  try {
    const groups = await groupsOf(logs, search.stack);
    for (const some of chunksOf(ids, maxIds))
      found.lines.push(...(await run(logs, search, groups, linesWith(some))).map((row) => fieldOf(row, '@message')));
    if (search.messages.some((message) => causeIn(found.lines, message) === undefined))
      found.ends.push(...(await run(logs, search, groups, ends)).map(describeEnd));
    return found;
  } catch (error) {
    return { ...found, problem: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

async function groupsOf(logs: CloudWatchLogsClient, stack: string): Promise<string[]> {
  const { prefix, pattern } = namesOfStack(stack);
  const found: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: logs }, { logGroupNamePrefix: prefix }))
    found.push(...logGroups.flatMap(({ logGroupName = '' }) => (pattern.test(logGroupName) ? [logGroupName] : [])));
  if (found.length === 0) throw new Error(`The stack has no log groups whose names begin with ${prefix}`);
  return found;
}

/** Returns a query for lines with any of the ids, which consist of letters, digits and hyphens. */
function linesWith(ids: string[]): string {
  return [
    'fields @timestamp, @message',
    `filter level in ["ERROR", "WARN"] and @message like /${ids.join('|')}/`,
    'sort @timestamp desc',
    `limit ${maxRows}`,
  ].join(' | ');
}

/** Counts invocations that ended by a timeout or crash, as logged by Lambda. */
const ends =
  'filter type = "platform.report" and record.status != "success" | stats count(*) as times by @log, record.status';

function describeEnd(row: ResultField[]): string {
  // The account precedes the name of the log group.
  const [, group = ''] = fieldOf(row, '@log').split(':');
  return `${group}: ${fieldOf(row, 'record.status')}, ${fieldOf(row, 'times')} times`;
}

async function run(
  logs: CloudWatchLogsClient,
  { messages, now, seconds }: Search,
  groups: string[],
  queryString: string,
): Promise<ResultField[][]> {
  const startTime = Math.floor(Math.min(...messages.map(({ sentAt }) => sentAt)) / 1000);
  const endTime = Math.ceil(now / 1000);
  const rows: ResultField[][] = [];
  for (const logGroupNames of chunksOf(groups, maxGroups)) {
    const { queryId } = await logs.send(new StartQueryCommand({ logGroupNames, startTime, endTime, queryString }));
    rows.push(...(await resultOf(logs, queryId, now + seconds * 1000)));
  }
  return rows;
}

async function resultOf(
  logs: CloudWatchLogsClient,
  queryId: string | undefined,
  deadline: number,
): Promise<ResultField[][]> {
  for (;;) {
    const { status, results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
    if (status === 'Complete') return results;
    if (status !== 'Scheduled' && status !== 'Running') throw new Error(`The query ended with status ${status}.`);
    if (Date.now() > deadline) {
      await logs.send(new StopQueryCommand({ queryId }));
      throw new Error('The logs are too large to search in time.');
    }
    await wait(pollMs);
  }
}

function fieldOf(row: ResultField[], name: string): string {
  return row.find(({ field }) => field === name)?.value ?? '';
}
