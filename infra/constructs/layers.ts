import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Architecture, CfnLayerVersion, Code, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { run } from '../images/shell.ts';
import { localBundling } from './local-bundling.ts';

/** Records the folder of a layer, so that the local stack can offer its content. */
const layerMetadata = 'local-aws:layer';
/** The sources of layers, in addition to the files of their folders. */
const sources = ['functions/engines/webpage/packages.txt', 'node_modules/@sparticuz/chromium/package.json'];

/** Returns the layer built from a folder in layers/, one per stack. */
export function layerOf(scope: Construct, name: string): LayerVersion {
  const stack = Stack.of(scope);
  const id = `Layer-${name}`;
  const existing = stack.node.tryFindChild(id);
  if (existing instanceof LayerVersion) return existing;
  const folder = join(projectRoot, 'layers', name);
  const layer = new LayerVersion(stack, id, {
    description: `${name} for engines`,
    code: Code.fromAsset(folder, {
      assetHash: fingerprint([`layers/${name}`, ...sources]),
      bundling: localBundling((output) => run([process.execPath, join(folder, 'build.ts'), output])),
    }),
    compatibleArchitectures: [Architecture.X86_64],
    compatibleRuntimes: [Runtime.NODEJS_24_X],
  });
  const resource = layer.node.defaultChild;
  if (!(resource instanceof CfnLayerVersion)) throw new Error('The layer has no resource of its own.');
  resource.addMetadata(layerMetadata, `layers/${name}`);
  return layer;
}
