import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Route } from '../functions/api/http/route.ts';
import { routes } from '../functions/api/routes.ts';
import { engineCatalogues } from '../functions/catalogue/catalogues.ts';
import { catalogue as transferCatalogue } from '../functions/catalogue/transfers/catalogue.ts';
import { encodeSizes, sizesOf, withSizes } from '../shared/catalogue/sizes.ts';
import { version } from './constructs/assets.ts';
import { BatchQueue } from './constructs/batch.ts';
import { Endpoints } from './constructs/endpoints.ts';
import { addEngines, addSharedWorker, type Engine, sharedTimeout } from './constructs/engines.ts';
import { Events } from './constructs/events.ts';
import { FilesBucket } from './constructs/files-bucket.ts';
import type { ZipFunction } from './constructs/function.ts';
import { LatheApi } from './constructs/http-api.ts';
import { Lifecycle, uploadedTimeout } from './constructs/lifecycle.ts';
import { Monitoring, metricVariables } from './constructs/monitoring.ts';
import { Page } from './constructs/page.ts';
import { RecordsTable } from './constructs/records-table.ts';
import { settingVariables } from './constructs/setting-parameters.ts';
import { SignIn } from './constructs/sign-in.ts';
import { Signers } from './constructs/signers.ts';
import { RealTimeApi } from './constructs/websocket-api.ts';
import { readDeployment } from './deployment.ts';
import type { Resources } from './permissions.ts';
import { parameterOf, settingsWithout, signInSettings } from './settings.ts';
import { chosenSizes, presetOf } from './sizes.ts';

/** The whole service. The template of this stack holds everything that runs, locally and in AWS. */
export class LatheStack extends Stack {
  /** Root URL for clients: of page and API, or of the API alone. */
  readonly url: string;
  /** Root URL at API Gateway's own host. */
  readonly originUrl: string;
  readonly socketsUrl: string;
  readonly table: Table;
  readonly bucket: Bucket;
  readonly bus: EventBus;
  /** Imports from and exports to stores. */
  readonly transfers: ZipFunction['function'];

  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props);
    const { table } = new RecordsTable(this, 'Records');
    const { isShared } = presetOf(this);
    const uploadsTimeout = isShared ? sharedTimeout : uploadedTimeout;
    const { bucket, uploads } = new FilesBucket(this, 'Files', { consumerTimeout: uploadsTimeout });
    const http = new LatheApi(this, 'Http');
    const sizes = chosenSizes(this, engineCatalogues);
    const engines = addEngines(
      this,
      engineCatalogues.map((each) => withSizes(each, sizes)),
      isShared ? uploads : undefined,
    );
    const events = new Events(this, 'Events');
    const sockets = new RealTimeApi(this, 'Sockets');
    const variables = settingVariables(this);
    const page = readDeployment(this).page
      ? new Page(this, 'Page', {
          api: http.api,
          origins: { files: `https://${bucket.bucketRegionalDomainName}`, sockets: sockets.origin },
        })
      : undefined;
    const url = page?.url ?? http.url;
    const environment = {
      ...settingsWithout(variables, signInSettings),
      LATHE_URL: url,
      LATHE_VERSION: version,
      POWERTOOLS_SERVICE_NAME: 'lathe',
      ...metricVariables(this.stackName),
      // Functions compute limits from the chosen sizes of engines.
      ...(Object.keys(sizes).length > 0 ? { LATHE_SIZES: encodeSizes(sizes) } : {}),
    };
    const resources: Resources = {
      table,
      bucket,
      signers: new Signers(this, 'Signers', bucket),
      queues: new Map([
        ...engines.map(({ catalogue, work }) => [catalogue.engine, work.queue] as const),
        ['events', events.queue],
        ...(events.progress ? [['progress', events.progress] as const] : []),
      ]),
      engines: new Map(
        engines.flatMap((engine) => {
          const added = engine.addFunction(environment);
          return added ? [[engine.catalogue.engine, added] as const] : [];
        }),
      ),
      batch: this.#addBatch(engines, bucket, environment),
      sockets: sockets.management,
      webhooks: events.webhooks,
      notifications: uploads.queue,
      deadLetters: [...new Set([...engines.map(({ work }) => work.deadLetters), uploads.deadLetters])],
      bus: events.bus,
      issuer: new SignIn(this, 'SignIn', { url, apiId: http.api.apiId, variables }).variables,
    };
    const served = {
      api: http.api,
      resources,
      environment: { ...environment, ...(page ? { LATHE_DISTRIBUTION_KEY: page.key } : {}) },
    };
    const rows = Object.entries<Route>(routes);
    // A stack of their own, because one for all endpoints would leave too little of its 500 resources.
    const isApart = ([, { tag }]: (typeof rows)[number]) =>
      ['Instant', 'Documents', 'Images by URL', 'Uploads'].includes(tag);
    const endpoints = new Endpoints(this, 'Api', { ...served, rows: rows.filter((row) => !isApart(row)) });
    endpoints.addFallback(http.api);
    const { logGroup } = endpoints;
    const instant = new Endpoints(this, 'Instant', { ...served, rows: rows.filter(isApart), logGroup });
    sockets.addRoutes(resources, environment);
    events.addConsumers(resources, environment);
    const shared = isShared ? addSharedWorker(this, engines, resources, environment) : undefined;
    const workers = new Map(
      engines.flatMap((engine) => {
        const worker = shared ?? engine.addWorker(resources, environment);
        return worker ? [[engine.catalogue.engine, worker.function] as const] : [];
      }),
    );
    // An update deploys engines before their workers, and endpoints last, so that none receives requests for features
    // it does not have yet.
    for (const each of [endpoints, instant]) each.node.addDependency(...workers.values());
    page?.deployAfter(endpoints);
    const { sweep } = new Lifecycle(this, 'Lifecycle', { resources, environment });
    new Monitoring(this, 'Monitoring', {
      namespace: this.stackName,
      api: http.api,
      sweep: sweep.function,
      engines: engines.map(({ catalogue, work }) => ({ name: parameterOf(catalogue.engine), queue: work.queue })),
      uploads: isShared
        ? undefined
        : { name: 'Uploads', queue: uploads.queue, consumerSeconds: uploadedTimeout.toSeconds() },
      events: { name: 'Events', queue: events.queue, consumerSeconds: 0 },
      progress: events.progress,
      webhooks: events.webhooks,
    });
    new CfnOutput(this, 'ApiUrl', {
      value: url,
      description: page ? 'Root URL of page and API' : 'Root URL of the API',
    });
    if (page)
      new CfnOutput(this, 'ApiOriginUrl', {
        value: http.url,
        description: 'Root URL of the API without the distribution in front of it',
      });
    new CfnOutput(this, 'SocketsUrl', {
      value: resources.sockets.clientUrl,
      description: 'URL for WebSocket clients',
    });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'Table of API keys' });
    const transfers = workers.get(transferCatalogue.engine);
    if (!transfers) throw new Error('Expected a worker for transfers.');
    this.url = url;
    this.originUrl = http.url;
    this.socketsUrl = resources.sockets.clientUrl;
    this.table = table;
    this.bucket = bucket;
    this.bus = events.bus;
    this.transfers = transfers;
  }

  /** Adds AWS Batch for the engines that have hours there. Without any, the template has nothing of it. */
  #addBatch(engines: Engine[], bucket: Bucket, environment: Record<string, string>): Resources['batch'] {
    const long = engines.filter(({ catalogue }) => sizesOf(catalogue.resources).batchHours > 0);
    if (long.length === 0) return new Map();
    const queue = new BatchQueue(this, 'Batch', { engines: long.map(({ catalogue }) => catalogue), bucket });
    return new Map(
      long.map((engine) => [
        engine.catalogue.engine,
        { queueArn: queue.arn, definitionArn: engine.addJob(environment).arn },
      ]),
    );
  }
}
