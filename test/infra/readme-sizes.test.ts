import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';

test('the guide asks for the concurrency that the stack uses when every queue is at its maximum', async () => {
  const { functions, queueSources } = readTemplate({
    template: await currentTemplate(),
    origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
    parameters: {},
  });
  const atQueues = queueSources.map(({ function: { environment }, maximumConcurrency = Number.NaN }) =>
    // A worker waits for its engine, which is one more.
    environment.LATHE_ENGINE === undefined ? maximumConcurrency : 2 * maximumConcurrency,
  );
  const reserved = functions.map(({ reservedConcurrency = 0 }) => reservedConcurrency);
  const sum = [...atQueues, ...reserved].reduce((all, each) => all + each);
  const guide = readFileSync(join(projectRoot, 'docs/deploy.md'), 'utf8');
  expect(guide).toContain(`${sum.toLocaleString('en')} invocations at once`);
});

test('the guide counts the resources of the deployment', async () => {
  const folder = dirname(await currentTemplate());
  const types = globSync('*.template.json', { cwd: folder })
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .flatMap(({ Resources }) => Object.values<{ Type: string }>(Resources).map(({ Type }) => Type));
  const count = (type: string) => types.filter((each) => each === type).length;
  const guide = readFileSync(join(projectRoot, 'docs/deploy.md'), 'utf8');
  expect(guide).toContain(
    `${count('AWS::Lambda::Function')} functions, ${count('AWS::ApiGatewayV2::Route')} routes, ${count('AWS::SQS::Queue')} queues, ${count('AWS::CloudWatch::Alarm')} alarms, ${types.length} resources`,
  );
  expect(guide).toContain(`a stack has ${count('AWS::IAM::Role')} roles`);
});

test('documented deployments take the settings that they are given, and not those of the one before', () => {
  // By default the CDK keeps the parameters of a deployed stack, so that a changed context value would have no effect.
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  expect(scripts.deploy.split(' ')).toContain('--no-previous-parameters');
  const documents = globSync(['*.md', 'docs/*.md'], { cwd: projectRoot });
  const bypassing = documents.filter((path) => /\bcdk deploy\b/.test(readFileSync(join(projectRoot, path), 'utf8')));
  expect(bypassing).toEqual([]);
});
