import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnOutput, CfnResource, Stack } from 'aws-cdk-lib';
import { CfnUserPool } from 'aws-cdk-lib/aws-cognito';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Route } from '../../functions/api/http/route.ts';
import { routes } from '../../functions/api/routes.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { accepted, checkTemplates, ReviewedChecks } from '../../infra/checks.ts';
import { LatheStack } from '../../infra/lathe-stack.ts';
import { decodeSizes } from '../../shared/catalogue/sizes.ts';
import type { Json, Template, TemplateResource } from '../support/template.ts';

const folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function appWith(name: string, context: Record<string, unknown> = {}): App {
  const { context: usual } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  const outdir = join(folder, name);
  return new App({ outdir, context: { ...usual, ...context, 'aws:cdk:bundling-stacks': [] } });
}

/** Synthesizes quietly and returns the broken rules, if any. */
function brokenRules(app: App): string[] {
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  try {
    app.synth();
    return [];
  } catch (error) {
    expect(String(error)).toContain('ValidationFailed');
    const report = readFileSync(join(app.outdir, 'validation-report.json'), 'utf8');
    return [...report.matchAll(/"ruleName":\s*"([^"]+)"/g)].map(([, rule]) => rule ?? '');
  } finally {
    printed.mockRestore();
    logged.mockRestore();
  }
}

function readTemplates({ outdir }: App): Pick<Template, 'Resources' | 'Outputs'> {
  const texts = readdirSync(outdir).filter((name) => name.endsWith('.template.json'));
  const templates = texts.map((name): Template => JSON.parse(readFileSync(join(outdir, name), 'utf8')));
  return {
    Resources: Object.assign({}, ...templates.map(({ Resources }) => Resources)),
    Outputs: Object.assign({}, ...templates.map(({ Outputs }) => Outputs)),
  };
}

/** Every context value that adds or changes resources. */
const everything = {
  stage: 'prod',
  preset: 'small',
  region: 'eu-central-1',
  logDays: '90',
  throttleRate: '50',
  throttleBurst: '100',
  domain: 'api.example.com',
  socketsDomain: 'live.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/0',
  socketsCertificateArn: 'arn:aws:acm:eu-central-1:000000000000:certificate/0',
  priceClass: '200',
  webAclArn: 'arn:aws:wafv2:us-east-1:000000000000:global/webacl/a/b',
  openBuckets: 'opened',
  signUp: 'true',
  'media.diskMegabytes': '4096',
  'media.batchHours': '4',
};

const plain = appWith('plain');
new LatheStack(plain, 'Lathe', {});
const full = appWith('full', everything);
new LatheStack(full, 'Lathe', { env: { region: everything.region } });

describe('the templates', () => {
  test('break no rule of CloudFormation, of the services or of AwsSolutions', { timeout: 300_000 }, () => {
    checkTemplates(full);
    expect(brokenRules(full)).toEqual([]);
  });

  test('break no rule of AwsSolutions by default either', () => {
    expect(new ReviewedChecks(plain).validateScope(plain).violations).toEqual([]);
  });

  test('break every accepted rule somewhere', () => {
    const found = [plain, full].flatMap((app) => new AwsSolutionsChecks(app).validateScope(app).violations);
    for (const { rule, where, reason } of accepted) {
      const broken = found.filter(({ ruleName }) => rule.test(ruleName)).flatMap((each) => each.violatingResources);
      expect(
        broken.some(({ constructPath = '' }) => where.test(constructPath)),
        `${rule} ${where}`,
      ).toBe(true);
      expect(reason.length).toBeGreaterThan(50);
    }
  });
});

test('a broken stack is not synthesized, by the validation of the CDK as by cdk-preflight and AwsSolutions', () => {
  const app = appWith('broken');
  const stack = new Stack(app, 'Broken');
  const lambda = { code: { zipFile: 'x' }, handler: 'index.handler', role: 'arn:aws:iam::000000000000:role/x' };
  const variables = { LARGE: 'x'.repeat(5_000) };
  new CfnFunction(stack, 'Large', { ...lambda, runtime: 'nodejs24.x', environment: { variables } });
  new CfnQueue(stack, 'Queue').addPropertyOverride('VisibilityTimeout', ['long']);
  new Bucket(stack, 'Bucket');
  checkTemplates(app);
  expect(brokenRules(app)).toEqual(expect.arrayContaining(['F3012', 'pf-lambda-env-size', 'AwsSolutions-S10']));
});

test('an error of the validation of the CDK is enough', () => {
  const app = appWith('mistyped');
  new CfnQueue(new Stack(app, 'Mistyped'), 'Queue', { sqsManagedSseEnabled: true }).addPropertyOverride(
    'DelaySeconds',
    ['x'],
  );
  checkTemplates(app);
  expect(brokenRules(app)).toContain('F3012');
});

/** Returns all resources in the templates of an app. */
function resourcesIn(app: App): TemplateResource[] {
  return Object.values(readTemplates(app).Resources);
}

describe('the preset small', () => {
  test('stays within a new account: 3,008 MB, and nothing reserved of its concurrency of ten', () => {
    for (const { Type, Properties } of resourcesIn(full)) {
      if (Type !== 'AWS::Lambda::Function') continue;
      expect(Properties.MemorySize).toBeLessThanOrEqual(3_008);
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  test('has queues invoke at most two functions concurrently, the minimum of SQS, and leaves two of ten to requests', () => {
    const mappings = resourcesIn(full).filter(({ Type }) => Type === 'AWS::Lambda::EventSourceMapping');
    for (const { Properties = {} } of mappings) expect(Properties.ScalingConfig).toEqual({ MaximumConcurrency: 2 });
    const workers = mappings.filter(({ Properties: { FunctionName } = {} }) =>
      /Worker/.test(JSON.stringify(FunctionName)),
    );
    // Each worker waits for its engine, which counts as well.
    expect(2 * (mappings.length + workers.length)).toBe(8);
  });

  test('does not hold waits', () => {
    const held = resourcesIn(full).filter(({ Properties }) =>
      JSON.stringify(Properties).includes('LATHE_HOLDS_REQUESTS'),
    );
    const waiting = Object.entries<Route>(routes).filter(([, { bucket, mayWait }]) => bucket === 'wait' || mayWait);
    const functions = new Map(waiting.toReversed().map(([name, route]) => [route.sharedFunction ?? name, route]));
    const described = held.map(({ Properties }) => String(Properties.Description).replace(/: .*/s, ''));
    expect(described.toSorted()).toEqual(
      [...functions.values()].map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
  });

  test('passes functions the sizes that they compute with', () => {
    const told = resourcesIn(full).flatMap(({ Properties: { Environment } = {} }) => {
      const { LATHE_SIZES } = (Environment as { Variables: Record<string, Json> } | undefined)?.Variables ?? {};
      return typeof LATHE_SIZES === 'string' ? [LATHE_SIZES] : [];
    });
    const functions = new Set(Object.entries<Route>(routes).map(([name, { sharedFunction = name }]) => sharedFunction));
    expect(told.length).toBeGreaterThan(functions.size);
    expect(decodeSizes(told[0])).toMatchObject({
      media: { memoryMegabytes: 3_008, diskMegabytes: 4_096, maxConcurrency: 1 },
      archive: { maxConcurrency: 1 },
    });
  });
});

describe('a stage', () => {
  test('gives no resource a fixed name, so that several stacks can coexist', () => {
    const named = ['BucketName', 'TableName', 'QueueName', 'FunctionName', 'RoleName', 'LogGroupName', 'LayerName'];
    for (const [id, { Type, Properties = {} }] of Object.entries(readTemplates(full).Resources)) {
      if (Type === 'AWS::Lambda::EventSourceMapping' || Type === 'AWS::Lambda::Permission') continue;
      expect(
        Object.keys(Properties).filter((name) => named.includes(name)),
        id,
      ).toEqual([]);
    }
  });

  test('names global resources by itself and its region', () => {
    const global = resourcesIn(full).filter(({ Type }) => /^AWS::CloudFront::(?!Distribution)/.test(Type));
    const names = global.map(({ Properties }) => /"Name":"([^"]+)"/.exec(JSON.stringify(Properties))?.[1]);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(name).toMatch(/^Lathe-eu-central-1-[a-z]+$/);
  });

  test('has custom hosts if they are given', () => {
    const { Outputs, Resources } = readTemplates(full);
    expect(Outputs.ApiUrl).toMatchObject({ Value: 'https://api.example.com' });
    expect(Outputs.SocketsUrl).toMatchObject({ Value: 'wss://live.example.com/live' });
    const hosts = Object.values(Resources).filter(({ Type }) => Type === 'AWS::ApiGatewayV2::DomainName');
    expect(hosts.map(({ Properties }) => Properties.DomainName)).toEqual(['live.example.com']);
    const [distribution] = Object.values(Resources).filter(({ Type }) => Type === 'AWS::CloudFront::Distribution');
    expect(distribution?.Properties.DistributionConfig).toMatchObject({
      Aliases: ['api.example.com'],
      PriceClass: 'PriceClass_200',
      ViewerCertificate: { AcmCertificateArn: everything.certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
      WebACLId: everything.webAclArn,
    });
  });

  test('keeps logs as long as configured', () => {
    const groups = resourcesIn(full).filter(({ Type }) => Type === 'AWS::Logs::LogGroup');
    for (const { Properties } of groups) expect(Properties.RetentionInDays).toBe(90);
  });
});

test('without a page there is no distribution, and the API is at the host of API Gateway', () => {
  const app = appWith('no-page', { page: 'false' });
  const stack = new LatheStack(app, 'Lathe', {});
  const types = stack.node.findAll().flatMap((each) => (CfnResource.isCfnResource(each) ? [each.cfnResourceType] : []));
  expect(types.filter((type) => type.startsWith('AWS::CloudFront::') || type.startsWith('Custom::'))).toEqual([]);
  const output = stack.node.findChild('ApiUrl');
  if (!(output instanceof CfnOutput)) throw new Error('The stack has no ApiUrl.');
  expect(JSON.stringify(stack.resolve(output.value))).toMatch(/"HttpApi\w+","ApiEndpoint"/);
});

describe('people sign in', () => {
  const propertiesOf = (type: string) =>
    resourcesIn(full)
      .filter(({ Type }) => Type === type)
      .map(({ Properties }) => Properties);

  test('by a user pool of the stack, which leads back to the host of the stage', () => {
    expect(propertiesOf('AWS::Cognito::UserPoolClient')).toMatchObject([
      { CallbackURLs: ['https://api.example.com/auth/callback'], LogoutURLs: ['https://api.example.com/'] },
    ]);
  });

  test('after they have signed up themselves, if that is allowed', () => {
    expect(propertiesOf('AWS::Cognito::UserPool')).toMatchObject([
      { AdminCreateUserConfig: { AllowAdminCreateUserOnly: false } },
    ]);
  });

  test('by the pages of Cognito, at a host that no other stage has', () => {
    expect(propertiesOf('AWS::Cognito::UserPoolDomain')).toMatchObject([
      { Domain: { 'Fn::Join': ['', ['lathe-', { Ref: expect.stringMatching(/^HttpApi/) }]] }, ManagedLoginVersion: 2 },
    ]);
    expect(propertiesOf('AWS::Cognito::ManagedLoginBranding')).toMatchObject([{ UseCognitoProvidedValues: true }]);
  });

  test('at another issuer if one is named, without a pool of the stack', () => {
    const app = appWith('issuer', { oidcIssuer: 'https://login.example.com/realms/a', oidcClientId: 'lathe' });
    const stack = new LatheStack(app, 'Lathe', {});
    expect(stack.node.findAll().filter((each) => each instanceof CfnUserPool)).toEqual([]);
  });

  test.for<[Record<string, string>, RegExp]>([
    [{ oidcIssuer: 'https://login.example.com' }, /both oidcIssuer and oidcClientId/],
    [{ oidcClientId: 'lathe' }, /both oidcIssuer and oidcClientId/],
    [{ oidcIssuer: 'http://login.example.com', oidcClientId: 'lathe' }, /an https URL for oidcIssuer/],
    [{ signUp: 'maybe' }, /true or false for signUp/],
  ])('not by half a setting: %j', ([context, message]) => {
    expect(() => new LatheStack(appWith('mistake', context), 'Lathe', {})).toThrow(message);
  });
});
