import { App } from 'aws-cdk-lib';
import { LatheStack } from './lathe-stack.ts';

const app = new App();
new LatheStack(app, 'Lathe', { description: 'Lathe: converts, compresses and merges files over HTTP.' });
