import { assetsBucket } from './account.ts';

/** The source of a function's code, or of a layer's content. */
export type Asset =
  | { kind: 'bundle'; entry: string }
  | { kind: 'engine'; folder: string }
  | { kind: 'layer' }
  | { kind: 'template'; file: string };

interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  Metadata?: Record<string, unknown>;
}

export interface Template {
  Resources: Record<string, Resource>;
}

/** Properties that only functions with an image or layers have. */
const imageOnly = ['PackageType', 'Layers', 'Runtime', 'Handler', 'Code'];

/**
 * Returns a template for ministack with its assets, by their keys in the assets bucket. Images, which it runs by
 * Docker, become zips with a custom runtime; everything else is unchanged.
 */
export function adaptTemplate(template: Template): { template: Template; assets: Map<string, Asset> } {
  const assets = new Map<string, Asset>();
  const adapted = Object.entries(template.Resources).map(([id, resource]) => [id, adapt(resource, assets)]);
  return { template: { ...template, Resources: Object.fromEntries(adapted) }, assets };
}

function adapt(resource: Resource, assets: Map<string, Asset>): Resource {
  const { Type, Properties = {}, Metadata = {} } = resource;
  if (Type === 'AWS::Lambda::Function') return adaptFunction(resource, textOf(Metadata, 'local-aws:entry'), assets);
  if (Type === 'AWS::Lambda::LayerVersion') {
    const Content = addAsset(
      assets,
      `${textOf(Metadata, 'local-aws:layer')}.zip`,
      { kind: 'layer' },
      Properties.Content,
    );
    return { ...resource, Properties: { ...Properties, Content } };
  }
  if (Type === 'AWS::CloudFormation::Stack')
    assets.set(keyOf(Properties.TemplateURL), { kind: 'template', file: textOf(Metadata, 'aws:asset:path') });
  return resource;
}

function adaptFunction(resource: Resource, entry: string, assets: Map<string, Asset>): Resource {
  const { Properties = {} } = resource;
  if (Properties.PackageType !== 'Image' && !('Layers' in Properties)) {
    const Code = addAsset(assets, `${entry}.zip`, { kind: 'bundle', entry }, Properties.Code);
    return { ...resource, Properties: { ...Properties, Code } };
  }
  const folder = entry.replace(/\/handler\.ts$/, '');
  const common = Object.entries(Properties).filter(([name]) => !imageOnly.includes(name));
  return {
    ...resource,
    Properties: {
      ...Object.fromEntries(common),
      Code: addAsset(assets, `${folder}.zip`, { kind: 'engine', folder }),
      Runtime: 'provided.al2023',
      Handler: 'handler.handler',
    },
  };
}

function addAsset(assets: Map<string, Asset>, key: string, asset: Asset, place: unknown = { S3Bucket: assetsBucket }) {
  assets.set(key, asset);
  if (typeof place !== 'object' || place === null) throw new Error(`${key} is not in a bucket.`);
  return { ...place, S3Key: key };
}

/** Returns the key at the end of an address that the template joins from parts. */
function keyOf(address: unknown): string {
  const key = /([0-9a-f]{64}\.json)/.exec(JSON.stringify(address))?.[1];
  if (key === undefined) throw new Error(`Expected the address of a template but received ${JSON.stringify(address)}.`);
  return key;
}

function textOf(metadata: Record<string, unknown>, name: string): string {
  const value = metadata[name];
  if (typeof value !== 'string') throw new Error(`Expected ${name} in the metadata of a resource.`);
  return value;
}
