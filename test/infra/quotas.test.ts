import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Route } from '../../functions/api/http/route.ts';
import { routes } from '../../functions/api/routes.ts';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { encodeSizes, sizeRanges } from '../../shared/catalogue/sizes.ts';
import { numberSettings } from '../../shared/settings.ts';
import { resourcesOf, type Template } from '../support/template.ts';

const path = await currentTemplate();
const templates = readdirSync(dirname(path))
  .filter((name) => name.endsWith('.template.json'))
  .map((name) => {
    const text = readFileSync(join(dirname(path), name), 'utf8');
    return { name: name.replace(/[0-9A-F]{8}\.nested\.template\.json$|\.template\.json$/, ''), text, ...parse(text) };
  });
const stack = readTemplate({
  template: path,
  origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
  parameters: {},
});

/** Number of endpoints that must still fit into the stack. */
const room = 60;
const endpoints = new Set(Object.entries<Route>(routes).map(([name, { sharedFunction = name }]) => sharedFunction))
  .size;

function parse(text: string): Template {
  return JSON.parse(text);
}

function sizesOf({ name, text, Resources, Parameters = {}, Outputs = {} }: (typeof templates)[number]) {
  const isApi = name === 'LatheApi';
  return {
    resources: Object.keys(Resources).length + (isApi ? room * resourcesPerEndpoint() : 0),
    bytes: text.length * (isApi ? (endpoints + room) / endpoints : 1),
    parameters: Object.keys(Parameters).length,
    outputs: Object.keys(Outputs).length,
  };
}

function resourcesPerEndpoint(): number {
  const api = templates.find(({ name }) => name === 'LatheApi');
  const found = Object.keys(api?.Resources ?? {}).filter((id) => /^HttpShowTask(?![a-z])/.test(id));
  return found.length;
}

describe('CloudFormation', () => {
  test('has a stack for the service, and two for endpoints, which take four resources each', () => {
    expect(templates.map(({ name }) => name).sort()).toEqual(['Lathe', 'LatheApi', 'LatheInstant']);
    expect(resourcesPerEndpoint()).toBe(4);
  });

  test.for(templates.map((template) => [template.name, template] as const))(
    'takes the template of %s with 60 more endpoints: 500 resources, 200 parameters, 200 outputs, 1 MB',
    ([, template]) => {
      const { resources, bytes, parameters, outputs } = sizesOf(template);
      expect(resources).toBeLessThan(480);
      expect(bytes).toBeLessThan(900_000);
      expect(parameters).toBeLessThan(150);
      expect(outputs).toBeLessThan(150);
    },
  );

  test('gives the functions of the root stack room for 20 more engines', () => {
    const root = templates.find(({ name }) => name === 'Lathe');
    const ofEngine = Object.keys(root?.Resources ?? {}).filter((id) => /^Engineimage/.test(id)).length + 1;
    expect(Object.keys(root?.Resources ?? {}).length + 20 * ofEngine).toBeLessThan(480);
  });
});

test('API Gateway takes 60 more routes and integrations: 300 of each in an API', () => {
  const [api] = stack.httpApis;
  const heads = Object.values<Route>(routes).filter(({ alsoHead }) => alsoHead).length;
  expect((api?.routes.length ?? 0) + room + heads).toBeLessThan(300);
});

/** The longest possible ARN of a function: longest region name, and longest name from CloudFormation. */
const longestArn = `arn:aws-us-gov:lambda:ap-southeast-2:${'0'.repeat(12)}:function:${'x'.repeat(64)}`;

describe('IAM', () => {
  test('takes the policy of each function: 10,240 characters in a role', () => {
    for (const { role } of stack.functions) {
      // Deployed names are longer: CloudFormation adds the stack's name and a suffix to the logical id.
      const text = JSON.stringify(role.statements).replaceAll(/arn:aws:[^"]+/g, (arn) => arn.padEnd(140, 'x'));
      expect(text.length, role.logicalId).toBeLessThan(10_240 * 0.9);
    }
  });

  test('takes the policies that API Gateway invokes functions by, with 60 more endpoints spread like those of today', () => {
    const invokers = new Set(stack.httpApis.flatMap(({ routes: all }) => all.flatMap(({ invoker = [] }) => invoker)));
    expect(invokers.size).toBeGreaterThan(1);
    for (const { logicalId, statements } of invokers) {
      const targets = statements.flatMap(({ resources }) => resources).length * ((endpoints + room) / endpoints);
      expect(targets * (longestArn.length + 3), logicalId).toBeLessThan(10_240 * 0.9);
    }
  });

  test('takes the description of each role: 1,000 characters', () => {
    for (const template of templates)
      for (const { id, Properties } of resourcesOf(template, 'AWS::IAM::Role'))
        expect(String(Properties.Description).length, id).toBeLessThan(1_000);
  });
});

/** Queues that deviate from AWS's advice, with reasons. */
const exceptions = new Map([
  [
    'EventsRelay',
    'a relay that died blocks its jobs for that long, and no event is dropped before the thousandth receive',
  ],
]);

/** Lists the queues whose visibility timeout or maximum receives deviate from AWS's advice. */
function queueProblems({ queueSources }: Pick<LocalStack, 'queueSources'>): string[] {
  return queueSources.flatMap(({ queue, function: target, batchingWindowSeconds }) => {
    const name = target.logicalId.replace(/Function[0-9A-F]{8}$/, '');
    if (exceptions.has(name)) return [];
    const advised = 6 * target.timeoutSeconds + batchingWindowSeconds;
    const { maxReceiveCount } = JSON.parse(queue.attributes.RedrivePolicy ?? '{}');
    return [
      ...(Number(queue.attributes.VisibilityTimeout) < advised ? [`${name}: hidden for less than ${advised} s`] : []),
      ...(maxReceiveCount === undefined || maxReceiveCount === 5 ? [] : [`${name}: ${maxReceiveCount} receives`]),
    ];
  });
}

describe('SQS', () => {
  test('hides messages six times as long as functions run and delivers them five times, as AWS advises', () => {
    expect(queueProblems(stack)).toEqual([]);
    for (const name of exceptions.keys())
      expect(stack.queueSources.some(({ function: fn }) => fn.logicalId.startsWith(`${name}Function`))).toBe(true);
  });

  test('detects a queue that does not', () => {
    const [source] = stack.queueSources.filter(({ queue }) => queue.attributes.RedrivePolicy !== undefined);
    if (!source) throw new Error('No source has a queue with dead letters.');
    const changed = (attributes: Record<string, string>, batchingWindowSeconds = 0) =>
      queueProblems({
        queueSources: [
          {
            ...source,
            batchingWindowSeconds,
            queue: { ...source.queue, attributes: { ...source.queue.attributes, ...attributes } },
          },
        ],
      });
    const advised = 6 * source.function.timeoutSeconds;
    expect(changed({ VisibilityTimeout: String(advised) })).toEqual([]);
    expect(changed({ VisibilityTimeout: String(advised - 1) })).toHaveLength(1);
    expect(changed({ VisibilityTimeout: String(advised) }, 1)).toHaveLength(1);
    expect(changed({ RedrivePolicy: '{"maxReceiveCount":4}' })).toHaveLength(1);
  });
});

/** Variables whose length is the same in every deployment. */
const numbers: ReadonlySet<string> = new Set(Object.values(numberSettings).map(({ variable }) => variable));
const sameEverywhere = ['LATHE_DISTRIBUTION_KEY', 'LATHE_SHARED_QUEUES', 'LATHE_VERSION', 'POWERTOOLS_SERVICE_NAME'];

describe('Lambda', () => {
  test('reserves concurrency for waits and nothing else, and leaves most of the 1,000 of an account', () => {
    const reserved = stack.functions.filter(({ reservedConcurrency }) => reservedConcurrency !== undefined);
    expect(reserved.map(({ entry }) => basename(entry)).sort()).toEqual(['wait-for-job.ts', 'wait-for-task.ts']);
    const sum = reserved.reduce((all, { reservedConcurrency = 0 }) => all + reservedConcurrency, 0);
    expect(sum).toBeLessThanOrEqual(200);
  });

  test('takes the environment of each function, with every size of every engine chosen: 4 KB', () => {
    const sizes = Object.fromEntries(Object.entries(sizeRanges).map(([name, { max }]) => [name, max]));
    const chosen = encodeSizes(Object.fromEntries(engineCatalogues.map(({ engine }) => [engine, sizes])));
    for (const { logicalId, environment } of stack.functions) {
      // Deployed queue URLs, which name region, account and stack, are longer; other names are at most 64 characters, and
      // settings that are numbers at most the 16 digits of a safe integer.
      const lengths = Object.entries(environment).map(([name, value]) => {
        const longest = /^https?:/.test(value) ? 150 : Math.max(numbers.has(name) ? 16 : 64, value.length);
        return name.length + (sameEverywhere.includes(name) ? value.length : longest) + 6;
      });
      expect(
        lengths.reduce((sum, length) => sum + length, 'LATHE_SIZES'.length + chosen.length + 6),
        logicalId,
      ).toBeLessThan(4_096);
    }
  });

  test('takes the description of each function: 256 characters', () => {
    for (const template of templates)
      for (const { id, Properties } of resourcesOf(template, 'AWS::Lambda::Function'))
        expect(String(Properties.Description).length, id).toBeLessThanOrEqual(256);
  });
});
