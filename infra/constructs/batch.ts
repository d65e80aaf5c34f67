import { Aws, Stack } from 'aws-cdk-lib';
import { CfnComputeEnvironment, CfnJobDefinition, CfnJobQueue, CfnSchedulingPolicy } from 'aws-cdk-lib/aws-batch';
import {
  CfnRouteTable,
  CfnSecurityGroup,
  CfnSubnet,
  CfnSubnetRouteTableAssociation,
  CfnVPC,
  CfnVPCEndpoint,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { folderOf } from '../../functions/catalogue/catalogues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { sizesOf } from '../../shared/catalogue/sizes.ts';
import { objectPrefixes } from '../../shared/files/keys.ts';
import { engineArchitecture, engineImage, entryMetadata, expiringLogs } from './function.ts';

const jobEntry = 'functions/engines/runtime/job/main.ts';

interface BatchQueueProps {
  /** The engines with hours on AWS Batch. */
  engines: EngineCatalogue[];
  bucket: Pick<IBucket, 'arnForObjects'>;
}

/**
 * AWS Batch on Fargate, for runs that fit no function: a job queue that the accounts share evenly, on a network without a way to
 * the internet. Fargate and not Fargate Spot: an interruption would throw away hours of work, because nothing continues a run.
 */
export class BatchQueue extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { engines, bucket }: BatchQueueProps) {
    super(scope, id);
    const { subnet, securityGroup } = this.#addNetwork(bucket);
    const maxvCpus = engines
      .map(({ resources }) => sizesOf(resources))
      .reduce((sum, { batchVcpus, batchConcurrency }) => sum + batchVcpus * batchConcurrency, 0);
    const environment = new CfnComputeEnvironment(this, 'Environment', {
      type: 'MANAGED',
      computeResources: {
        type: 'FARGATE',
        maxvCpus,
        subnets: [subnet.attrSubnetId],
        securityGroupIds: [securityGroup.attrGroupId],
      },
    });
    // Jobs name their account. Without a policy the first account to submit many jobs would delay all others.
    const policy = new CfnSchedulingPolicy(this, 'Shares', { fairsharePolicy: { shareDecaySeconds: 3_600 } });
    const queue = new CfnJobQueue(this, 'Queue', {
      priority: 1,
      computeEnvironmentOrder: [{ order: 1, computeEnvironment: environment.attrComputeEnvironmentArn }],
      schedulingPolicyArn: policy.attrArn,
    });
    this.arn = queue.attrJobQueueArn;
  }

  /** Adds a subnet that reaches the bucket, the images and the logs by endpoints, and nothing else. */
  #addNetwork(bucket: BatchQueueProps['bucket']) {
    const cidrBlock = '10.0.0.0/24';
    const vpc = new CfnVPC(this, 'Vpc', { cidrBlock, enableDnsHostnames: true, enableDnsSupport: true });
    const { attrVpcId: vpcId } = vpc;
    // One zone: each further one would double the price of the endpoints.
    const subnet = new CfnSubnet(this, 'Subnet', { vpcId, cidrBlock });
    const routes = new CfnRouteTable(this, 'Routes', { vpcId });
    new CfnSubnetRouteTableAssociation(this, 'SubnetRoutes', {
      subnetId: subnet.attrSubnetId,
      routeTableId: routes.attrRouteTableId,
    });
    const https = { ipProtocol: 'tcp', fromPort: 443, toPort: 443 };
    const securityGroup = new CfnSecurityGroup(this, 'Jobs', {
      vpcId,
      groupDescription: 'Jobs: HTTPS to the endpoints of the network, and nothing to the jobs',
      // The endpoint of S3 has public addresses. No others are routed.
      securityGroupEgress: [{ ...https, cidrIp: '0.0.0.0/0', description: 'HTTPS to the endpoints' }],
    });
    const endpointGroup = new CfnSecurityGroup(this, 'Endpoints', {
      vpcId,
      groupDescription: 'Endpoints: HTTPS from jobs',
      securityGroupIngress: [
        { ...https, sourceSecurityGroupId: securityGroup.attrGroupId, description: 'HTTPS from jobs' },
      ],
    });
    const service = (name: string) => `com.amazonaws.${Aws.REGION}.${name}`;
    new CfnVPCEndpoint(this, 'S3', {
      vpcId,
      vpcEndpointType: 'Gateway',
      serviceName: service('s3'),
      routeTableIds: [routes.attrRouteTableId],
      policyDocument: objectsPolicy(bucket),
    });
    for (const [id, name] of [
      ['Registry', 'ecr.api'],
      ['Images', 'ecr.dkr'],
      ['LogEvents', 'logs'],
    ] as const)
      new CfnVPCEndpoint(this, id, {
        vpcId,
        vpcEndpointType: 'Interface',
        serviceName: service(name),
        privateDnsEnabled: true,
        subnetIds: [subnet.attrSubnetId],
        securityGroupIds: [endpointGroup.attrGroupId],
      });
    return { subnet, securityGroup };
  }
}

/** Allows what signed URLs of jobs are for, and the layers of images. Credentials of others reach no other bucket from here. */
function objectsPolicy(bucket: BatchQueueProps['bucket']): PolicyDocument {
  const allow = (actions: string[], ...resources: string[]) =>
    new PolicyStatement({ principals: [new AnyPrincipal()], actions, resources });
  const files = bucket.arnForObjects(`${objectPrefixes.files}*`);
  return new PolicyDocument({
    statements: [
      allow(['s3:GetObject', 's3:PutObject'], files),
      allow(['s3:GetObject'], bucket.arnForObjects(`${objectPrefixes.revoked}*`)),
      allow(['s3:GetObject'], `arn:${Aws.PARTITION}:s3:::prod-${Aws.REGION}-starport-layer-bucket/*`),
    ],
  });
}

/**
 * The job definition of an engine: its image with another command, and no role. Only the execution role, whose credentials
 * the container does not get, pulls the image and writes the log.
 */
export class BatchJob extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, catalogue: EngineCatalogue, environment: Record<string, string>) {
    super(scope, id);
    const { batchHours, batchVcpus, batchMemoryMegabytes, batchDiskGigabytes } = sizesOf(catalogue.resources);
    const folder = folderOf(catalogue);
    const image = engineImage(this, 'Image', folder);
    const logs = expiringLogs(this, 'Logs');
    const executionRole = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
      description: `Starts jobs: ${catalogue.summary}`,
      inlinePolicies: {
        Permissions: new PolicyDocument({
          statements: [
            // It has no resource level.
            new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
            new PolicyStatement({
              actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
              resources: [image.repository.repositoryArn],
            }),
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logs.logGroupArn],
            }),
          ],
        }),
      },
    });
    const variables = {
      ...environment,
      // Engines read their memory from this variable, wherever they run.
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(batchMemoryMegabytes),
    };
    const definition = new CfnJobDefinition(this, 'Definition', {
      type: 'container',
      platformCapabilities: ['FARGATE'],
      // A worker repeats a job once itself, with another mailbox.
      retryStrategy: { attempts: 1 },
      timeout: { attemptDurationSeconds: batchHours * 3_600 },
      schedulingPriority: 1,
      propagateTags: true,
      containerProperties: {
        image: image.imageUri,
        command: ['node', jobEntry],
        environment: Object.entries(variables).map(([name, value]) => ({ name, value })),
        resourceRequirements: [
          { type: 'VCPU', value: String(batchVcpus) },
          { type: 'MEMORY', value: String(batchMemoryMegabytes) },
        ],
        ephemeralStorage: { sizeInGiB: batchDiskGigabytes },
        executionRoleArn: executionRole.roleArn,
        fargatePlatformConfiguration: { platformVersion: 'LATEST' },
        networkConfiguration: { assignPublicIp: 'DISABLED' },
        runtimePlatform: {
          cpuArchitecture: engineArchitecture(this) === Architecture.ARM_64 ? 'ARM64' : 'X86_64',
          operatingSystemFamily: 'LINUX',
        },
        // The disk is that of the container: a volume for /tmp would belong to root. A job serves one task and ends.
        readonlyRootFilesystem: false,
        logConfiguration: {
          logDriver: 'awslogs',
          options: {
            'awslogs-group': logs.logGroupName,
            'awslogs-region': Stack.of(this).region,
            'awslogs-stream-prefix': catalogue.engine,
          },
        },
      },
    });
    definition.addMetadata(entryMetadata, `${folder}/handler.ts`);
    this.arn = definition.ref;
  }
}
