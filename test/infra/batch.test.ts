import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { synthesize } from '../../infra/build/synth.ts';
import { readFlattened } from '../../packages/local-aws/src/template/flatten.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { functionOf } from '../support/running-stack.ts';
import { readSynthesized, resourcesOf, statementsOf, type Template } from '../support/template.ts';

const origins = { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' };
const isOfBatch = (type: string) => /^AWS::(?:Batch|EC2)::/.test(type);

test('Nothing of AWS Batch is in the template by default', async () => {
  const template = await readSynthesized();
  expect(Object.values(template.Resources).filter(({ Type }) => isOfBatch(Type))).toEqual([]);
  expect(JSON.stringify(template)).not.toMatch(/batch:\w*Jobs?"|LATHE_BATCH/);
});

test('An engine with hours on AWS Batch gets jobs without permissions or a way to the internet', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  try {
    const context = {
      'media.batchHours': '4',
      'media.batchVcpus': '8',
      'media.batchDiskGigabytes': '100',
      page: 'false',
    };
    const path = await synthesize(folder, context);
    const template: Template = JSON.parse(JSON.stringify(readFlattened(path)));

    const types = Object.values(template.Resources)
      .map(({ Type }) => Type)
      .filter(isOfBatch);
    expect(types.toSorted()).toEqual([
      'AWS::Batch::ComputeEnvironment',
      'AWS::Batch::JobDefinition',
      'AWS::Batch::JobQueue',
      'AWS::Batch::SchedulingPolicy',
      'AWS::EC2::RouteTable',
      'AWS::EC2::SecurityGroup',
      'AWS::EC2::SecurityGroup',
      'AWS::EC2::Subnet',
      'AWS::EC2::SubnetRouteTableAssociation',
      'AWS::EC2::VPC',
      ...Array(4).fill('AWS::EC2::VPCEndpoint'),
    ]);
    const [definition] = resourcesOf(template, 'AWS::Batch::JobDefinition');
    expect(definition?.Properties).toMatchObject({
      PlatformCapabilities: ['FARGATE'],
      RetryStrategy: { Attempts: 1 },
      Timeout: { AttemptDurationSeconds: 4 * 3_600 },
      ContainerProperties: {
        EphemeralStorage: { SizeInGiB: 100 },
        NetworkConfiguration: { AssignPublicIp: 'DISABLED' },
        ResourceRequirements: [
          { Type: 'VCPU', Value: '8' },
          { Type: 'MEMORY', Value: '16384' },
        ],
      },
    });
    expect(definition?.Properties.ContainerProperties).not.toHaveProperty('JobRoleArn');
    const [role, ...others] = resourcesOf(template, 'AWS::IAM::Role').filter(({ Properties }) =>
      JSON.stringify(Properties.AssumeRolePolicyDocument).includes('ecs-tasks.amazonaws.com'),
    );
    expect(others).toEqual([]);
    expect(
      role &&
        statementsOf(role)
          .flatMap(({ Action }) => Action)
          .toSorted(),
    ).toEqual([
      'ecr:BatchCheckLayerAvailability',
      'ecr:BatchGetImage',
      'ecr:GetAuthorizationToken',
      'ecr:GetDownloadUrlForLayer',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);

    const stack = readTemplate({ template: path, origins, parameters: {} });
    const grantsOf = (engine: string) =>
      functionOf(stack, { worker: engine }).role.statements.filter(({ actions }) =>
        actions.some((each) => each.startsWith('batch:')),
      );
    const [queue] = stack.jobQueues;
    const [job] = stack.jobDefinitions;
    const jobs = `arn:aws:batch:${stack.region}:${stack.account}:job/*`;
    expect(queue?.maxVcpus).toBe(32);
    expect(grantsOf('image')).toEqual([]);
    expect(
      grantsOf('media').map(({ actions, resources, conditions }) => [...actions, ...resources, conditions]),
    ).toEqual([
      ['batch:SubmitJob', queue?.arn, job?.arn, {}],
      ['batch:TagResource', jobs, {}],
      ['batch:DescribeJobs', '*', {}],
      ['batch:TerminateJob', jobs, { StringEquals: { 'aws:ResourceTag/lathe-queue': [queue?.arn] } }],
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
