import { Duration } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import type { Need } from '../../shared/http/endpoint.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { type FunctionProps, ImageFunction, ZipFunction } from './function.ts';
import { WorkQueue } from './work-queue.ts';

const needs: Need[] = [
  'records:read',
  'records:write',
  'files:read',
  'files:write',
  'files:delete',
  'secrets:read',
  'secrets:delete',
  'queues:send',
];

/** An engine: its queue, and the function that works on it. */
export class Engine extends Construct {
  readonly work: WorkQueue;
  readonly #catalogue: EngineCatalogue;

  constructor(scope: Construct, id: string, catalogue: EngineCatalogue) {
    super(scope, id);
    this.#catalogue = catalogue;
    this.work = new WorkQueue(this, 'Work', { consumerTimeout: Duration.seconds(catalogue.resources.timeoutSeconds) });
  }

  /** Adds the function; it comes after the queues of all engines because any end may release work for any of them. */
  addWorker(resources: Resources, environment: Record<string, string>, more: PolicyStatement[] = []): void {
    const { engine, summary, resources: size } = this.#catalogue;
    const props: FunctionProps = {
      entry: `functions/engines/${engine}/handler.ts`,
      description: summary,
      timeout: Duration.seconds(size.timeoutSeconds),
      memoryMegabytes: size.memoryMegabytes,
      environment: {
        ...environment,
        ...variablesFor(needs, resources),
        ...(size.nodeOptions === undefined ? {} : { NODE_OPTIONS: size.nodeOptions }),
      },
      statements: [...statementsFor(needs, resources), ...more],
    };
    const worker =
      size.packaging === 'zip'
        ? new ZipFunction(this, 'Worker', props)
        : new ImageFunction(this, 'Worker', {
            ...props,
            dockerfile: `functions/engines/${engine}/Dockerfile`,
            diskMegabytes: size.diskMegabytes,
          });
    worker.function.addEventSource(
      new SqsEventSource(this.work.queue, { batchSize: 1, maxConcurrency: size.mostAtOnce }),
    );
  }
}
