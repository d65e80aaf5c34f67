import { Stack } from 'aws-cdk-lib';
import { Architecture, CfnLayerVersion, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { layerCode } from './assets.ts';

/** Records the folder of a layer, so that the local stack can offer its content. */
const layerMetadata = 'local-aws:layer';

/** Returns the layer built from a folder in layers/, one per stack. */
export function layerOf(scope: Construct, name: string): LayerVersion {
  const stack = Stack.of(scope);
  const id = `Layer-${name}`;
  const existing = stack.node.tryFindChild(id);
  if (existing instanceof LayerVersion) return existing;
  const layer = new LayerVersion(stack, id, {
    description: `${name} for engines`,
    code: layerCode(name),
    compatibleArchitectures: [Architecture.X86_64],
    compatibleRuntimes: [Runtime.NODEJS_24_X],
  });
  const resource = layer.node.defaultChild;
  if (!(resource instanceof CfnLayerVersion)) throw new Error('The layer has no resource of its own.');
  resource.addMetadata(layerMetadata, `layers/${name}`);
  return layer;
}
