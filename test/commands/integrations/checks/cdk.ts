import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { synthesize } from '../../../../infra/build/synth.ts';
import { projectRoot } from '../../../../infra/bundling.ts';
import { findPythonProgram } from '../../../support/python-program.ts';
import { lintTarball, pack } from '../npm-package.ts';
import { type Check, Missing, type Tools } from '../tools.ts';

interface Template {
  Parameters?: Record<string, unknown>;
  Resources: Record<string, unknown>;
}

interface Manifest {
  files: Record<string, Asset>;
  dockerImages: Record<string, Asset>;
}

interface Asset {
  source: { path?: string; directory?: string };
}

/** The app of a team: a stack that uses the service, and a second service with other properties. */
const app = `import { App, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { CloudWatchLogGroup } from 'aws-cdk-lib/aws-events-targets';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { Lathe, type LatheProps } from '@lathe-convert/cdk';

class TeamStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps, service: LatheProps) {
    super(scope, id, props);
    const lathe = new Lathe(this, 'Lathe', service);
    new Rule(this, 'Ends', {
      eventBus: lathe.eventBus,
      eventPattern: { detailType: ['job.completed'] },
      targets: [new CloudWatchLogGroup(new LogGroup(this, 'Log'))],
    });
    new CfnOutput(this, 'Api', { value: lathe.apiUrl });
    new CfnOutput(this, 'Sockets', { value: lathe.socketsUrl });
    new CfnOutput(this, 'Table', { value: lathe.table.tableName });
    new CfnOutput(this, 'Files', { value: lathe.bucket.bucketName });
  }
}

const app = new App();
new TeamStack(app, 'Team', {}, {});
new TeamStack(app, 'Other', {}, {
  stage: 'prod',
  fileSeconds: 7_200,
  ratePerMinute: 100,
  allowHosts: ['one.example.com', 'two.example.com'],
  logDays: RetentionDays.ONE_WEEK,
  singleTenant: true,
  engines: { media: { memoryMegabytes: 6_144, batchHours: 2 } },
});
new Lathe(app, 'Small', { stage: 'small', preset: 'small', page: false });

/** Not called, because the permission would be a resource that ours lacks. */
export function grant(key: Key, lathe: Lathe): void {
  key.grantDecrypt(lathe.transferFunction);
}

/** Not called: each of these is an error of types. */
export function wrong(stack: Stack): void {
  // @ts-expect-error a misspelled setting
  new Lathe(stack, 'A', { fileSecond: 1 });
  // @ts-expect-error a text instead of a number
  new Lathe(stack, 'B', { ratePerMinute: '100' });
  // @ts-expect-error a value that the setting does not have
  new Lathe(stack, 'C', { preset: 'large' });
  // @ts-expect-error an engine that does not exist
  new Lathe(stack, 'D', { engines: { spreadsheet: { memoryMegabytes: 1_024 } } });
  // @ts-expect-error a size that engines do not have
  new Lathe(stack, 'E', { engines: { media: { memory: 1_024 } } });
  // @ts-expect-error attributes are read-only
  new Lathe(stack, 'F').apiUrl = 'https://example.com';
}
`;

/** The stacks of the app, and the context values with which our own app makes the same. */
const expected: { stack: string; file: string; context: Record<string, string> }[] = [
  { stack: 'Lathe', file: 'TeamLatheStack', context: {} },
  {
    stack: 'Lathe-prod',
    file: 'OtherLatheStack',
    context: {
      stage: 'prod',
      fileSeconds: '7200',
      ratePerMinute: '100',
      allowHosts: 'one.example.com,two.example.com',
      logDays: '7',
      singleTenant: 'true',
      'media.memoryMegabytes': '6144',
      'media.batchHours': '2',
    },
  },
  { stack: 'Lathe-small', file: 'SmallStack', context: { stage: 'small', preset: 'small', page: 'false' } },
];

/** Module systems of CDK apps: that of older templates of `cdk init`, and that of current ones. */
const moduleSystems = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'commonjs', moduleResolution: 'node10' },
];

/** The context of the app: values of its own that the construct must not take for its properties. */
const contextOfApp = { stage: 'of-the-app', domain: 7, 'app.size': 1, 'aws:cdk:enable-asset-metadata': true };

/** What differs: metadata and assets, because our own synthesis does not bundle, and the names of origins. */
const incomparable = ['Metadata', 'Code', 'TemplateURL', 'SourceObjectKeys', 'Id', 'TargetOriginId'];

/** Packs the construct, synthesizes an app that has installed it, and compares its stacks with our own. */
export const check: Check = async (tools) => {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-cdk-app-'));
  try {
    const tarball = pack(tools, 'cdk', folder);
    lintTarball(tools, tarball);
    const lint = findPythonProgram('cfn-lint', '1.58.0');
    if ('missing' in lint) throw new Missing(`cfn-lint cannot be had, since ${lint.missing}`);
    install(tools, folder, tarball);
    for (const system of moduleSystems) compile(tools, folder, system);
    const assembly = join(folder, 'cdk.out');
    synthesizeApp(tools, folder, assembly);
    const counts: number[] = [];
    for (const { stack, file, context } of expected) {
      const own = dirname(await synthesize(join(folder, stack), context));
      counts.push(compare(file, templatesIn(own, 'Lathe'), templatesIn(assembly, file)));
      tools.run(lint.program, ['--ignore-checks', 'W3005', '--template', ...pathsIn(assembly, file)]);
    }
    const assets = checkAssets(assembly);
    return `${expected.length} stacks of an app have the ${counts.join(', ')} resources of ours and ${assets} assets, wrong properties are errors of types, cfn-lint, publint and attw find nothing`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Installs the tarball outside of the checkout, with the packages of a new CDK app and nothing else. */
function install(tools: Tools, folder: string, tarball: string): void {
  const { dependencies, devDependencies } = readJson(join(projectRoot, 'package.json'));
  const wanted = {
    'aws-cdk-lib': dependencies['aws-cdk-lib'],
    constructs: dependencies.constructs,
    '@types/node': devDependencies['@types/node'],
    typescript: '5.9.3',
  };
  const versions = Object.entries(wanted).map(([name, version]) => `${name}@${version}`);
  const packages = join(tools.npmPackages('cdk', versions), 'node_modules');
  const place = join(folder, 'node_modules/@lathe-convert/cdk');
  mkdirSync(place, { recursive: true });
  tools.run('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
  for (const name of ['@types', 'aws-cdk-lib', 'constructs', 'typescript'])
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
}

/** Compiles the app, and so checks its types and those of the package. */
function compile(tools: Tools, folder: string, system: Record<string, string>): void {
  const compilerOptions = { target: 'es2022', strict: true, types: ['node'], skipLibCheck: false, ...system };
  writeFileSync(join(folder, 'app.ts'), app);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }));
  tools.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: folder });
}

function synthesizeApp(tools: Tools, folder: string, assembly: string): void {
  const flags = readJson(join(folder, 'node_modules/aws-cdk-lib/recommended-feature-flags.json'));
  tools.run(process.execPath, ['app.js'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: assembly,
      // cfn-lint checks the templates below, in less time.
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({ ...flags, ...contextOfApp }),
    },
  });
}

/** Returns the templates of a stack and of those nested in it. */
function templatesIn(assembly: string, file: string): Template[] {
  return pathsIn(assembly, file).map(readJson);
}

function pathsIn(assembly: string, file: string): string[] {
  const isOurs = new RegExp(`^${file}\\w*(\\.nested)?\\.template\\.json$`);
  const names = readdirSync(assembly).filter((name) => isOurs.test(name));
  if (names.length !== 3) throw new Error(`Expected three templates of ${file} but received ${names.join(', ')}.`);
  return names.sort().map((name) => join(assembly, name));
}

/** Compares the resources and parameters of two stacks, and returns the number of their resources. */
function compare(file: string, own: Template[], packed: Template[]): number {
  const [ours, theirs] = [own, packed].map((templates) => templates.flatMap((each) => describe(each, file)).sort());
  const missing = ours?.filter((text) => !theirs?.includes(text)) ?? [];
  const added = theirs?.filter((text) => !ours?.includes(text)) ?? [];
  if (ours === undefined || ours.length !== theirs?.length || missing.length + added.length > 0)
    throw new Error(`Expected the resources of ${file} to be ours. Missing:\n${missing[0]}\nAdded:\n${added[0]}`);
  return own.reduce((sum, { Resources }) => sum + Object.keys(Resources).length, 0);
}

/** Describes the resources and parameters of a template without the parts of names that follow from their place. */
function describe({ Parameters = {}, Resources }: Template, file: string): string[] {
  const named = (value: unknown) =>
    JSON.stringify(value)
      .replaceAll(file, 'Lathe')
      .replaceAll(/(?<=[A-Za-z])[0-9A-F]{8}(?:[0-9A-F]{8})?/g, '');
  const describeAll = (values: Record<string, unknown>) =>
    Object.entries(values).map(([id, value]) => named([id, sorted(JSON.parse(named(value)))]));
  return [...describeAll(Parameters), ...describeAll(Resources)];
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !incomparable.includes(name));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sorted(each)]));
}

/** Checks that every function has its code, and returns the number of assets. */
function checkAssets(assembly: string): number {
  const manifests = readdirSync(assembly).filter((name) => name.endsWith('.assets.json'));
  const paths = new Set<string>();
  for (const name of manifests) {
    const { files, dockerImages }: Manifest = readJson(join(assembly, name));
    for (const { source } of [...Object.values(files), ...Object.values(dockerImages)])
      paths.add(source.path ?? source.directory ?? '');
    for (const { source } of Object.values(dockerImages))
      for (const file of ['Dockerfile', 'package-lock.json', 'packages.txt'])
        if (!existsSync(join(assembly, source.directory ?? '', file)))
          throw new Error(`Expected ${file} in the image ${source.directory}.`);
  }
  const absent = [...paths].filter((path) => !existsSync(join(assembly, path)));
  if (absent.length > 0) throw new Error(`Expected the assets ${absent.join(', ')}.`);
  const bundles = [...paths].filter((path) => existsSync(join(assembly, path, 'index.mjs')));
  if (bundles.length < 50) throw new Error(`Expected the bundles of all functions but received ${bundles.length}.`);
  return paths.size;
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
