import { Aws, CfnCondition, Duration, Fn, type IResolvable, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { folderOf } from '../../functions/catalogue/catalogues.ts';
import { queueVariable } from '../../shared/aws/queues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { defined } from '../../shared/defined.ts';
import { readDeployment } from '../deployment.ts';
import {
  type Resources,
  statementsFor,
  statementsForOpenBuckets,
  uploadedPermissions,
  variablesFor,
  workerPermissions,
} from '../permissions.ts';
import { settingsWithout, splitSettings } from '../settings.ts';
import { workersOf } from '../sizes.ts';
import { BatchJob } from './batch.ts';
import { type FunctionProps, ImageFunction, LayeredFunction, ZipFunction } from './function.ts';
import { layerOf } from './layers.ts';
import { consume } from './queue-source.ts';
import { WorkQueue } from './work-queue.ts';

/** The maximum of Lambda. */
const maxTimeoutSeconds = 900;
/** Time that a worker needs before and after its engine runs, in addition to what it reserves to record the end. */
const workerSeconds = 30;
/** A worker handles records and signs URLs; no file passes through it. */
const workerMegabytes = 512;
const workerEntry = 'functions/worker/handler.ts';

/** Settings that engines read: what pages may load, what is installed, and how programs are isolated. */
const engineVariables = ['LATHE_ALLOW_HOSTS', 'LATHE_ISOLATION', 'LATHE_MISSING', 'LATHE_SINGLE_TENANT'];

/**
 * An engine: its queue, the worker that consumes it, and the function that opens the files. That function may only
 * write its log. An attacker who takes over a converter finds the signed URLs of one task, and no permissions.
 */
export class Engine extends Construct {
  readonly work: WorkQueue;
  readonly catalogue: EngineCatalogue;
  /** The engines whose tasks its worker performs: itself, and those that share its queue. */
  readonly #served: EngineCatalogue[];
  readonly #isServedByOther: boolean;
  readonly #workerTimeout: Duration;

  /** Uses a queue that it shares, if given. Otherwise others may share its own. */
  constructor(
    scope: Construct,
    id: string,
    catalogue: EngineCatalogue,
    { shared, others = [] }: { shared?: WorkQueue | undefined; others?: EngineCatalogue[] } = {},
  ) {
    super(scope, id);
    this.catalogue = catalogue;
    this.#served = [catalogue, ...others];
    this.#workerTimeout = Duration.seconds(Math.max(...this.#served.map(workerTimeoutSeconds)));
    this.#isServedByOther = shared !== undefined;
    this.work = shared ?? new WorkQueue(this, 'Work', { consumerTimeout: this.#workerTimeout });
  }

  /**
   * Adds the worker and returns it, unless another one performs the tasks of the engine. Called after the queues of all engines exist, because the end of a task
   * may queue others on any of them.
   */
  addWorker(resources: Resources, environment: Record<string, string>): ZipFunction | undefined {
    if (this.#isServedByOther) return undefined;
    const { packaging } = this.catalogue.resources;
    const { slots } = workersOf(this.#maxConcurrency);
    const props = this.#workerProps(resources, environment);
    const worker = new ZipFunction(this, 'Worker', packaging === 'worker' ? this.#asPerformer(props) : props);
    consume(worker, this.work.queue, { batchSize: 1, maxConcurrency: slots, hidesMessages: true });
    return worker;
  }

  /** Adds the job definition of the engine on AWS Batch. */
  addJob(environment: Record<string, string>): BatchJob {
    return new BatchJob(this, 'Job', this.catalogue, engineEnvironment(environment));
  }

  get #maxConcurrency(): number {
    return this.#served.reduce((sum, { resources }) => sum + resources.maxConcurrency, 0);
  }

  #workerProps(all: Resources, environment: Record<string, string>): FunctionProps {
    const { engine, resources: size } = this.catalogue;
    const permissions = [...new Set(this.#served.flatMap(workerPermissions))];
    const names = this.#served.map((served) => served.engine);
    const own = <T>(map: Map<string, T>) => new Map([...map].filter(([name]) => names.includes(name)));
    const resources = { ...all, engines: own(all.engines), batch: own(all.batch) };
    return {
      entry: workerEntry,
      description: `Worker: ${this.#served.map(({ summary }) => summary).join('. ')}`,
      timeout: this.#workerTimeout,
      memoryMegabytes: workerMegabytes,
      environment: {
        ...settingsWithout(
          workerSettings(environment),
          this.#served.some(({ resources }) => resources.splits) ? [] : splitSettings,
        ),
        ...variablesFor(permissions, resources),
        ...(size.packaging === 'worker' ? {} : { LATHE_ENGINE: engine }),
        LATHE_ACCOUNT_SHARE: String(workersOf(this.#maxConcurrency).share),
      },
      statements: statementsFor(permissions, resources),
      // The end of a task queues the next one, often for the same worker.
      allowsLoops: true,
    };
  }

  /** Returns the properties of a worker that performs its tasks itself. */
  #asPerformer(props: FunctionProps): FunctionProps {
    const { resources: size, reachesOpenBuckets } = this.catalogue;
    return {
      ...props,
      entry: `${folderOf(this.catalogue)}/handler.ts`,
      description: this.catalogue.summary,
      memoryMegabytes: size.memoryMegabytes,
      environment: {
        ...props.environment,
        ...defined({ NODE_OPTIONS: size.nodeOptions }),
      },
      statements: [...props.statements, ...(reachesOpenBuckets ? statementsForOpenBuckets(this) : [])],
    };
  }

  /** Adds the function of the engine, with separate environments per tenant; none if workers perform its tasks themselves. */
  addFunction(environment: Record<string, string>): IFunction | undefined {
    const { summary, resources: size } = this.catalogue;
    if (size.packaging === 'worker') return undefined;
    const engineProps = {
      entry: `${folderOf(this.catalogue)}/handler.ts`,
      description: summary,
      timeout: Duration.seconds(size.timeoutSeconds),
      memoryMegabytes: size.memoryMegabytes,
      environment: engineEnvironment(environment),
      statements: [],
      diskMegabytes: size.diskMegabytes,
      tenancy: tenancyUnless(this, environment.LATHE_SINGLE_TENANT ?? ''),
      // Each task of a chain invokes it again. It has no permission to continue the chain.
      allowsLoops: true,
    };
    const { function: engine } =
      size.layers && readDeployment(this).webpagePackaging === 'zip'
        ? new LayeredFunction(this, 'Engine', {
            ...engineProps,
            layers: size.layers.map((layer) => layerOf(this, layer)),
          })
        : new ImageFunction(this, 'Engine', engineProps);
    return engine;
  }
}

function workerTimeoutSeconds({ resources: { packaging, timeoutSeconds } }: EngineCatalogue): number {
  const seconds = packaging === 'worker' ? timeoutSeconds : timeoutSeconds + workerSeconds;
  return Math.min(maxTimeoutSeconds, seconds);
}

function engineEnvironment(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(engineVariables.map((variable) => [variable, environment[variable] ?? '']));
}

/** Adds the engines. They use the given queue, or each its own unless it shares that of another engine. */
export function addEngines(scope: Construct, catalogues: EngineCatalogue[], shared?: WorkQueue): Engine[] {
  const engines = new Map<string, Engine>();
  const { own = [], served = [] } = Object.groupBy(catalogues, ({ worker }) =>
    worker === undefined ? 'own' : 'served',
  );
  for (const catalogue of [...own, ...served]) {
    const { engine, worker = '' } = catalogue;
    const others = served.filter((other) => other.worker === engine);
    const props = { shared: shared ?? engines.get(worker)?.work, others };
    engines.set(engine, new Engine(scope, `Engine-${engine}`, catalogue, props));
  }
  return catalogues.flatMap(({ engine }) => engines.get(engine) ?? []);
}

/** Timeout of the shared worker. */
export const sharedTimeout = Duration.seconds(maxTimeoutSeconds);

/**
 * Adds the engines and one worker that performs the tasks of all of them and imports uploads, and returns the worker.
 */
export function addSharedWorker(
  scope: Construct,
  engines: Engine[],
  resources: Resources,
  environment: Record<string, string>,
): ZipFunction {
  const catalogues = engines.map(({ catalogue }) => catalogue);
  const every = new Set([...catalogues.flatMap(workerPermissions), ...uploadedPermissions]);
  // There is no separate queue for progress.
  const permissions = [...every].filter((permission) => permission !== 'progress:send');
  const { slots, share } = workersOf(1);
  const worker = new ZipFunction(scope, 'Worker', {
    entry: 'functions/every-worker.ts',
    description: 'Performs the tasks of all engines, and completes tasks whose uploads have arrived',
    timeout: sharedTimeout,
    memoryMegabytes: Math.max(
      ...catalogues.map(({ resources: { packaging, memoryMegabytes } }) =>
        packaging === 'worker' ? memoryMegabytes : workerMegabytes,
      ),
    ),
    environment: {
      ...workerSettings(environment),
      ...variablesFor(permissions, resources),
      [queueVariable('uploads')]: resources.notifications.queueUrl,
      LATHE_ENGINE: 'every',
      // An account with a concurrency of ten has to serve requests as well.
      LATHE_SPLIT_AT_ONCE: '2',
      LATHE_ACCOUNT_SHARE: String(share),
    },
    statements: [...statementsFor(permissions, resources), ...statementsForOpenBuckets(scope)],
    allowsLoops: true,
  });
  consume(worker, resources.notifications, {
    batchSize: 1,
    maxConcurrency: slots,
    hidesMessages: true,
    reportBatchItemFailures: true,
  });
  return worker;
}

function workerSettings(environment: Record<string, string>): Record<string, string> {
  return settingsWithout(environment, [
    'ratePerMinute',
    'creationsPerMinute',
    'waitsPerMinute',
    'instantAtOnce',
    'sweepSeconds',
  ]);
}

/**
 * Returns the tenancy of engines. An environment, with anything a hostile file may have left in it, serves one account,
 * unless the setting `singleTenant` says that there are no others. A condition of the template, because the setting is
 * a parameter.
 */
function tenancyUnless(scope: Construct, singleTenant: string): IResolvable {
  const stack = Stack.of(scope);
  const id = 'HasTenants';
  if (!stack.node.tryFindChild(id))
    new CfnCondition(stack, id, { expression: Fn.conditionNot(Fn.conditionEquals(singleTenant, 'true')) });
  return Fn.conditionIf(id, { TenantIsolationMode: 'PER_TENANT' }, Aws.NO_VALUE);
}
