import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { queueVariable } from '../../shared/aws/queues.ts';
import { chargeTask, deleteTask, endTask, type Permission, releaseTasks } from '../../shared/permissions.ts';
import { type Resources, statementsFor, uploadedPermissions, variablesFor } from '../permissions.ts';
import { settingsWithout } from '../settings.ts';
import { presetOf } from '../sizes.ts';
import { ZipFunction } from './function.ts';
import { consume } from './queue-source.ts';

/** S3 copies the largest posted file, 5 GB, in one request. At 20 MB a second that takes 250 seconds. */
export const uploadedTimeout = Duration.seconds(300);

/**
 * The lifecycle of tasks outside the engines: arrived uploads, and the sweep of lost and expired records. The sweep
 * also reads the dead letters of tasks: event sources would pay for polling each of those queues all month.
 */
export class Lifecycle extends Construct {
  readonly sweep: ZipFunction;

  constructor(scope: Construct, id: string, props: { resources: Resources; environment: Record<string, string> }) {
    super(scope, id);
    if (!presetOf(this).isShared) this.#addUploaded(props);
    this.sweep = this.#add(
      'Sweep',
      'Requeues lost tasks, fails those that no worker could finish, deletes expired files, and pings idle connections',
      Duration.seconds(300),
      [
        ...endTask,
        ...chargeTask,
        ...releaseTasks,
        ...deleteTask,
        'due:query',
        'group:query',
        'delivery:batchGet',
        'delivery:get',
        'delivery:put',
        'webhooks:send',
        'notifications:send',
        'deadLetters:take',
        'uploads:list',
        'uploads:delete',
        'incompleteUploads:list',
        'files:abort',
        'secrets:list',
        'passwords:list',
        'revoked:list',
        'revoked:delete',
        'pinged:query',
        'pinged:delete',
        'sockets:post',
      ],
      props,
    );
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.sweep.function, { retryAttempts: 0 })],
    });
  }

  #addUploaded(props: { resources: Resources; environment: Record<string, string> }): void {
    const { notifications } = props.resources;
    const uploaded = this.#add(
      'Uploaded',
      'Completes tasks whose uploads have arrived',
      uploadedTimeout,
      uploadedPermissions,
      { ...props, environment: { ...props.environment, [queueVariable('uploads')]: notifications.queueUrl } },
    );
    consume(uploaded, notifications, {
      batchSize: 10,
      reportBatchItemFailures: true,
      hidesMessages: true,
      // Ten uploads each. Without a maximum, a burst could use up the account's concurrency.
      maxConcurrency: 50,
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
      environment: {
        ...settingsWithout(props.environment, [
          'ratePerMinute',
          'creationsPerMinute',
          'waitsPerMinute',
          'allowHosts',
          'isolation',
          'singleTenant',
        ]),
        ...variablesFor(permissions, props.resources),
      },
      statements: statementsFor(permissions, props.resources),
    });
  }
}
