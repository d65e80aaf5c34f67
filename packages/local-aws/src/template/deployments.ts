import type { LocalBuild } from './model.ts';
import { NotUnderstood, type Properties } from './properties.ts';

interface Resource {
  logicalId: string;
  ref: string;
  arn: string;
  properties: Properties;
  metadata: Record<string, unknown>;
}

interface Deployments {
  /** Uploads by bucket name. */
  builds: Map<string, Omit<LocalBuild, 'missingStatus'>>;
  /** ARNs of the uploading functions. */
  handlers: Set<string>;
  /** ARNs of their layers. */
  layers: Set<string>;
}

/**
 * Reads what CloudFormation uploads to buckets by functions of the CDK. Nothing is uploaded here, so these functions
 * and their layers are skipped.
 */
export function readDeployments(ofType: (type: string) => Resource[]): Deployments {
  const builds: Deployments['builds'] = new Map();
  const handlers = new Set<string>();
  for (const { logicalId, properties, metadata } of ofType('Custom::CDKBucketDeployment')) {
    const folder = metadata['local-aws:build'];
    if (typeof folder !== 'string') throw new NotUnderstood(`${logicalId} does not say which folder it is built from.`);
    handlers.add(properties.text('ServiceToken'));
    properties.pass('The build that the folder makes', 'SourceBucketNames', 'SourceObjectKeys');
    properties.pass('Each build is served by itself here', 'Prune', 'RetainOnDelete');
    properties.pass('Nothing is cached here', 'WaitForDistributionInvalidation');
    properties.pass('Nothing refers to it', 'OutputObjectKeys');
    const bucket = properties.text('DestinationBucketName');
    const build = builds.get(bucket) ?? { folder, uploads: [] };
    if (build.folder !== folder) throw new NotUnderstood(`${bucket} is filled from ${build.folder} and ${folder}.`);
    const metadataOfFiles = properties.object('SystemMetadata');
    build.uploads.push({
      exclude: properties.texts('Exclude'),
      include: properties.texts('Include'),
      cacheControl: metadataOfFiles.text('cache-control'),
    });
    builds.set(bucket, build);
  }
  const layers = new Set<string>();
  for (const { arn, properties } of ofType('AWS::Lambda::Function')) {
    if (!handlers.has(arn)) continue;
    for (const layer of properties.texts('Layers')) layers.add(layer);
    properties.pass(
      'CloudFormation runs it in a deployment',
      ...[
        'Architectures',
        'Code',
        'Environment',
        'Handler',
        'LoggingConfig',
        'MemorySize',
        'Role',
        'Runtime',
        'Timeout',
      ],
    );
  }
  for (const { ref, properties } of ofType('AWS::Lambda::LayerVersion'))
    if (layers.has(ref)) properties.pass('CloudFormation runs its function in a deployment', 'Content', 'Description');
  return { builds, handlers, layers };
}
