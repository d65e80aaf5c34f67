import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/bundling.ts';
import { findPythonProgram } from '../../../support/python-program.ts';
import { Example } from '../example.ts';
import { type Check, Missing, type Tools } from '../tools.ts';

interface Asset {
  path: string;
  key: string;
}

interface Assembly {
  directories: Record<string, Asset>;
  files: Record<string, Asset>;
  nested_templates: Record<string, string>;
  images: Record<string, { directory: string; file: string; build_args: Record<string, string>; tag: string }>;
  stack: string;
}

// The configuration of this machine may name a mirror of its own.
const { TF_CLI_CONFIG_FILE: _, ...env } = process.env;

export const check: Check = async (tools) => {
  if (spawnSync('terraform', ['version']).error) throw new Missing('terraform is not installed');
  await using example = new Example('terraform');
  const terraform = (folder: string, ...args: string[]) =>
    example.succeed('terraform', [`-chdir=${folder}`, ...args], { env });
  await terraform(example.folder, 'fmt', '-check', '-recursive');
  const directory = example.file('cdk.out');
  const synthesis = ['run', 'synth', '--', '-c', 'preset=small', '--output', directory];
  await example.succeed('npm', synthesis, { cwd: projectRoot });

  // The modules without providers are applied; every module gets its own state.
  const apply = async (name: string, variables: object): Promise<Record<string, { value: unknown }>> => {
    const folder = example.file(name);
    cpSync(join(example.folder, name), folder, { recursive: true });
    await writeFile(join(folder, 'terraform.tfvars.json'), JSON.stringify(variables));
    await terraform(folder, 'init', '-input=false');
    await terraform(folder, 'validate');
    await terraform(folder, 'apply', '-auto-approve', '-input=false');
    return JSON.parse(await terraform(folder, 'output', '-json'));
  };
  const variables = { directory, bucket: 'lathe-assets-123456789012-eu-central-1', repository: 'lathe-engines' };
  const outputs = Object.entries(await apply('assembly', variables)).map(([name, { value }]) => [name, value]);
  const assembly: Assembly = Object.fromEntries(outputs);
  checkAssembly(assembly, variables);
  await lint(tools, example, assembly);
  await checkImages(example, assembly, apply);
  const validated = await validateRoot(example, terraform);
  const { directories, images } = assembly;
  return `${Object.keys(directories).length} directories and ${Object.keys(images).length} images as the template names them; cfn-lint accepts all templates; ${validated}`;
};

/** Checks that the templates name what the configuration uploads, and nothing of the bootstrap. */
function checkAssembly(assembly: Assembly, { bucket, repository }: { bucket: string; repository: string }): void {
  const { directories, files, nested_templates: nested, images, stack } = assembly;
  const texts = [stack, ...Object.values(nested)];
  for (const text of texts) assert.doesNotMatch(text, /cdk-hnb659fds|cdk-bootstrap|BootstrapVersion/);
  for (const { path } of Object.values(directories)) assert.ok(statSync(path).isDirectory(), path);
  for (const { path } of Object.values(files)) assert.ok(statSync(path).isFile(), path);
  const uploaded = new Set([
    ...Object.values({ ...directories, ...files }).map(({ key }) => key),
    ...Object.keys(nested),
  ]);
  const named = texts.flatMap((text) => [...text.matchAll(/[0-9a-f]{64}\.(?:zip|json)/g)].map(([key]) => key));
  assert.deepEqual(
    [...new Set(named)].sort(),
    [...uploaded].sort(),
    'The templates name other assets than those uploaded.',
  );
  const tags = texts.flatMap((text) => [...text.matchAll(new RegExp(`${repository}:([0-9a-f]{64})`, 'g'))]);
  const built = Object.values(images).map(({ tag }) => tag);
  assert.deepEqual([...new Set(tags.map(([, tag]) => tag))].sort(), built.sort());
  assert.ok(texts.every((text) => text.includes(bucket)));
  for (const { directory, file } of Object.values(images)) assert.ok(existsSync(join(directory, file)), directory);
  const parameters = Object.keys(JSON.parse(stack).Parameters);
  assert.ok(parameters.includes('RatePerMinute'), parameters.join(' '));
}

async function lint(tools: Tools, example: Example, { stack, nested_templates: nested }: Assembly): Promise<void> {
  const found = findPythonProgram('cfn-lint', '1.58.0');
  if ('missing' in found) throw new Missing(found.missing);
  const paths: string[] = [];
  for (const [index, text] of [stack, ...Object.values(nested)].entries()) {
    paths.push(example.file(`${index}.template.json`));
    await writeFile(paths[index] ?? '', text);
  }
  // Warnings about the CDK's own templates are those of lint:template.
  tools.run(found.program, ['--ignore-checks', 'W', '--', ...paths]);
}

/** Applies the module of the images with programs that record how they are called, because docker may not be there. */
async function checkImages(
  example: Example,
  { images }: Assembly,
  apply: (name: string, variables: object) => Promise<Record<string, { value: unknown }>>,
): Promise<void> {
  const bin = example.file('bin');
  const calls = example.file('calls');
  await mkdir(bin);
  const aws = `echo "aws $*" >> '${calls}'\ncase "$2" in describe-images) exit 254 ;; *) echo password ;; esac`;
  const docker = `echo "docker $*" >> '${calls}'\n[ "$1" != login ] || [ "$(cat)" = password ]`;
  for (const [name, script] of Object.entries({ aws, docker })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const repository = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/lathe-engines';
  const path = env.PATH;
  env.PATH = `${bin}:${path}`;
  try {
    await apply('images', { images, repository_url: repository, region: 'eu-central-1' });
  } finally {
    env.PATH = path;
  }
  const lines = (await readFile(calls, 'utf8')).split('\n');
  for (const { tag, directory, build_args: args } of Object.values(images)) {
    const asked = `aws ecr describe-images --region eu-central-1 --repository-name lathe-engines --image-ids imageTag=${tag}`;
    assert.ok(lines.includes(asked), `Not called: ${asked}`);
    assert.ok(lines.includes(`docker push ${repository}:${tag}`), tag);
    const build = lines.find((line) => line.startsWith('docker build ') && line.endsWith(`:${tag} ${directory}`));
    for (const [name, value] of Object.entries(args)) assert.ok(build?.includes(`--build-arg ${name}=${value}`), build);
  }
}

/** Validates the configuration with its providers if they can be had, and otherwise its syntax and attributes. */
async function validateRoot(
  example: Example,
  terraform: (folder: string, ...args: string[]) => Promise<string>,
): Promise<string> {
  const folder = example.file('root');
  cpSync(example.folder, folder, { recursive: true, filter: (path) => !path.includes('.terraform') });
  const initialized = await example.run('terraform', [`-chdir=${folder}`, 'init', '-backend=false', '-input=false'], {
    env,
  });
  if (initialized.status === 0) {
    await terraform(folder, 'validate');
    return 'terraform validate passes';
  }
  const bin = example.installPython(['python-hcl2==8.1.4']);
  const main = JSON.parse(await example.succeed(join(bin, 'hcl2tojson'), [join(example.folder, 'main.tf')]));
  const blocks: Record<string, Record<string, object>>[] = main.resource;
  const attributes = await declaredAttributes(example, blocks);
  return `without the providers, ${blocks.length} resources parsed and ${attributes} attributes found in the provider's schema`;
}

/** Attributes of every resource. */
const meta = new Set(['for_each', 'count', 'depends_on', 'lifecycle', 'provider', 'timeouts']);

/** Compares the attributes of resources with the bindings that cdktf generates from the schema of the provider. */
async function declaredAttributes(example: Example, blocks: Record<string, Record<string, object>>[]): Promise<number> {
  const folder = example.file('schema');
  await mkdir(folder);
  await example.succeed('npm', ['pack', '@cdktf/provider-aws@21.22.1', '--pack-destination', folder]);
  let count = 0;
  for (const block of blocks)
    for (const [quoted, named] of Object.entries(block)) {
      const type = quoted.replaceAll('"', '');
      const file = `package/lib/${type.replace(/^aws_/, '').replaceAll('_', '-')}/index.d.ts`;
      await example.succeed('tar', ['-xzf', join(folder, 'cdktf-provider-aws-21.22.1.tgz'), '-C', folder, file]);
      const text = readFileSync(join(folder, file), 'utf8');
      const config =
        /export interface \w+Config extends cdktf\.TerraformMetaArguments \{(.*?)\n\}/s.exec(text)?.[1] ?? '';
      const known = [...config.matchAll(/readonly (\w+)\??:/g)].map(([, name = '']) =>
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
      const required = [...config.matchAll(/readonly (\w+):/g)].map(([, name = '']) =>
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
      const given = Object.values(named)
        .flatMap((body) => Object.keys(body))
        .filter((name) => !name.startsWith('__'));
      const own = given.filter((name) => !meta.has(name));
      for (const name of own) assert.ok(known.includes(name), `${type} has no attribute ${name}: ${known.join(' ')}`);
      for (const name of required) assert.ok(own.includes(name), `${type} requires ${name}.`);
      count += own.length;
    }
  return count;
}
