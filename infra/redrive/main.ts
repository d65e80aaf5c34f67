import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SQSClient } from '@aws-sdk/client-sqs';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import { explainAwsError, namesOfStack } from '../deployed-stack.ts';
import { type DeadLetter, type DeadLetterQueue, findQueues, receiveAll, release, sendAgain } from './dead-letters.ts';
import { ageOf, causeIn, subjectOf } from './describe.ts';
import { type Found, searchLogs } from './logs.ts';

const usage = `Usage: npm run redrive -- --stack <name of the stack> | --url <URL of the local service> [--data <its folder>]
  Lists dead letters by queue, with their subjects, ages, and the logged error of the last attempt.
  --queue <text>    only of queues with this in their names
  --message <id>    only this message; may be repeated
  --max <n>         maximum messages of a queue; defaults to 100
  --send            sends the listed messages to their queues again; needs --queue, --message or --all`;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const printError = (text: string) => void process.stderr.write(`${text}\n`);

/** The location of the queues. */
interface Place {
  sqs: SQSClient;
  prefix: string;
  names: RegExp;
  /** Searches the functions' logs for messages. */
  search(messages: DeadLetter[]): Promise<Found>;
}

/** Shorter than messages are hidden, with time to send them all. */
const searchSeconds = 60;

const { values } = parseArgs({
  options: {
    stack: { type: 'string' },
    url: { type: 'string' },
    data: { type: 'string' },
    queue: { type: 'string', default: '' },
    message: { type: 'string', multiple: true },
    max: { type: 'string', default: '100' },
    all: { type: 'boolean', default: false },
    send: { type: 'boolean', default: false },
  },
});
const max = Number(values.max);
const isChosen = values.queue !== '' || values.message !== undefined || values.all;
if (
  (values.stack === undefined) === (values.url === undefined) ||
  !(Number.isInteger(max) && max > 0) ||
  (values.send && !isChosen)
) {
  printError(usage);
  process.exit(1);
}

process.on('uncaughtException', (error) => {
  printError(explainAwsError(error));
  process.exit(1);
});
const place = values.url === undefined ? deployed(values.stack ?? '') : await local(values.url);
const queues = (await findQueues(place.sqs, place.prefix, place.names)).filter(({ name }) =>
  name.includes(values.queue),
);
if (queues.length === 0) {
  printError('No queue with a dead-letter queue was found by this name in this account and region.');
  process.exit(1);
}
const received = await Promise.all(
  queues.map(async (queue) => ({ queue, messages: await receiveAll(place.sqs, queue, max) })),
);
const listed = received.flatMap(({ messages }) => messages.filter(isListed));
const found: Found = listed.length === 0 ? { lines: [], ends: [] } : await place.search(listed);
for (const { queue, messages } of received) await handle(queue, messages);
if (found.ends.length > 0)
  print(
    `\nFunctions that ended without logging an error in that time:\n${found.ends.map((end) => `  ${end}`).join('\n')}`,
  );
if (found.problem !== undefined) print(`\nErrors are missing because the logs could not be searched: ${found.problem}`);
if (listed.length === 0) print('No dead letters.');
else if (!values.send) print('\nNothing was sent. Add --send to send the listed messages again.');

function isListed({ id }: DeadLetter): boolean {
  return values.message?.includes(id) ?? true;
}

/** Lists the selected messages of a queue, and sends them if requested. */
async function handle(queue: DeadLetterQueue, messages: DeadLetter[]): Promise<void> {
  const chosen = messages.filter(isListed);
  await release(place.sqs, queue, values.send ? messages.filter((message) => !isListed(message)) : messages);
  if (chosen.length === 0) return;
  print(`\n${queue.name}: ${chosen.length} of about ${Math.max(queue.count, messages.length)}`);
  for (const message of chosen) {
    if (values.send) await sendAgain(place.sqs, queue, message);
    print(lineOf(message));
  }
}

function lineOf(message: DeadLetter): string {
  return [
    `  ${values.send ? 'sent again ' : ''}${message.id}`,
    `${ageOf(Date.now() - message.sentAt)} old`,
    `received ${message.receives} times`,
    subjectOf(message),
    causeIn(found.lines, message) ?? 'no error was logged',
  ].join(' | ');
}

function deployed(stack: string): Place {
  const { prefix, pattern } = namesOfStack(stack);
  const logs = new CloudWatchLogsClient({});
  return {
    sqs: new SQSClient({}),
    prefix,
    names: pattern,
    search: (messages) => searchLogs(logs, { stack, messages, now: Date.now(), seconds: searchSeconds }),
  };
}

/** Finds the local service. A secret next to its data identifies its operator. */
async function local(url: string): Promise<Place> {
  const data = values.data ?? process.env.LATHE_DATA ?? '.lathe';
  const { masterSecret } = JSON.parse(await readFile(join(data, 'identity.json'), 'utf8'));
  const credentials = makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] });
  const endpoint = `http://127.0.0.1:${new URL(url).port}/_aws/sqs`;
  const logs = join(data, 'logs');
  return {
    sqs: new SQSClient({ region: 'us-east-1', endpoint, credentials }),
    prefix: '',
    names: /./,
    async search() {
      const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')));
      return { lines: texts.flatMap((text) => text.split('\n')), ends: [] };
    },
  };
}
