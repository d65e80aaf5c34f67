import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { BatchJobs } from '../../src/batch/batch-api.ts';
import type { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import type { Faults } from '../../src/faults/faults.ts';
import { createGate, type Denial } from '../../src/gate/gate.ts';
import { type ServerAddresses, type Servers, startServers } from '../../src/gate/servers.ts';
import { type Credentials, makeCredentials, readSession } from '../../src/iam/credentials.ts';
import type { InvokableFunctions } from '../../src/lambda/invoke-api.ts';
import type { LocalRole, LocalStack, PolicyStatement } from '../../src/template/model.ts';

export const accountId = '123456789012';
const region = 'eu-central-1';
export const bucketArn = 'arn:aws:s3:::lathe-files';
export const tableArn = `arn:aws:dynamodb:${region}:${accountId}:table/records`;
export const queueArn = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`;

export function allow(actions: string[], resources: string[], extra: Partial<PolicyStatement> = {}): PolicyStatement {
  return { effect: 'Allow', actions, resources, conditions: {}, ...extra };
}

export function role(logicalId: string, statements: PolicyStatement[]): LocalRole {
  return { logicalId, arn: `arn:aws:iam::${accountId}:role/${logicalId}`, statements };
}

export const everything = role('Everything', [
  allow(['dynamodb:*'], [tableArn, `${tableArn}/index/*`]),
  allow(['sqs:*'], [queueArn('*')]),
  allow(['s3:*'], [bucketArn, `${bucketArn}/*`]),
]);
export const nothing = role('Nothing', []);

export function makeStack(origin: string): LocalStack {
  const queue = (name: string, attributes: Record<string, string>, policy: PolicyStatement[] = []) => ({
    logicalId: name,
    name,
    arn: queueArn(name),
    url: `${origin}/_aws/sqs/${accountId}/${name}`,
    attributes,
    policy,
  });
  return {
    account: accountId,
    region,
    functions: [],
    assumableRoles: [],
    tables: [
      {
        logicalId: 'Records',
        name: 'records',
        arn: tableArn,
        partitionKey: { name: 'pk', type: 'S' },
        sortKey: { name: 'sk', type: 'S' },
        indexes: [
          {
            name: 'byState',
            partitionKey: { name: 'state', type: 'S' },
            sortKey: { name: 'sk', type: 'S' },
            projection: { type: 'ALL', attributes: [] },
          },
        ],
        timeToLiveAttribute: 'expires',
      },
    ],
    queues: [
      queue('dead', {}),
      queue('work', {
        VisibilityTimeout: '30',
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn('dead'), maxReceiveCount: 2 }),
      }),
      queue('uploads', {}, [
        allow(['sqs:SendMessage'], [queueArn('uploads')], {
          principals: [{ type: 'Service', value: 's3.amazonaws.com' }],
          conditions: { ArnLike: { 'aws:SourceArn': [bucketArn] } },
        }),
      ]),
      { ...queue('few', { VisibilityTimeout: '30' }), maxOfGroup: 1 },
      queue('ordered.fifo', { FifoQueue: 'true', VisibilityTimeout: '1' }),
    ],
    buckets: [
      {
        logicalId: 'Files',
        name: 'lathe-files',
        arn: bucketArn,
        cors: [
          {
            allowedMethods: ['POST', 'GET'],
            allowedOrigins: ['https://page.example'],
            allowedHeaders: ['*'],
            exposedHeaders: ['ETag'],
            maxAgeSeconds: 600,
          },
        ],
        notifications: [{ event: 's3:ObjectCreated:*', prefix: 'uploads/', suffix: '', queueArn: queueArn('uploads') }],
        policy: [
          {
            effect: 'Deny',
            principals: [{ type: '*', value: '*' }],
            actions: ['s3:*'],
            resources: [bucketArn, `${bucketArn}/*`],
            conditions: { Bool: { 'aws:SecureTransport': ['false'] } },
          },
        ],
        expirations: [{ prefix: 'old/', days: 1 }],
        abortions: [{ prefix: 'old/', days: 1 }],
      },
    ],
    httpApis: [],
    distributions: [],
    webSocketApis: [],
    eventBuses: [],
    userPools: [],
    queueSources: [],
    schedules: [],
    alarms: [],
    jobQueues: [],
    jobDefinitions: [],
  };
}

export interface LocalAws extends AsyncDisposable {
  origin: string;
  stack: LocalStack;
  servers: Servers;
  denials: Denial[];
  errors: unknown[];
  credentials(role: LocalRole): Credentials;
  dynamodb(role?: LocalRole, attempts?: number): DynamoDBClient;
  sqs(role?: LocalRole): SQSClient;
  s3(role?: LocalRole): S3Client;
}

/** Starts the gate with its servers on a local port, like the front server. */
export async function startLocalAws(
  options: {
    roles?: LocalRole[];
    dataDirectory?: string;
    change?: (stack: LocalStack) => void;
    functions?: InvokableFunctions;
    jobs?: (stack: LocalStack) => BatchJobs;
    addresses?: ServerAddresses;
    meter?: CapacityMeter;
    faults?: Faults;
    /** Attempts of a client; defaults to one. */
    attempts?: number;
  } = {},
): Promise<LocalAws> {
  const dataDirectory = options.dataDirectory ?? (await makeDirectory());
  const roles = [everything, nothing, ...(options.roles ?? [])];
  const all = roles.map((each) => makeCredentials('master secret', each));
  // Like the front server: otherwise a connection closes while a client without retries sends its next request.
  const server = createServer({ keepAliveTimeoutBuffer: 60_000 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const stack = makeStack(origin);
  options.change?.(stack);
  const { addresses = {}, meter, faults, attempts = 1 } = options;
  const servers = await startServers({ stack, dataDirectory, origin, addresses, meter, faults });
  const denials: Denial[] = [];
  const errors: unknown[] = [];
  const gate = createGate({
    stack,
    credentials: all,
    findSession: (token) => readSession('master secret', roles, token),
    faults,
    servers,
    functions: () => options.functions,
    jobs: options.jobs?.(stack),
    recordFolder: process.env.LATHE_GATE_RECORD,
    onDenied: (denial) => denials.push(denial),
    onError: (error) => errors.push(error),
  });
  server.on('request', (req, res) => void gate.handle(req, res));

  const credentials = (wanted: LocalRole) => {
    const found = all.find((each) => each.role === wanted);
    if (!found) throw new Error(`The role ${wanted.logicalId} was not given to startLocalAws`);
    return found;
  };
  const clientOptions = (service: string, wanted: LocalRole) => ({
    endpoint: `${origin}/_aws/${service}`,
    region,
    credentials: credentials(wanted),
    maxAttempts: attempts,
  });
  return {
    origin,
    stack,
    servers,
    denials,
    errors,
    credentials,
    dynamodb: (wanted = everything, maxAttempts = attempts) =>
      new DynamoDBClient({ ...clientOptions('dynamodb', wanted), maxAttempts }),
    sqs: (wanted = everything) => new SQSClient(clientOptions('sqs', wanted)),
    s3: (wanted = everything) => new S3Client(clientOptions('s3', wanted)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await servers.close();
      if (!options.dataDirectory) await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

export function makeDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'lathe-gate-'));
}

/** Creates a query of the table's index for the items of a state. */
export function queryByState(state: string, options: Partial<QueryCommandInput> = {}): QueryCommand {
  return new QueryCommand({
    TableName: 'records',
    IndexName: 'byState',
    KeyConditionExpression: '#state = :state',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':state': { S: state } },
    ...options,
  });
}
