import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { probeEngine } from '../../functions/engines/runtime/sandbox/probe.ts';
import { type Faults, FaultsError, readFaults } from '../../packages/local-aws/src/faults/faults.ts';
import {
  type LocalAwsOptions,
  type PreparedAws,
  type RunningAws,
  startLocalAws,
} from '../../packages/local-aws/src/start.ts';
import type { LocalFunction, LocalStack, PolicyStatement } from '../../packages/local-aws/src/template/model.ts';
import { accountItem, itemsOfMember } from '../../shared/aws/stores/accounts.ts';
import { describeKey, itemsOfKey } from '../../shared/aws/stores/api-keys.ts';
import { engineStateItem } from '../../shared/aws/stores/engine-state.ts';
import { personItem } from '../../shared/aws/stores/people.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { encodeMissing, type MissingComponents } from '../../shared/catalogue/missing.ts';
import { defined } from '../../shared/defined.ts';
import { SettingsError } from '../../shared/settings.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { bundlesIn, bundlesOnDemand } from '../build/bundles.ts';
import { projectRoot } from '../bundling.ts';
import { putNew } from '../keys/stored-keys.ts';
import { parameterOf, settings } from '../settings.ts';
import type { BuiltService } from './built.ts';
import { type Identity, readIdentity } from './identity.ts';
import { pageIn, pageOnDemand } from './page.ts';
import { localShare, workerSlots } from './worker-slots.ts';

export interface LocalStackOptions
  extends Pick<
    LocalAwsOptions,
    | 'template'
    | 'dataDirectory'
    | 'port'
    | 'host'
    | 'url'
    | 'report'
    | 'alter'
    | 'startImage'
    | 'deliverTwice'
    | 'socketsPort'
    | 'socketLimits'
    | 'alarmSpeed'
    | 'capacityMeter'
  > {
  /** Components that the engines lack on this machine. */
  missing: MissingComponents;
  /** Variables of the settings, and LATHE_API_KEY. */
  environment: Record<string, string | undefined>;
  /** Faults of the simulated AWS; defaults to LATHE_LOCAL_FAULTS. */
  faults?: Faults;
  /** The page and the bundles, if they were built earlier; otherwise they are built on demand. */
  built?: BuiltService | undefined;
}

export interface RunningStack extends RunningAws {
  apiKey: string;
  /** Faults of the simulated AWS, from LATHE_LOCAL_FAULTS. */
  faults: Faults | undefined;
  sockets: NonNullable<RunningAws['sockets']>;
  /** Builds the page before it is first requested. */
  preparePage(): void;
}

/** The only local user. */
const developmentUser = { subject: 'development', email: 'development@localhost', name: 'Development user' };

/**
 * Functions that a client waits for, and the one that handles uploads: S3 does not name an upload's account, so all
 * accounts wait for it.
 */
const awaited = ['functions/api/', 'functions/events/', 'functions/lifecycle/uploaded.ts'].map(
  (path) => `${projectRoot}/${path}`,
);

/** Runs Lathe's template on this machine, with an account, a key and a user for development. */
export async function startLocalStack({
  environment,
  missing,
  built,
  ...options
}: LocalStackOptions): Promise<RunningStack> {
  const { report } = options;
  const faults = options.faults ?? chosenFaults(environment.LATHE_LOCAL_FAULTS);
  const identity = await readIdentity(options.dataDirectory);
  const apiKey = environment.LATHE_API_KEY || identity.apiKey;
  const build = built ? async () => pageIn(built.page) : pageOnDemand(report);
  const catalogue = new Catalogue(engineCatalogues, missing.engines);
  const off = engineCatalogues.filter(({ engine }) => !catalogue.isUsable(engine)).map(({ engine }) => engine);
  const filesVariable = defined({ LATHE_FILES_URL: options.url && `${options.url}/_aws/s3` });
  const running = await startLocalAws({
    ...options,
    root: projectRoot,
    secret: identity.masterSecret,
    parameters: { ...chosenParameters(environment), Missing: encodeMissing(missing) },
    faults,
    // After the window in which their tasks still count as owned.
    orphansAfterMs: heartbeatWindowMs + 5_000,
    operatorMay,
    prepare: (prepared) => storeDevelopment(prepared, apiKey, identity),
    codeOf: built ? bundlesIn(built.bundles) : bundlesOnDemand(),
    variablesOf: (fn, cores) => ({ ...inherited(fn), ...localShare(fn, cores), ...filesVariable }),
    jobVariables: inherited({}),
    isAwaited: ({ entry }) => awaited.some((path) => entry.startsWith(path)),
    slotsOf: workerSlots,
    isConsumed: ({ function: fn }) => !off.includes(fn.environment.LATHE_ENGINE ?? ''),
    build,
    // Signs in by a click. Behind a proxy, that would be anybody who can reach it.
    ...(options.url === undefined ? { user: developmentUser } : {}),
    socketPaths: ['/ws', '/socket.io'],
    scheduleSeconds: Number(environment.LATHE_SWEEP_SECONDS ?? 0),
    servers: {
      dynamodb: environment.LATHE_DYNAMODB_SERVER,
      sqs: environment.LATHE_SQS_SERVER,
      s3: environment.LATHE_S3_SERVER,
    },
    // For tests that call every endpoint in turn, so that functions need not restart each time.
    ...(environment.LATHE_IDLE_ENVIRONMENTS ? { maxIdle: Number(environment.LATHE_IDLE_ENVIRONMENTS) } : {}),
    ...(environment.LATHE_LAMBDA_CONCURRENCY ? { concurrencyQuota: Number(environment.LATHE_LAMBDA_CONCURRENCY) } : {}),
    recordFolder: process.env.LATHE_GATE_RECORD,
  });
  const { sockets } = running;
  if (!sockets) throw new Error('The template has no WebSocket API.');
  return { ...running, sockets, apiKey, faults, preparePage: () => void build().catch(() => undefined) };
}

/** Stores the development account, and the barriers of this machine's engines, as workers do in AWS. */
async function storeDevelopment({ stack, clientFor }: PreparedAws, apiKey: string, { user }: Identity): Promise<void> {
  const [table] = stack.tables;
  if (!table) throw new Error('The template has no table.');
  const dynamodb = new DynamoDBClient(clientFor('dynamodb'));
  for (const item of developmentItems(apiKey, user, stack.userPools[0]?.issuer))
    await putNew(dynamodb, table.name, item);
  await Promise.all(
    engineCatalogues
      .filter(({ resources }) => resources.packaging === 'image')
      .map(async ({ engine, resources: { network = false } }) => {
        const Item = engineStateItem(engine, await probeEngine({ network }));
        await dynamodb.send(new PutItemCommand({ TableName: table.name, Item }));
      }),
  );
}

/**
 * Returns the items of the development account with its key and, if there is an issuer, its person, so that the page
 * shows what was made with the printed key. Only missing items are written.
 */
function developmentItems(apiKey: string, user: string, issuer: string | undefined) {
  const name = 'Development';
  const createdAt = new Date().toISOString();
  const key = describeKey(apiKey, { user, name, createdAt, createdBy: { type: 'operator' } });
  const { listed, effective } = itemsOfKey(key);
  const account = { id: user, kind: 'personal', name, createdAt } as const;
  if (issuer === undefined) return [accountItem(account), listed, effective];
  const owner = { id: user, ...developmentUser };
  return [
    ...itemsOfMember(user, owner, createdAt),
    accountItem(account, { id: user, addedAt: createdAt }),
    personItem({ issuer, ...developmentUser }, user),
    listed,
    effective,
  ];
}

function chosenFaults(text: string | undefined): Faults | undefined {
  try {
    return readFaults(text);
  } catch (error) {
    throw error instanceof FaultsError ? new SettingsError(`LATHE_LOCAL_FAULTS: ${error.message}`) : error;
  }
}

function chosenParameters(environment: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, { variable }]) => {
      const value = environment[variable];
      return value === undefined || value === '' ? [] : [[parameterOf(name), value]];
    }),
  );
}

/** The local operator may store API keys, the development person and engine reports, and redrive dead letters. */
function operatorMay(stack: LocalStack): PolicyStatement[] {
  return [
    {
      effect: 'Allow',
      actions: ['dynamodb:PutItem'],
      resources: stack.tables.map(({ arn }) => arn),
      conditions: {
        'ForAllValues:StringLike': {
          'dynamodb:LeadingKeys': (['account', 'accountKey', 'apiKey', 'engine', 'membership', 'person'] as const).map(
            (kind) => `${partitions[kind]}*`,
          ),
        },
      },
    },
    { effect: 'Allow', actions: ['sqs:ListQueues'], resources: ['*'], conditions: {} },
    {
      effect: 'Allow',
      actions: [
        'sqs:GetQueueAttributes',
        'sqs:ReceiveMessage',
        'sqs:ChangeMessageVisibility',
        'sqs:SendMessage',
        'sqs:DeleteMessage',
      ],
      resources: stack.queues.map(({ arn }) => arn),
      conditions: {},
    },
  ];
}

/** Returns variables that say that the service is local, of this machine's fonts and, for functions with layers, of the folder that replaces /opt. */
function inherited({ layers = [] }: Pick<LocalFunction, 'layers'>): Record<string, string> {
  const { FONTCONFIG_FILE, LATHE_LAYERS } = process.env;
  return defined({
    LATHE_LOCAL: 'true',
    FONTCONFIG_FILE,
    LATHE_LAYERS: layers.length === 0 ? undefined : LATHE_LAYERS,
  });
}
