import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NotUnderstood } from '../../packages/local-aws/src/template/properties.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { type Json, readSynthesized, resourcesOf, type Template, type TemplateResource } from '../support/template.ts';

const original = await readSynthesized();

/** Reads a changed copy of the template. */
function readChanged(change: (template: Template) => void): void {
  const template: Template = structuredClone(original);
  change(template);
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'lathe-test-'));
  const folder = temporary.path;
  const path = join(folder, 'template.json');
  writeFileSync(path, JSON.stringify(template));
  readTemplate({
    template: path,
    origins: { api: 'http://localhost:1', gate: 'http://127.0.0.1:1' },
    parameters: {},
  });
}

function first(template: Template, type: string): TemplateResource {
  const [found] = resourcesOf(template, type);
  const resource = found && template.Resources[found.id];
  if (!resource) throw new Error(`The template has no ${type}.`);
  return resource;
}

function within(value: Json | undefined, ...path: (string | number)[]): Record<string, Json> {
  const found = path.reduce<unknown>((current, step) => Object(current)[step], value);
  if (typeof found !== 'object' || found === null) throw new Error(`There is nothing at ${path.join('.')}.`);
  return found as Record<string, Json>;
}

test('the template as it is can be read', () => {
  expect(() => readChanged(() => {})).not.toThrow();
});

describe('an error names what the local stack would not run as AWS does', () => {
  test.for<[string, (template: Template) => void, RegExp]>([
    [
      'a resource of an unknown type',
      (template) => {
        template.Resources.Mystery = { Type: 'AWS::Kinesis::Stream', Properties: {} };
      },
      /AWS::Kinesis::Stream \(Mystery\)/,
    ],
    [
      'an unknown property of a function',
      (template) => {
        first(template, 'AWS::Lambda::Function').Properties.SnapStart = { ApplyOn: 'PublishedVersions' };
      },
      /AWS::Lambda::Function\)\.SnapStart/,
    ],
    [
      'an unknown property inside a rule of the bucket',
      (template) => {
        const bucket = first(template, 'AWS::S3::Bucket');
        within(bucket.Properties.LifecycleConfiguration, 'Rules', 0).NoncurrentVersionExpirationInDays = 1;
      },
      /LifecycleConfiguration\.Rules\[0\]\.NoncurrentVersionExpirationInDays/,
    ],
    [
      'an unknown property of an index of the table',
      (template) => {
        const table = first(template, 'AWS::DynamoDB::Table');
        within(table.Properties.GlobalSecondaryIndexes, 0).ContributorInsightsSpecification = { Enabled: true };
      },
      /GlobalSecondaryIndexes\[0\]\.ContributorInsightsSpecification/,
    ],
    [
      'a filter of the events of a queue',
      (template) => {
        first(template, 'AWS::Lambda::EventSourceMapping').Properties.FilterCriteria = { Filters: [] };
      },
      /EventSourceMapping\)\.FilterCriteria/,
    ],
    [
      'an authorizer of a route',
      (template) => {
        first(template, 'AWS::ApiGatewayV2::Route').Properties.AuthorizationType = 'AWS_IAM';
      },
      /AuthorizationType: expected "NONE" but found "AWS_IAM"/,
    ],
    [
      'another runtime',
      (template) => {
        const fn = Object.values(template.Resources).find(({ Properties }) => Properties.Runtime === 'nodejs24.x');
        if (fn) fn.Properties.Runtime = 'python3.14';
      },
      /has the runtime python3.14, and only those of Node run here/,
    ],
    [
      'an unknown intrinsic function',
      (template) => {
        first(template, 'AWS::Lambda::Function').Properties.Timeout = { 'Fn::Length': [60, 30] };
      },
      /Fn::Length/,
    ],
    [
      'a reference to nothing',
      (template) => {
        first(template, 'AWS::Lambda::EventSourceMapping').Properties.EventSourceArn = {
          'Fn::GetAtt': ['Gone', 'Arn'],
        };
      },
      /Gone/,
    ],
    [
      'a condition on a resource',
      (template) => {
        Object.assign(first(template, 'AWS::SQS::Queue'), { Condition: 'OnlySometimes' });
      },
      /\.Condition is not understood/,
    ],
    [
      'a section of the template',
      (template) => {
        Object.assign(template, { Mappings: { Sizes: {} } });
      },
      /Template\.Mappings/,
    ],
    [
      'a condition that is not there',
      (template) => {
        first(template, 'AWS::Lambda::Function').Properties.Timeout = { 'Fn::If': ['Big', 60, 30] };
      },
      /Nothing in the template is called Big/,
    ],
    [
      'an unknown tenant isolation mode',
      (template) => {
        first(template, 'AWS::Lambda::Function').Properties.TenancyConfig = { TenantIsolationMode: 'PER_GROUP' };
      },
      /has the tenant isolation mode PER_GROUP/,
    ],
    [
      'a function with tenants behind a queue or a route, which name none',
      (template) => {
        for (const { Properties } of resourcesOf(template, 'AWS::Lambda::Function'))
          Properties.TenancyConfig = { TenantIsolationMode: 'PER_TENANT' };
      },
      /is invoked by a service, which names no tenant/,
    ],
    [
      'a route that API Gateway may not call its function for',
      (template) => {
        for (const { id } of resourcesOf(template, 'AWS::Lambda::Permission')) delete template.Resources[id];
      },
      /apigateway\.amazonaws\.com has no permission to call Sockets\w+/,
    ],
    [
      'a queue with a visibility timeout below the timeout of its function',
      (template) => {
        for (const { id } of resourcesOf(template, 'AWS::SQS::Queue')) {
          const queue = template.Resources[id];
          if (queue) queue.Properties.VisibilityTimeout = 1;
        }
      },
      /visibility timeout \(1 s\) is shorter than the function's/,
    ],
    [
      'a role that others than Lambda may assume',
      (template) => {
        const role = first(template, 'AWS::IAM::Role');
        within(role.Properties.AssumeRolePolicyDocument, 'Statement', 0).Principal = { Service: 'ec2.amazonaws.com' };
      },
      /can be assumed by others than Lambda, API Gateway, Fargate and its own account/,
    ],
    [
      'a role of an integration that API Gateway may not assume',
      (template) => {
        const [fn] = resourcesOf(template, 'AWS::Lambda::Function');
        const integration = Object.values(template.Resources).find(({ Properties }) => Properties.CredentialsArn);
        if (fn && integration) integration.Properties.CredentialsArn = fn.Properties.Role ?? null;
      },
      /has credentials of a role that API Gateway may not assume/,
    ],
    [
      'a role of an integration that does not allow the invocation',
      (template) => {
        const role = Object.values(template.Resources).find(({ Properties }) =>
          JSON.stringify(Properties.AssumeRolePolicyDocument ?? '').includes('apigateway'),
        );
        within(role?.Properties.Policies, 0, 'PolicyDocument', 'Statement', 0).Action = 'lambda:GetFunction';
      },
      /: HttpInvoke\w+ has no permission to call Http\w+/,
    ],
    [
      'an alarm over an expression',
      (template) => {
        first(template, 'AWS::CloudWatch::Alarm').Properties.Metrics = [{ Id: 'm1', Expression: 'm2 + m3' }];
      },
      /AWS::CloudWatch::Alarm\)\.Metrics/,
    ],
    [
      'another comparison of an alarm',
      (template) => {
        first(template, 'AWS::CloudWatch::Alarm').Properties.ComparisonOperator = 'LessThanThreshold';
      },
      /ComparisonOperator: expected "GreaterThanOrEqualToThreshold" but found "LessThanThreshold"/,
    ],
    [
      'an alarm with a longer window than CloudWatch allows',
      (template) => {
        first(template, 'AWS::CloudWatch::Alarm').Properties.EvaluationPeriods = 1_000;
      },
      /looks back for more than a day/,
    ],
    [
      'a topic that does not allow alarms to publish',
      (template) => {
        const { Statement } = within(first(template, 'AWS::SNS::TopicPolicy').Properties.PolicyDocument);
        first(template, 'AWS::SNS::TopicPolicy').Properties.PolicyDocument = {
          Version: '2012-10-17',
          Statement: [Statement ?? []].flat().filter((statement) => within(statement).Effect === 'Deny'),
        };
      },
      /does not allow cloudwatch\.amazonaws\.com to publish/,
    ],
    [
      'a trigger of the user pool',
      (template) => {
        first(template, 'AWS::Cognito::UserPool').Properties.LambdaConfig = { PreSignUp: 'arn' };
      },
      /AWS::Cognito::UserPool\)\.LambdaConfig/,
    ],
    [
      'a client of the user pool with a secret',
      (template) => {
        first(template, 'AWS::Cognito::UserPoolClient').Properties.GenerateSecret = true;
      },
      /GenerateSecret: expected false but found true/,
    ],
    [
      'a client of the user pool that receives tokens without a code',
      (template) => {
        first(template, 'AWS::Cognito::UserPoolClient').Properties.AllowedOAuthFlows = ['implicit'];
      },
      /has the OAuth flows implicit instead of code/,
    ],
    [
      'a distribution that caches responses of the API',
      (template) => {
        const config = first(template, 'AWS::CloudFront::Distribution').Properties.DistributionConfig;
        within(config, 'DefaultCacheBehavior').CachePolicyId = '658327ea-f89d-4fab-a63d-7e88639e58f6';
      },
      /DefaultCacheBehavior\.CachePolicyId: expected "4135ea2d/,
    ],
    [
      "a distribution that returns one caller's refusal to another",
      (template) => {
        const config = within(first(template, 'AWS::CloudFront::Distribution').Properties.DistributionConfig);
        config.CustomErrorResponses = [];
      },
      /keeps responses of status 400, 403, 404/,
    ],
    [
      'a distribution that does not wait for the API',
      (template) => {
        const config = first(template, 'AWS::CloudFront::Distribution').Properties.DistributionConfig;
        within(config, 'Origins', 0, 'CustomOriginConfig').OriginReadTimeout = 30;
      },
      /does not wait for \w+\.execute-api/,
    ],
    [
      'a distribution that may not read its bucket',
      (template) => {
        const policy = Object.values(template.Resources).find(({ Properties }) =>
          JSON.stringify(Properties.PolicyDocument ?? '').includes('cloudfront.amazonaws.com'),
        );
        within(policy?.Properties.PolicyDocument, 'Statement', 1, 'Condition', 'StringEquals')['AWS:SourceArn'] =
          'other';
      },
      /PageDistribution\w+ may not read arn:aws:s3:::page/,
    ],
    [
      'a CloudFront function on another runtime',
      (template) => {
        const config = first(template, 'AWS::CloudFront::Function').Properties.FunctionConfig;
        within(config).Runtime = 'cloudfront-js-1.0';
      },
      /Runtime: expected "cloudfront-js-2.0" but found "cloudfront-js-1.0"/,
    ],
    [
      'a policy of nobody',
      (template) => {
        template.Resources.Wider = { Type: 'AWS::IAM::Policy', Properties: {} };
      },
      /Wider is attached to no role/,
    ],
    [
      'a policy that AWS manages',
      (template) => {
        first(template, 'AWS::IAM::Role').Properties.ManagedPolicyArns = [
          'arn:aws:iam::aws:policy/AdministratorAccess',
        ];
      },
      /has the managed policy arn:aws:iam::aws:policy\/AdministratorAccess, which is not known here/,
    ],
  ])('such as %s', ([, change, message]) => {
    expect(() => readChanged(change)).toThrow(NotUnderstood);
    expect(() => readChanged(change)).toThrow(message);
  });
});
