import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQSClient } from '@aws-sdk/client-sqs';
import { makeCredentials } from '../local/gate/credentials.ts';
import { type DeadLetter, type DeadLetterQueue, findQueues, receiveAll, release, sendAgain } from './dead-letters.ts';
import { ageOf, causeIn, subjectOf } from './describe.ts';

const usage = `Usage: npm run redrive -- --stack <name of the stack> | --url <URL of the local service> [--data <its folder>]
  Lists dead letters by queue, with what they are about, their age, and the error of the last attempt where it is known.
  --queue <text>    only of queues with this in their names
  --message <id>    only this message; may be repeated
  --max <n>         messages of a queue at most; defaults to 100
  --send            sends what is listed to its queue again; needs --queue, --message or --all`;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const printError = (text: string) => void process.stderr.write(`${text}\n`);

/** Where the queues are. */
interface Place {
  sqs: SQSClient;
  prefix: string;
  names: RegExp;
  /** Lines of the functions' logs, where they are on this machine. */
  logs: string[];
}

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

const place = values.url === undefined ? deployed(values.stack ?? '') : await local(values.url);
const queues = (await findQueues(place.sqs, place.prefix, place.names)).filter(({ name }) =>
  name.includes(values.queue),
);
if (queues.length === 0) {
  printError('No queue with dead letters of its own was found by this name, in this account and region.');
  process.exit(1);
}
let total = 0;
const found = await Promise.all(queues.map((queue) => receiveAll(place.sqs, queue, max)));
for (const [index, queue] of queues.entries()) total += await handle(queue, found[index] ?? []);
if (total === 0) print('No dead letters.');
else if (!values.send) print('\nNothing was sent. Add --send to send what is listed again.');
if (total > 0 && values.url === undefined)
  print(
    'Errors are in the logs of the functions. In CloudWatch Logs Insights: filter @message like "<id of the message>"',
  );

/** Lists what is chosen of a queue, sends it where that is asked for, and returns how many messages that were. */
async function handle(queue: DeadLetterQueue, received: DeadLetter[]): Promise<number> {
  const chosen = received.filter(({ id }) => values.message?.includes(id) ?? true);
  await release(place.sqs, queue, values.send ? received.filter((message) => !chosen.includes(message)) : received);
  if (chosen.length === 0) return 0;
  print(`\n${queue.name}: ${chosen.length} of about ${Math.max(queue.count, received.length)}`);
  for (const message of chosen) {
    if (values.send) await sendAgain(place.sqs, queue, message);
    print(lineOf(message));
  }
  return chosen.length;
}

function lineOf(message: DeadLetter): string {
  const cause = causeIn(place.logs, message);
  return [
    `  ${values.send ? 'sent again ' : ''}${message.id}`,
    `${ageOf(Date.now() - message.sentAt)} old`,
    `received ${message.receives} times`,
    subjectOf(message),
    ...(cause === undefined ? [] : [cause]),
  ].join(' | ');
}

/** CloudFormation names a queue by the stack, its logical id and a random part. Another stage's name has a hyphen more. */
function deployed(stack: string): Place {
  const prefix = `${stack}-`;
  return {
    sqs: new SQSClient({}),
    prefix,
    names: new RegExp(`^${stack}-[A-Za-z0-9]+-[A-Za-z0-9]+(\\.fifo)?$`),
    logs: [],
  };
}

/** Finds the local service, which knows its operator by a secret that is kept with its data. */
async function local(url: string): Promise<Place> {
  const data = values.data ?? process.env.LATHE_DATA ?? '.lathe';
  const { masterSecret } = JSON.parse(await readFile(join(data, 'identity.json'), 'utf8'));
  const credentials = makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] });
  const endpoint = `http://127.0.0.1:${new URL(url).port}/_aws/sqs`;
  const logs = join(data, 'logs');
  const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')));
  return {
    sqs: new SQSClient({ region: 'us-east-1', endpoint, credentials }),
    prefix: '',
    names: /./,
    logs: texts.flatMap((text) => text.split('\n')),
  };
}
