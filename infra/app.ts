import { App } from 'aws-cdk-lib';
import { readDeployment } from './deployment.ts';
import { LatheStack } from './lathe-stack.ts';

const app = new App();
const { stage, keepsData, region } = readDeployment(app);
new LatheStack(app, 'Lathe', {
  description: 'Lathe: converts, compresses and merges files over HTTP.',
  // Nothing in the stack has a name of its own, so the stack's is all that stages must not share.
  stackName: stage === '' ? 'Lathe' : `Lathe-${stage}`,
  terminationProtection: keepsData,
  ...(region === undefined ? {} : { env: { region } }),
});
