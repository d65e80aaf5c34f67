import { App } from 'aws-cdk-lib';
import { checkTemplates } from './checks.ts';
import { readDeployment } from './deployment.ts';
import { LatheStack } from './lathe-stack.ts';

const app = new App();
// The local stack reads whatever it is given, and the tests make these checks once.
if (app.node.tryGetContext('lathe:unchecked') !== true) checkTemplates(app);
const { stage, keepsData, region } = readDeployment(app);
new LatheStack(app, 'Lathe', {
  description: 'Lathe: converts, compresses and merges files over HTTP.',
  // Nothing in the stack has a name of its own, so the stack's is all that stages must not share.
  stackName: stage === '' ? 'Lathe' : `Lathe-${stage}`,
  terminationProtection: keepsData,
  ...(region === undefined ? {} : { env: { region } }),
});
