import { FeatureFlags, Token } from 'aws-cdk-lib';
import { type Construct, RootConstruct } from 'constructs';
import cdk from '../../../cdk.json' with { type: 'json' };
import { settings } from '../../../infra/settings.ts';
import { deploymentContext } from '../../../infra/settings-page.ts';
import type { LatheProps } from './props.ts';

type Values = Omit<LatheProps, 'env' | 'stackName'>;

/** Context values that only operators of a checkout or the local stack set. */
const ownNames = [...Object.keys(settings), ...deploymentContext.map(([name]) => name)];
/** The context values for sizes of engines. */
const sizeForm = /^[a-z]+\.[a-zA-Z]+$/;
/** The partitions that ARNs are written out for are the choice of the app. */
const partitions = '@aws-cdk/core:target-partitions';

/**
 * Sets the context below a construct to its properties. Values of the app for the same names are hidden: they are meant
 * for the app, such as its own `stage`. So are its feature flags, because the service is tested with its own.
 */
export function setContext(construct: Construct, { engines = {}, ...values }: Values, region?: string): void {
  const { node } = construct;
  const given: Record<string, unknown> = node.getAllContext();
  for (const name of [...ownNames, ...Object.keys(given).filter((each) => sizeForm.test(each))])
    node.setContext(name, null);
  const sizes = Object.entries(engines).flatMap(([engine, each]) =>
    Object.entries(each).map(([size, value]) => [`${engine}.${size}`, value] as const),
  );
  for (const [name, value] of [...Object.entries(values), ...sizes])
    if (value !== undefined) set(construct, name, value);
  if (region !== undefined && !Token.isUnresolved(region)) node.setContext('region', region);
  setFlags(construct, given);
}

function set({ node }: Construct, name: string, value: number | boolean | string | readonly string[]): void {
  if (Token.isUnresolved(value))
    throw new Error(`Expected a value that is known at synthesis for ${name} but received a token.`);
  node.setContext(name, String(value));
}

function setFlags({ node }: Construct, given: Record<string, unknown>): void {
  const defaults = FeatureFlags.of(new RootConstruct());
  for (const [name, value] of Object.entries(given))
    if (/^@?aws-cdk/.test(name) && typeof value === 'boolean') node.setContext(name, defaults.isEnabled(name));
  for (const [name, value] of Object.entries(cdk.context))
    if (name !== partitions || given[name] === undefined) node.setContext(name, value);
}
