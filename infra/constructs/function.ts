import { basename, dirname } from 'node:path';
import { type Duration, type IResolvable, RemovalPolicy, Size } from 'aws-cdk-lib';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  CfnFunction,
  DockerImageCode,
  DockerImageFunction,
  type ILayerVersion,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { defined } from '../../shared/defined.ts';
import { readDeployment } from '../deployment.ts';
import { bundleOf, engineZip, imageContext } from './assets.ts';

export interface FunctionProps {
  /** Path of the module from the project's root. Its export `handler` is the function. */
  entry: string;
  description: string;
  timeout: Duration;
  memoryMegabytes: number;
  environment: Record<string, string>;
  statements: PolicyStatement[];
  /** Defaults to a log group of its own. */
  logGroup?: ILogGroup;
  /** Reserved concurrency, which is also its maximum. Defaults to a share of the account's. */
  reservedConcurrency?: number | undefined;
  /**
   * Whether Lambda isolates the execution environments of tenants. Fixed when the function is created; defaults to no
   * isolation.
   */
  tenancy?: IResolvable;
  /**
   * Whether it may be invoked more than 16 times in one chain of messages and invocations, which Lambda treats as an
   * endless loop. Only for chains that end: a job has a limited number of tasks.
   */
  allowsLoops?: boolean;
}

/** Records the module of a function, so that the local stack can run its source. */
export const entryMetadata = 'local-aws:entry';

/** Returns the architecture of engines: x86_64, unless the context value `architecture` is arm64. */
export function engineArchitecture(scope: Construct): Architecture {
  const wanted = scope.node.tryGetContext('architecture') ?? 'x86_64';
  if (wanted === 'x86_64') return Architecture.X86_64;
  if (wanted === 'arm64') return Architecture.ARM_64;
  throw new Error(`Expected x86_64 or arm64 for architecture but received ${wanted}.`);
}

/** Creates a log group with a retention. */
export function expiringLogs(scope: Construct, id: string): LogGroup {
  return new LogGroup(scope, id, { retention: readDeployment(scope).logDays, removalPolicy: RemovalPolicy.DESTROY });
}

/** A function with expiring logs and a role of its own that allows only its statements. */
export abstract class BaseFunction extends Construct {
  readonly role: Role;
  protected readonly logGroup: ILogGroup;
  // Inline in the role, because a separate policy counts towards the 500 resources of a stack.
  readonly #policy: PolicyDocument;

  constructor(scope: Construct, id: string, props: FunctionProps) {
    super(scope, id);
    this.logGroup = props.logGroup ?? expiringLogs(this, 'Logs');
    const logging = new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [this.logGroup.logGroupArn],
    });
    this.#policy = new PolicyDocument({ statements: [logging, ...props.statements] });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: props.description,
      inlinePolicies: { Permissions: this.#policy },
    });
  }

  /** Adds a statement to the role. */
  allow(statement: PolicyStatement): void {
    this.#policy.addStatements(statement);
  }

  abstract readonly function: LambdaFunction;

  /** Returns the properties of all functions, whatever their packaging. */
  protected common(props: FunctionProps) {
    return defined({
      description: props.description,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      environment: props.environment,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      recursiveLoop: props.allowsLoops ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      reservedConcurrentExecutions: props.reservedConcurrency,
    });
  }

  /** Adds what the CDK construct has no property for: the module, and a conditional tenancy. */
  protected complete({ entry, tenancy }: FunctionProps): void {
    const resource = this.function.node.defaultChild;
    if (!(resource instanceof CfnFunction)) throw new Error('The function has no resource of its own.');
    resource.addMetadata(entryMetadata, entry);
    if (tenancy) resource.tenancyConfig = tenancy;
  }
}

/** A TypeScript function: bundled, minified, on the managed runtime. */
export class ZipFunction extends BaseFunction {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: FunctionProps) {
    super(scope, id, props);
    this.function = new LambdaFunction(this, 'Function', {
      code: bundleOf(props.entry),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      ...this.common(props),
    });
    this.complete(props);
  }
}

/**
 * An engine whose programs are in layers: a zip of the modules and packages that the engine loads. It is not bundled,
 * because the engine runs some of its modules in separate processes.
 */
export class LayeredFunction extends BaseFunction {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: FunctionProps & { diskMegabytes: number; layers: ILayerVersion[] }) {
    super(scope, id, props);
    this.function = new LambdaFunction(this, 'Function', {
      code: engineZip(dirname(props.entry)),
      layers: props.layers,
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.X86_64,
      ...this.common(props),
      ephemeralStorageSize: Size.mebibytes(props.diskMegabytes),
    });
    this.complete(props);
  }
}

function imageOptions(scope: Construct, folder: string) {
  const isArm = engineArchitecture(scope) === Architecture.ARM_64;
  return {
    buildArgs: { ENGINE: basename(folder) },
    platform: isArm ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64,
  };
}

/** Returns the image of an engine for another place than Lambda. It is the same asset, so it is built and stored once. */
export function engineImage(scope: Construct, id: string, folder: string): DockerImageAsset {
  return new DockerImageAsset(scope, id, { directory: imageContext(folder), ...imageOptions(scope, folder) });
}

/** An engine with system programs: a container image of what the engine loads. */
export class ImageFunction extends BaseFunction {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: FunctionProps & { diskMegabytes: number }) {
    super(scope, id, props);
    const folder = dirname(props.entry);
    this.function = new DockerImageFunction(this, 'Function', {
      code: DockerImageCode.fromImageAsset(imageContext(folder), imageOptions(this, folder)),
      architecture: engineArchitecture(this),
      ...this.common(props),
      ephemeralStorageSize: Size.mebibytes(props.diskMegabytes),
    });
    this.complete(props);
  }
}
