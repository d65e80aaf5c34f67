import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { folderOf } from '../../functions/engines/runtime/catalogues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import {
  type Resources,
  statementsFor,
  statementsForOpenBuckets,
  variablesFor,
  workerPermissions,
} from '../permissions.ts';
import { type FunctionProps, ImageFunction, ZipFunction } from './function.ts';
import { QueueSource } from './queue-source.ts';
import { WorkQueue } from './work-queue.ts';

/** An engine: its queue, and the function that consumes it. */
export class Engine extends Construct {
  readonly work: WorkQueue;
  readonly #catalogue: EngineCatalogue;

  constructor(scope: Construct, id: string, catalogue: EngineCatalogue) {
    super(scope, id);
    this.#catalogue = catalogue;
    this.work = new WorkQueue(this, 'Work', { consumerTimeout: Duration.seconds(catalogue.resources.timeoutSeconds) });
  }

  /** Adds the function; it comes after the queues of all engines because the end of a task may queue others on any of them. */
  addWorker(resources: Resources, environment: Record<string, string>): void {
    const { summary, resources: size, reachesOpenBuckets } = this.#catalogue;
    const folder = folderOf(this.#catalogue);
    const permissions = workerPermissions(this.#catalogue);
    const props: FunctionProps = {
      entry: `${folder}/handler.ts`,
      description: summary,
      timeout: Duration.seconds(size.timeoutSeconds),
      memoryMegabytes: size.memoryMegabytes,
      environment: {
        ...environment,
        ...variablesFor(permissions, resources),
        ...(size.nodeOptions === undefined ? {} : { NODE_OPTIONS: size.nodeOptions }),
      },
      statements: [
        ...statementsFor(permissions, resources),
        ...(reachesOpenBuckets ? statementsForOpenBuckets(this) : []),
      ],
    };
    const worker =
      size.packaging === 'zip'
        ? new ZipFunction(this, 'Worker', props)
        : new ImageFunction(this, 'Worker', {
            ...props,
            dockerfile: `${folder}/Dockerfile`,
            diskMegabytes: size.diskMegabytes,
          });
    worker.function.addEventSource(
      new QueueSource(this.work.queue, { batchSize: 1, maxConcurrency: size.maxConcurrency, hidesMessages: true }),
    );
  }
}
