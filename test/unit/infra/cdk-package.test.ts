import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FeatureFlags, Lazy } from 'aws-cdk-lib';
import { Construct, RootConstruct } from 'constructs';
import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import { readDeployment } from '../../../infra/deployment.ts';
import { settings } from '../../../infra/settings.ts';
import { deploymentContext } from '../../../infra/settings-page.ts';
import { chosenSizes, presetOf, waitConcurrency } from '../../../infra/sizes.ts';
import { setContext } from '../../../packages/cdk/src/context.ts';
import { sizeRanges } from '../../../shared/catalogue/sizes.ts';

describe('the properties of the construct', () => {
  const source = readFileSync(join(projectRoot, 'packages/cdk/src/props.ts'), 'utf8');
  const bodyOf = (declared: string) => source.split(declared)[1]?.split('\n}')[0] ?? '';
  const propertiesOf = (name: string) =>
    [...bodyOf(`export interface ${name} `).matchAll(/readonly (\w+)\?:/g)].map(([, each = '']) => each).sort();

  test('are all settings that an operator may choose', () => {
    const internal = ['missing', 'sweepSeconds'];
    expect(propertiesOf('SettingProps')).toEqual(
      Object.keys(settings)
        .filter((name) => !internal.includes(name))
        .sort(),
    );
  });

  test('are all context values of a deployment but two', () => {
    const replaced = ['region', 'webpagePackaging'];
    const names = deploymentContext.map(([name]) => name).filter((name) => !replaced.includes(name));
    expect(propertiesOf('DeploymentProps')).toEqual(names.sort());
  });

  test('are all sizes of all engines', () => {
    expect(propertiesOf('EngineSizes')).toEqual(Object.keys(sizeRanges).sort());
    const engines = [...(/type EngineName =([^;]*);/.exec(source)?.[1] ?? '').matchAll(/'(\w+)'/g)];
    expect(engines.map(([, name]) => name)).toEqual(engineCatalogues.map(({ engine }) => engine));
  });
});

describe('the context of the construct', () => {
  function constructIn(context: Record<string, unknown>): Construct {
    const root = new RootConstruct();
    for (const [key, value] of Object.entries(context)) root.node.setContext(key, value);
    return new Construct(root, 'Lathe');
  }

  test('is that of its properties', () => {
    const construct = constructIn({});
    setContext(construct, { stage: 'prod', page: false, engines: { media: { memoryMegabytes: 6_144 } } }, 'eu-west-1');
    expect(readDeployment(construct)).toMatchObject({ stage: 'prod', page: false, region: 'eu-west-1' });
    expect(chosenSizes(construct, engineCatalogues)).toEqual({ media: { memoryMegabytes: 6_144 } });
  });

  test('joins lists with commas', () => {
    const construct = constructIn({});
    setContext(construct, { allowHosts: ['one.example.com', 'two.example.com'] });
    expect(construct.node.tryGetContext('allowHosts')).toBe('one.example.com,two.example.com');
  });

  test('hides values that are meant for the app', () => {
    const construct = constructIn({ stage: '!', preset: 'huge', waitConcurrency: -1, 'media.colour': 1, region: 7 });
    setContext(construct, {});
    expect(readDeployment(construct)).toMatchObject({ stage: '', region: undefined });
    expect(presetOf(construct).isShared).toBe(false);
    expect(waitConcurrency(construct)).toBe(100);
    expect(chosenSizes(construct, engineCatalogues)).toEqual({});
  });

  test('has the feature flags of the service, and not those of the app', () => {
    const ours = '@aws-cdk/aws-iam:minimizePolicies';
    const theirs = '@aws-cdk/aws-s3:createDefaultLoggingPolicy';
    const construct = constructIn({ [ours]: false, [theirs]: true });
    setContext(construct, {});
    expect(FeatureFlags.of(construct).isEnabled(ours)).toBe(true);
    expect(FeatureFlags.of(construct).isEnabled(theirs)).toBe(false);
  });

  test('refuses values that are not known at synthesis', () => {
    const oidcIssuer = Lazy.string({ produce: () => 'https://example.com' });
    expect(() => setContext(constructIn({}), { oidcIssuer })).toThrow('known at synthesis for oidcIssuer');
  });
});
