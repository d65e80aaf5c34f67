import { App } from 'aws-cdk-lib';
import { readDeployment } from './deployment.ts';
import { LatheStack } from './lathe-stack.ts';

const app = new App();
// The local stack accepts any template, and is installed without the packages of these checks. The tests run them once.
if (app.node.tryGetContext('lathe:unchecked') !== true) (await import('./checks.ts')).checkTemplates(app);
const { stage, keepsData, region } = readDeployment(app);
new LatheStack(app, 'Lathe', {
  description: 'Lathe: converts, compresses and merges files over HTTP.',
  // No resource has a fixed name, so stages only need different stack names.
  stackName: stage === '' ? 'Lathe' : `Lathe-${stage}`,
  terminationProtection: keepsData,
  ...(region && { env: { region } }),
});
