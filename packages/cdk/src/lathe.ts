import { type Environment, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { readDeployment } from '../../../infra/deployment.ts';
import { LatheStack } from '../../../infra/lathe-stack.ts';
import { setContext } from './context.ts';
import type { LatheProps } from './props.ts';

/** The longest region and suffix of the names of CloudFront functions, which have at most 64 characters, take 24. */
const maxStackName = 40;

/**
 * The service as a stack next to that of the app: it has too many resources to share one. Its attributes can be used in
 * other stacks of the same account and region.
 */
export class Lathe extends Construct {
  /** The stack with all resources. */
  readonly stack: Stack;
  /** Root URL for clients: of page and API, or of the API alone. */
  readonly apiUrl: string;
  /** Root URL of the API without the distribution in front of it. */
  readonly apiOriginUrl: string;
  /** URL for WebSocket clients. */
  readonly socketsUrl: string;
  /** Table of tasks, jobs, accounts and API keys. */
  readonly table: Table;
  /** Bucket of all files. */
  readonly bucket: Bucket;
  /** Bus that receives the events of jobs and tasks; see the property `busEvents`. */
  readonly eventBus: EventBus;
  /** Function that imports from and exports to stores. Grant it the KMS keys of open buckets. */
  readonly transferFunction: LambdaFunction;

  constructor(scope: Construct, id: string, { env = environmentOf(scope), stackName, ...props }: LatheProps = {}) {
    super(scope, id);
    setContext(this, props, env.region);
    const { stage, keepsData } = readDeployment(this);
    const name = stackName ?? (stage === '' ? 'Lathe' : `Lathe-${stage}`);
    if (name.length > maxStackName)
      throw new Error(`Expected at most ${maxStackName} characters for stackName but received ${name}.`);
    const stack = new LatheStack(this, 'Stack', {
      description: 'Lathe: converts, compresses and merges files over HTTP.',
      stackName: name,
      terminationProtection: keepsData,
      env,
    });
    this.stack = stack;
    this.apiUrl = stack.url;
    this.apiOriginUrl = stack.originUrl;
    this.socketsUrl = stack.socketsUrl;
    this.table = stack.table;
    this.bucket = stack.bucket;
    this.eventBus = stack.bus;
    this.transferFunction = stack.transfers;
  }
}

/** Returns the environment of the stack around a construct. Stages pass theirs on to the stacks in them. */
function environmentOf(scope: Construct): Environment {
  const around = scope.node.scopes.findLast((each) => Stack.isStack(each));
  return around ? { account: around.account, region: around.region } : {};
}
