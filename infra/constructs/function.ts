import { type Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  CfnFunction,
  DockerImageCode,
  DockerImageFunction,
  type Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { bundling, projectRoot } from '../bundling.ts';

export interface FunctionProps {
  /** Path of the module from the project's root; its export `handler` is the function. */
  entry: string;
  description: string;
  timeout: Duration;
  memoryMegabytes: number;
  environment: Record<string, string>;
  statements: PolicyStatement[];
}

/** Names the module of a function, so that the local stack runs the source of the bundle in the template. */
const entryMetadata = 'lathe:entry';

/** A function with a log group that expires, and a role of its own that allows its statements and nothing else. */
abstract class BaseFunction extends Construct {
  readonly role: Role;
  protected readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: FunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: props.description,
    });
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logGroup.logGroupArn],
      }),
    );
    for (const statement of props.statements) this.role.addToPolicy(statement);
  }

  abstract readonly function: LambdaFunction;

  protected nameEntry(entry: string): void {
    const resource = this.function.node.defaultChild;
    if (!(resource instanceof CfnFunction)) throw new Error('The function has no resource of its own.');
    resource.addMetadata(entryMetadata, entry);
  }
}

/** A function of TypeScript alone: bundled, minified, on the managed runtime. */
export class ZipFunction extends BaseFunction {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: FunctionProps) {
    super(scope, id, props);
    this.function = new NodejsFunction(this, 'Function', {
      entry: `${projectRoot}/${props.entry}`,
      projectRoot,
      depsLockFilePath: `${projectRoot}/package-lock.json`,
      handler: 'handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      description: props.description,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      environment: props.environment,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      bundling: { ...bundling, format: OutputFormat.ESM },
    });
    this.nameEntry(props.entry);
  }
}

/** A function with system programs: a container image built from the engine's own Dockerfile. */
export class ImageFunction extends BaseFunction {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: FunctionProps & { dockerfile: string; diskMegabytes: number }) {
    super(scope, id, props);
    this.function = new DockerImageFunction(this, 'Function', {
      code: DockerImageCode.fromImageAsset(projectRoot, { file: props.dockerfile }),
      architecture: Architecture.X86_64,
      description: props.description,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      ephemeralStorageSize: Size.mebibytes(props.diskMegabytes),
      environment: props.environment,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
    });
    this.nameEntry(props.entry);
  }
}
