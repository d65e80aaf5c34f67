import { CfnParameter } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { parameterOf, settings } from '../settings.ts';

/**
 * Declares a template parameter for each setting and returns the variables for the functions. With parameters, one
 * synthesized template runs with different values, locally and in AWS. A context value of the same name sets the
 * default.
 */
export function settingVariables(scope: Construct): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, { variable, defaultValue, meaning, ...rest }]) => {
      const value = String(scope.node.tryGetContext(name) ?? defaultValue);
      const allowed = 'values' in rest ? [...rest.values] : undefined;
      if (allowed && !allowed.some((each) => each === value))
        throw new Error(`Expected one of ${allowed.join(', ')} for ${name} but received ${value}.`);
      const parameter = new CfnParameter(scope, parameterOf(name), {
        type: 'String',
        description: `${variable}: ${meaning}`,
        default: value,
        ...(allowed ? { allowedValues: allowed } : {}),
      });
      return [variable, parameter.valueAsString];
    }),
  );
}
