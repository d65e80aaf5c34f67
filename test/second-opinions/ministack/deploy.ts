import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { until } from '../../support/until.ts';
import { assetsBucket, credentials, region } from './account.ts';
import { type Asset, adaptTemplate, type Template } from './adapt-template.ts';
import { assetWriter } from './assets.ts';
import { createStack, describeStack, listResources, type Outputs } from './cloudformation.ts';
import { callJson } from './json-call.ts';

/** The parameter that `cdk bootstrap` creates. */
const bootstrapParameter = { Name: '/cdk-bootstrap/hnb659fds/version', Value: '30', Type: 'String' };
const stackName = 'Lathe';
const rootKey = 'root.json';

/**
 * Deploys a synthesized template into ministack as the CDK would. Returns its outputs and number of resources once all
 * are created.
 */
export async function deploy(
  endpoint: string,
  templatePath: string,
  parameters: Record<string, string>,
  print: (line: string) => void,
): Promise<{ outputs: Outputs; resources: number }> {
  const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: assetsBucket }));
  await callJson(endpoint, 'ssm', 'AmazonSSM.PutParameter', bootstrapParameter);
  const put = (Key: string, Body: Buffer | string) =>
    s3.send(new PutObjectCommand({ Bucket: assetsBucket, Key, Body }));

  const { templates, assets } = readStacks(templatePath);
  const write = await assetWriter(templatePath);
  for (const [key, asset] of assets) if (asset.kind !== 'template') await put(key, await write(asset));
  for (const [key, template] of templates) await put(key, JSON.stringify(template));
  const expected = [...templates.values()].reduce((sum, { Resources }) => sum + Object.keys(Resources).length, 0);
  print(`Uploaded ${assets.size} assets; creating ${expected} resources …`);

  await createStack(endpoint, {
    name: stackName,
    templateUrl: `https://s3.${region}.amazonaws.com/${assetsBucket}/${rootKey}`,
    parameters,
  });
  return { outputs: await createdStack(endpoint, expected, print), resources: expected };
}

/** Reads the root template and the nested ones, adapted, by key. */
function readStacks(path: string): { templates: Map<string, Template>; assets: Map<string, Asset> } {
  const root = adaptTemplate(JSON.parse(readFileSync(path, 'utf8')));
  const templates = new Map([[rootKey, root.template]]);
  const assets = new Map(root.assets);
  for (const [key, asset] of root.assets) {
    if (asset.kind !== 'template') continue;
    const inner = adaptTemplate(JSON.parse(readFileSync(join(dirname(path), asset.file), 'utf8')));
    templates.set(key, inner.template);
    for (const [innerKey, innerAsset] of inner.assets) assets.set(innerKey, innerAsset);
  }
  return { templates, assets };
}

/** Waits until the stack and its nested stacks are created, and returns its outputs. */
async function createdStack(endpoint: string, expected: number, print: (line: string) => void): Promise<Outputs> {
  let shown = '';
  const hasEnded = async () => {
    const stack = await describeStack(endpoint, stackName);
    const resources = await listResources(endpoint, stackName);
    const left = resources.filter(({ status }) => status !== 'CREATE_COMPLETE');
    const line = `${resources.length - left.length} of ${expected} resources created`;
    if (line !== shown) print(line);
    shown = line;
    if (stack.status === 'CREATE_IN_PROGRESS') return undefined;
    if (stack.status === 'CREATE_COMPLETE' && resources.length === expected && left.length === 0) return stack.outputs;
    throw new Error(`The stack is ${stack.status} ${stack.reason}\n${left.map((it) => JSON.stringify(it)).join('\n')}`);
  };
  return await until('the stack is created', hasEnded, { seconds: 600, everyMs: 1_000 });
}
