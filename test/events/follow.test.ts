import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { newId } from '../../shared/ids.ts';
import { leaveToBreadth } from '../support/breadth.ts';
import { dataUri, type JobView } from '../support/client.ts';
import { sendAsOperator } from '../support/operator.ts';
import { actAs } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import { makeTask } from '../unit/tasks/factory.ts';
import { startStack, type TestStack } from './stack.ts';
import {
  PlainSubscriber,
  SocketSubscriber,
  type Subscriber,
  untilAllCame,
  untilReceived,
  untilSubscribed,
} from './subscribers.ts';
import { tenTasks, upload } from './ten-tasks.ts';
import { addUser } from './users.ts';

// What the relay sends, and to whom, is the same for both kinds of client.
leaveToBreadth(
  [
    'receives the events of all jobs and tasks of its user',
    'receives the events of a cancelled and of a deleted task',
    'that asks twice for a channel receives two responses and each event once',
    'receives nothing twice when every message of the relay is delivered twice',
    'that subscribes to a job, its tasks and its user receives each event once',
    'that subscribes to one task and then its job receives what others have received and it has not',
    'is shown versions that those of the API never fall behind',
  ].map((name) => `a client on plain WebSockets > ${name}`),
);

let stack: TestStack;
const subscribers: Subscriber[] = [];

beforeAll(async () => {
  stack = await startStack();
});

function closeAll(): void {
  for (const subscriber of subscribers.splice(0)) subscriber.close();
}

afterEach(closeAll);

afterAll(async () => {
  closeAll();
  await stack[Symbol.asyncDispose]();
});

const twoTasks = { import: { operation: 'import/upload' }, export: { operation: 'export/url', input: 'import' } };
/** What is received of these two from their creation to their end. */
const eventsOfTwo = [
  'job_started',
  'task_started',
  'task_completed',
  'task_started',
  'task_completed',
  'job_completed',
];

function plain(token?: string): PlainSubscriber {
  const subscriber = new PlainSubscriber(stack, token);
  subscribers.push(subscriber);
  return subscriber;
}

function socketIo(token?: string): SocketSubscriber {
  const subscriber = new SocketSubscriber(stack, token);
  subscribers.push(subscriber);
  return subscriber;
}

const dialects: [string, (token?: string) => Subscriber][] = [
  ['plain WebSockets', plain],
  ['Socket.IO', socketIo],
];

async function subscribeTo(subscriber: Subscriber, channel: string): Promise<void> {
  subscriber.subscribe(channel);
  await untilSubscribed(subscriber, channel);
}

/** Subscribes to one more channel of a job, and waits until everything that was published before, and by it, has arrived. */
async function drain(subscriber: Subscriber, job: JobView): Promise<void> {
  const channel = `task.${job.tasks[1]?.id}`;
  await subscribeTo(subscriber, channel);
  await untilAllCame(subscriber, channel);
}

const codeOf = (subscriber: Subscriber) =>
  until('an error is received', () => subscriber.messages.find(({ event }) => event === 'error')?.data.errorCode);

describe.each(dialects)('a client on %s', (_name, connect) => {
  test('receives the current state when it subscribes after the end', async () => {
    const job = await stack.client.createJob(twoTasks);
    await upload(job);
    await stack.client.waitForJob(job.id);
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    const { data } = (await until('the end is received', () =>
      subscriber.messages.find(({ event }) => event === 'job_completed'),
    )) ?? { data: {} };
    expect(data).toEqual(await stack.client.showJob(job.id));
    expect(subscriber.received.map(({ event }) => event)).toEqual([
      'task_completed',
      'task_completed',
      'job_completed',
    ]);
  });

  test('receives only the events of one task on its channel', async () => {
    const job = await stack.client.createJob(tenTasks);
    const [, second] = job.tasks;
    const subscriber = connect();
    await subscribeTo(subscriber, `task.${second?.id}`);
    await upload(job);
    await untilReceived(subscriber, 'task_completed', second?.id ?? '');
    expect(subscriber.received.map(({ event, id }) => [event, id])).toEqual([
      ['task_started', second?.id],
      ['task_completed', second?.id],
    ]);
    expect(subscriber.messages.at(-1)?.data).toEqual(await stack.client.showTask(second?.id ?? ''));
  });

  test('receives the events of all jobs and tasks of its user', async () => {
    const subscriber = connect();
    const { user = '' } = (await stack.client.createTask('import/upload')) ?? {};
    await subscribeTo(subscriber, `user.${user}.jobs`);
    await subscribeTo(subscriber, `user.${user}.tasks`);
    const job = await stack.client.createJob(twoTasks);
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
    const shown = subscriber.messages.find(({ data }) => data.channel === `user.${user}.tasks`)?.data;
    const { docs } = shown as { docs: { version: number }[] };
    expect(docs.length).toBeGreaterThan(0);
    for (const { version } of docs) expect(version).toBeGreaterThan(0);
    const own = new Set([job.id, ...job.tasks.map(({ id }) => id)]);
    expect(subscriber.received.filter(({ id }) => own.has(id)).map(({ event }) => event)).toEqual(eventsOfTwo);
  });

  test('receives the events of a cancelled and of a deleted task', async () => {
    const job = await stack.client.createJob(twoTasks);
    const [first, second] = job.tasks;
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    await stack.client.call('POST', `/v1/process/tasks/${first?.id}/cancel`);
    await untilReceived(subscriber, 'task_canceled', first?.id ?? '');
    await untilReceived(subscriber, 'task_failed', second?.id ?? '');
    await untilReceived(subscriber, 'job_failed', job.id);
    await stack.client.call('DELETE', `/v1/process/tasks/${second?.id}`);
    await untilReceived(subscriber, 'task_deleted', second?.id ?? '');
  });

  test('receives the progress of a task, by any channel of it', async () => {
    const job = await stack.client.createJob(twoTasks);
    const [task] = job.tasks;
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    await report({ ...task, progress: 40, revision: 50 });
    const updated = await untilReceived(subscriber, 'task_updated', task?.id ?? '');
    expect(updated.version).toBe(50);
    await report({ ...task, progress: 30, revision: 49 });
    await report({ ...task, progress: 60, revision: 51 });
    await until('the newest is received', () => subscriber.received.find(({ version }) => version === 51));
    expect(subscriber.received.some(({ version }) => version === 49)).toBe(false);
    expect(subscriber.messages.findLast(({ event }) => event === 'task_updated')?.data.progress).toBe(60);
  });

  test('receives nothing of a channel that it unsubscribed from', async () => {
    const job = await stack.client.createJob(twoTasks);
    const other = await stack.client.createJob(twoTasks);
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    await subscribeTo(subscriber, `job.${other.id}`);
    if (subscriber instanceof SocketSubscriber) {
      expect(await subscriber.socket.timeout(20_000).emitWithAck('unsubscribe', `job.${job.id}`)).toMatchObject({
        ok: true,
      });
    } else if (subscriber instanceof PlainSubscriber) {
      subscriber.send(JSON.stringify({ action: 'unsubscribe', channel: `job.${job.id}` }));
      await until('that is confirmed', () => subscriber.messages.find(({ event }) => event === 'unsubscribed'));
    }
    await upload(job);
    await stack.client.waitForJob(job.id);
    await upload(other);
    await untilReceived(subscriber, 'job_completed', other.id);
    expect(subscriber.received.some(({ event, id }) => event === 'job_completed' && id === job.id)).toBe(false);
  });

  test('that asks twice for a channel receives two responses and each event once', async () => {
    const job = await stack.client.createJob(twoTasks);
    const subscriber = connect();
    const channel = `job.${job.id}`;
    await subscribeTo(subscriber, channel);
    subscriber.subscribe(channel);
    const answers = () => subscriber.messages.filter(({ event }) => event === 'subscribed');
    await until('it is answered again', () => (answers().length === 2 ? true : undefined));
    expect(answers()[1]?.data.id).toBe(job.id);
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
    expect(subscriber.received.map(({ event }) => event)).toEqual(eventsOfTwo);
  });

  test('receives nothing twice when every message of the relay is delivered twice', async () => {
    const job = await stack.client.createJob(tenTasks);
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
    const received = [...subscriber.received];
    const present = await stack.client.showJob(job.id);
    for (const task of present.tasks) {
      for (const status of ['processing', 'completed']) {
        // A version above the record's: even one that claims to be newer brings no end twice.
        for (const version of [3, 99]) await report({ ...task, status, version, revision: version }, job);
      }
    }
    await drain(subscriber, job);
    expect(subscriber.received).toEqual(received);
  });

  test('may subscribe to what its token is for, and nothing else', async () => {
    const [job, other] = [await stack.client.createJob(twoTasks), await stack.client.createJob(twoTasks)];
    const { token } = await stack.client.create<{ token: string }>('/v1/account/token', { job: job.id });
    const subscriber = connect(token);
    await subscribeTo(subscriber, `job.${job.id}`);
    await subscribeTo(subscriber, `task.${job.tasks[0]?.id}`);
    subscriber.subscribe(`job.${other.id}`);
    expect(await codeOf(subscriber)).toBe('not_found');
    subscriber.messages.splice(0);
    subscriber.subscribe(`user.${job.tasks[0]?.user}.jobs`);
    expect(await codeOf(subscriber)).toBe('not_found');
  });

  test('that subscribes to a job, its tasks and its user receives each event once', async () => {
    const job = await stack.client.createJob(twoTasks);
    const { user = '' } = job.tasks[0] ?? {};
    const earlier = connect();
    await subscribeTo(earlier, `user.${user}.tasks`);
    const other = await stack.client.createJob(twoTasks);
    // Its beginning has been sent by then to all who are to receive it.
    await untilReceived(earlier, 'task_started', other.tasks[0]?.id ?? '');
    const channels = [`job.${job.id}`, ...job.tasks.map(({ id }) => `task.${id}`)];
    const subscriber = connect();
    for (const channel of [...channels, `user.${user}.jobs`, `user.${user}.tasks`])
      await subscribeTo(subscriber, channel);
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
    // What it received by its user's channels does not come again with a channel of the job.
    await upload(other);
    await untilReceived(subscriber, 'job_completed', other.id);
    await subscribeTo(subscriber, `job.${other.id}`);
    await drain(subscriber, other);
    const eventsOf = ({ id, tasks }: JobView) => {
      const own = new Set([id, ...tasks.map((task) => task.id)]);
      return subscriber.received.filter((one) => own.has(one.id)).map(({ event }) => event);
    };
    expect(eventsOf(job)).toEqual(eventsOfTwo);
    expect(eventsOf(other)).toEqual(eventsOfTwo.slice(2));
  });

  test('that subscribes to one task and then its job receives what others have received and it has not', async () => {
    const job = await stack.client.createJob(twoTasks);
    const [first, second] = job.tasks;
    const [subscriber, other] = [connect(), connect()];
    await subscribeTo(other, `job.${job.id}`);
    await subscribeTo(subscriber, `task.${first?.id}`);
    await upload(job);
    await untilReceived(other, 'job_completed', job.id);
    await subscribeTo(subscriber, `job.${job.id}`);
    await untilReceived(subscriber, 'job_completed', job.id);
    expect(subscriber.received.map(({ event, id }) => [event, id])).toEqual([
      ['task_started', first?.id],
      ['task_completed', first?.id],
      ['task_completed', second?.id],
      ['job_completed', job.id],
    ]);
  });

  test('is shown versions that those of the API never fall behind', async () => {
    const job = await stack.client.createJob(twoTasks);
    const subscriber = connect();
    await subscribeTo(subscriber, `job.${job.id}`);
    const versionsOf = ({ id, version, tasks }: JobView) =>
      new Map([[id, version], ...tasks.map((task): [string, number] => [task.id, task.version])]);
    const seen = [versionsOf(job)];
    await upload(job);
    do {
      const received = [...subscriber.received];
      const shown = versionsOf(await stack.client.showJob(job.id));
      for (const { id, version } of received) expect(shown.get(id)).toBeGreaterThanOrEqual(version);
      for (const [id, version] of seen.at(-1) ?? []) expect(shown.get(id)).toBeGreaterThanOrEqual(version);
      seen.push(shown);
    } while (!subscriber.received.some(({ event }) => event === 'job_completed'));
    const latest = new Map(subscriber.received.map(({ id, version }) => [id, version]));
    expect(versionsOf(await stack.client.showJob(job.id))).toEqual(latest);
  });

  test('may not subscribe to what belongs to somebody else', async () => {
    const job = await stack.client.createJob(twoTasks);
    const subscriber = connect(await tokenOfAnother());
    for (const channel of [`job.${job.id}`, `task.${job.tasks[0]?.id}`, `user.${job.tasks[0]?.user}.tasks`]) {
      subscriber.messages.splice(0);
      subscriber.subscribe(channel);
      expect(await codeOf(subscriber)).toBe('not_found');
    }
    subscriber.messages.splice(0);
    subscriber.subscribe('everything');
    expect(await codeOf(subscriber)).toBe('bad_request');
  });
});

/** Publishes a task as its worker does: its progress, or, in the order of a job, its events. */
async function report(task: object, job?: JobView): Promise<void> {
  const caller = await actAs(stack, 'functions/transfers/handler.ts');
  const { LATHE_QUEUE_EVENTS, LATHE_QUEUE_PROGRESS } = caller.fn.environment;
  const known = { waitsFor: [], dependents: [], files: [], status: 'processing', ...task };
  await new SQSClient(caller.client('sqs')).send(
    new SendMessageCommand({
      QueueUrl: (job ? LATHE_QUEUE_EVENTS : LATHE_QUEUE_PROGRESS) ?? '',
      MessageBody: JSON.stringify({ type: 'changed', change: { type: 'task', task: known } }),
      ...(job ? { MessageGroupId: job.id, MessageDeduplicationId: newId() } : {}),
    }),
  );
}

describe('a token', () => {
  const issue = (body: object = {}) => stack.client.call<{ token: string }>('POST', '/v1/account/token', body);

  test('is not given for a job of somebody else, nor for longer than a day', async () => {
    const token = await tokenOfAnother();
    expect((await issue({ job: newId() })).status).toBe(404);
    expect((await issue({ expires_in: 86_401 })).status).toBe(400);
    expect(token).toMatch(/^lathet_/);
  });

  test('opens sockets and not the API', async () => {
    const { body } = await issue();
    const answer = await fetch(`${stack.url}/v1/process/jobs`, { headers: { authorization: `Bearer ${body.token}` } });
    expect(answer.status).toBe(401);
    const subscriber = plain(body.token);
    await until('it is open', () => subscriber.connections || undefined);
  });

  test('opens nothing once its time is over', async () => {
    const { body } = await issue({ expires_in: 10 });
    const caller = await actAs(stack, 'functions/api/account/create-token.ts');
    const pk = `token#${createHash('sha256').update(body.token).digest('hex')}`;
    await new DynamoDBClient(caller.client('dynamodb')).send(
      new PutItemCommand({
        TableName: caller.fn.environment.LATHE_TABLE,
        Item: {
          pk: { S: pk },
          sk: { S: 'token' },
          user: { S: newId() },
          expiresAt: { S: new Date(Date.now() - 1).toISOString() },
        },
      }),
    );
    const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/ws?token=${body.token}`);
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(401);
    response.destroy();
    const subscriber = socketIo(body.token);
    const [error] = await once(subscriber.socket as never, 'connect_error');
    expect(error.message).toContain('access token');
  });
});

async function tokenOfAnother(): Promise<string> {
  const { client } = await addUser(stack);
  return (await client.create<{ token: string }>('/v1/account/token', {})).token;
}

describe('a plain connection', () => {
  test.each([
    ['no token', {}, ''],
    ['a wrong key', { authorization: 'Bearer lathe_wrong' }, ''],
    ['a wrong token', {}, '?token=lathet_wrong'],
  ])('with %s is refused with 401', async (_name, headers, query) => {
    const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/ws${query}`, { headers });
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(401);
    response.destroy();
  });

  test('receives what it did wrong, and a response to its ping', async () => {
    const subscriber = plain();
    await until('it is open', () => subscriber.connections || undefined);
    subscriber.send('no JSON');
    expect(await codeOf(subscriber)).toBe('bad_request');
    subscriber.send('{"action":"ping"}');
    await until('a pong comes', () => subscriber.messages.find(({ event }) => event === 'pong'));
  });

  const connected = async () => {
    const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/ws?token=${stack.apiKey}`, {
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    return socket;
  };

  test.each([
    ['a frame of more than 32 KB', ['x'.repeat(32 * 1024 + 1)], 1009],
    ['a message of more than 128 KB in small frames', Array.from({ length: 5 }, () => 'x'.repeat(30 * 1024)), 1009],
    ['a binary message', [Buffer.from('x')], 1003],
  ] as const)('is closed for %s', async (_name, frames, code) => {
    const socket = await connected();
    const closed = once(socket, 'close');
    for (const [index, frame] of frames.entries()) socket.send(frame, { fin: index === frames.length - 1 });
    expect((await closed)[0]).toBe(code);
  });

  test('may send up to 128 KB in frames of 32 KB', async () => {
    const socket = await connected();
    const answered = once(socket, 'message');
    const frames = Array.from({ length: 4 }, () => 'x'.repeat(32 * 1024));
    for (const [index, frame] of frames.entries()) socket.send(frame, { fin: index === frames.length - 1 });
    expect(JSON.parse(String((await answered)[0]))).toMatchObject({ event: 'error' });
    socket.terminate();
  });

  test('that does not read what it is sent is disconnected, and blocks nobody', async () => {
    const job = await stack.client.createJob(twoTasks);
    const deaf = new WebSocket(`${stack.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    });
    await once(deaf, 'open');
    deaf.send(JSON.stringify({ action: 'subscribe', channel: `job.${job.id}` }));
    await once(deaf, 'message');
    const before = new Set(stack.sockets.connectionIds());
    const subscriber = plain();
    await until('it is open', () => subscriber.connections || undefined);
    await subscribeTo(subscriber, `job.${job.id}`);
    let version = 1;
    /** Publishes large events, and returns how long each of them takes to be received by the subscriber, on average. */
    const sendEvents = async (count: number) => {
      const began = performance.now();
      const last = version + count;
      while (version < last) {
        version += 1;
        await report({ ...job.tasks[0], payload: { note: 'a'.repeat(100_000) }, version, revision: version }, job);
      }
      await until('all is received', () => subscriber.received.some((event) => event.version === last) || undefined);
      return (performance.now() - began) / count;
    };
    const whenBothRead = await sendEvents(30);
    deaf.pause();
    const whenOneIsDeaf = await sendEvents(150);
    const versions = subscriber.received.map((event) => event.version);
    expect(versions).toEqual(versions.toSorted((left, right) => left - right));
    // Held up once at most, until it is disconnected: the time that a post may take, spread over all events.
    expect(whenOneIsDeaf).toBeLessThan(2 * whenBothRead + 100);
    await until(
      'it is cut off',
      () => stack.sockets.connectionIds().filter((id) => before.has(id)).length === 0 || undefined,
    );
    deaf.terminate();
  });

  test('elsewhere than at the paths of real time is not found', async () => {
    const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/elsewhere`);
    const [, response] = await once(socket, 'unexpected-response');
    expect(response.statusCode).toBe(404);
    response.destroy();
  });
});

describe('a client of Socket.IO', () => {
  test('that disconnects before it is greeted blocks nobody', async () => {
    const { fn, client } = await actAs(stack, 'functions/events/relay/relay.ts');
    const database = new DynamoDBClient(client('dynamodb'));
    const { post } = stack.sockets;
    const asked: string[] = [];
    Object.assign(stack.sockets, {
      post: (id: string, data: Buffer) => {
        asked.push(id);
        return id === asked[0] ? 'gone' : post.call(stack.sockets, id, data);
      },
    });
    try {
      const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
      const id = await until('it is greeted', () => asked[0]);
      socket.terminate();
      const Key = { pk: { S: `conn#${id}` }, sk: { S: 'conn' } };
      const TableName = fn.environment.LATHE_TABLE ?? '';
      await until('it has left', async () => {
        const { Item } = await database.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
        return Item === undefined || undefined;
      });
      const timesAsked = async () => {
        const next = socketIo();
        await until('another is greeted', () => next.connections || undefined);
        return asked.filter((one) => one === id).length;
      };
      // The relay may be between two looks at it, so the first that is greeted after it proves nothing.
      const before = await timesAsked();
      expect(await timesAsked()).toBe(before);
    } finally {
      Object.assign(stack.sockets, { post });
    }
  });

  test('receives the reason why it was refused', async () => {
    const subscriber = socketIo('Bearer wrong');
    const [error] = await once(subscriber.socket as never, 'connect_error');
    expect(error.message).toContain('access token');
  });

  test('resumes its channels after it was disconnected, without subscribing again', async () => {
    const job = await stack.client.createJob(twoTasks);
    const subscriber = socketIo();
    await subscribeTo(subscriber, `job.${job.id}`);
    stack.sockets.cut();
    await until('it is back', () => (subscriber.connections === 2 ? true : undefined));
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
  });
});

test('a connection is not sent more than 128 KB at once, so that a large job comes without the details of its tasks', async () => {
  const tasks = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [
      `import-${index}`,
      { operation: 'import/base64', file: dataUri(Buffer.from('a')), filename: `${'a'.repeat(100)}-${index}.txt` },
    ]),
  );
  const job = await stack.client.createJob(tasks);
  await stack.client.waitForJob(job.id);
  const subscriber = plain();
  await until('it is open', () => subscriber.connections || undefined);
  await subscribeTo(subscriber, `job.${job.id}`);
  await untilReceived(subscriber, 'job_completed', job.id);
  const end = subscriber.messages.find(({ event }) => event === 'job_completed')?.data;
  expect(end).toMatchObject({ id: job.id, status: 'completed', truncated: true });
  expect(end?.tasks).toHaveLength(200);
  expect(subscriber.received.filter(({ event }) => event === 'task_completed')).toHaveLength(200);
});

test('the bus carries the same events where it is asked to', async () => {
  await using stack = await startStack({ LATHE_BUS_EVENTS: 'all' });
  const names: string[] = [];
  const job = stack.client.createJob(twoTasks);
  stack.buses.onEvent(({ detailType, detail }) => {
    if (JSON.stringify(detail).includes('job_') || detailType) names.push(`${detailType} ${idOf(detail)}`);
  });
  const { id, tasks } = await job;
  await upload(await job);
  await until('the end is on the bus', () => names.find((name) => name === `job_completed ${id}`));
  for (const task of tasks) expect(names).toContain(`task_completed ${task.id}`);
  const task = makeTask({ status: 'processing', progress: 50 });
  await sendAsOperator(stack, /^EventsProgressQueue[0-9A-F]{8}$/, { type: 'changed', change: { type: 'task', task } });
  await until('progress is on the bus', () => names.find((name) => name === `task_updated ${task.id}`));
});

function idOf(detail: unknown): string {
  return String(JSON.parse(JSON.stringify(detail)).data.id);
}

test('the sockets of the service can be posted to only by functions that send to clients', async () => {
  const { ApiGatewayManagementApiClient, PostToConnectionCommand } = await import(
    '@aws-sdk/client-apigatewaymanagementapi'
  );
  const subscriber = plain();
  await until('it is open', () => subscriber.connections || undefined);
  const [ConnectionId] = stack.sockets.connectionIds();
  const caller = await actAs(stack, 'functions/events/relay/progress.ts');
  const endpoint = `${new URL(caller.client('sqs').endpoint).origin}/_aws/apigatewaymanagementapi/live`;
  const client = new ApiGatewayManagementApiClient({ ...caller.client('sqs'), endpoint });
  await expect(client.send(new PostToConnectionCommand({ ConnectionId, Data: Buffer.from('x') }))).rejects.toThrow(
    'execute-api:ManageConnections',
  );
});
