import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deleteTask, endTask, type Permission, publishJob, releaseTasks } from '../../shared/permissions.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { ZipFunction } from './function.ts';
import { consume } from './queue-source.ts';

/** S3 copies the largest file that a form takes, 5 GB, in one request; at a slow 20 MB a second that takes 250 seconds. */
export const uploadedTimeout = Duration.seconds(300);

/** The lifecycle of tasks beside the engines: arrived uploads, dead letters, and the sweep of lost and expired records. */
export class Lifecycle extends Construct {
  readonly sweep: ZipFunction;

  constructor(
    scope: Construct,
    id: string,
    props: { resources: Resources; environment: Record<string, string>; uploads: IQueue; deadLetters: IQueue[] },
  ) {
    super(scope, id);
    const uploaded = this.#add(
      'Uploaded',
      'Completes tasks whose uploads have arrived',
      uploadedTimeout,
      // A posted file is read under the prefix that forms write to, and kept under one that they cannot write to.
      [
        ...endTask,
        ...publishJob,
        ...releaseTasks,
        'uploads:get',
        'uploads:list',
        'uploads:delete',
        'files:put',
        'files:delete',
      ],
      props,
    );
    consume(uploaded, props.uploads, { batchSize: 10, reportBatchItemFailures: true });

    const deadLetters = this.#add(
      'DeadLetters',
      'Fails tasks that no worker could finish',
      Duration.seconds(60),
      [...endTask, ...publishJob],
      props,
    );
    for (const queue of props.deadLetters) consume(deadLetters, queue, { batchSize: 1 });

    this.sweep = this.#add(
      'Sweep',
      'Requeues lost tasks and deletes expired records and files',
      Duration.seconds(300),
      [
        ...endTask,
        ...publishJob,
        ...releaseTasks,
        ...deleteTask,
        'due:query',
        'job:batchGet',
        'job:delete',
        'delivery:batchGet',
        'delivery:get',
        'delivery:put',
        'webhooks:send',
        'uploads:list',
        'uploads:delete',
        'secrets:list',
        'passwords:list',
        'revoked:list',
        'revoked:delete',
      ],
      props,
    );
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.sweep.function, { retryAttempts: 0 })],
    });
  }

  #add(
    id: string,
    description: string,
    timeout: Duration,
    permissions: readonly Permission[],
    props: { resources: Resources; environment: Record<string, string> },
  ): ZipFunction {
    return new ZipFunction(this, id, {
      entry: `functions/lifecycle/${id.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.ts`,
      description,
      timeout,
      memoryMegabytes: 512,
      environment: { ...props.environment, ...variablesFor(permissions, props.resources) },
      statements: statementsFor(permissions, props.resources),
    });
  }
}
