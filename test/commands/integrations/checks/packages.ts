import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/bundling.ts';
import { lintTarball, pack } from '../npm-package.ts';
import type { Check, Tools } from '../tools.ts';

const actionlint = '1.7.12';

/** The packages on npm. Those for Node 24 alone are ES modules, which it can require. The package `cdk` has a check. */
const packages = [
  { name: 'client', isEsmOnly: false },
  { name: 'local-aws', isEsmOnly: true },
  { name: 'runtime-client', isEsmOnly: true },
];
/** The packages that the workflow publishes. */
const published = ['client', 'cdk'];

/** Checks what is published on npm as its users see it, and the workflow that publishes it. */
export const check: Check = async (tools) => {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-packages-'));
  try {
    for (const { name, isEsmOnly } of packages) lintTarball(tools, pack(tools, name, folder), { isEsmOnly });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const name of published) checkPublished(name);
  tools.run(findActionlint(tools), [], { cwd: projectRoot });
  return `publint and attw have no findings about ${packages.map(({ name }) => name).join(', ')}, actionlint ${actionlint} none about the workflows`;
};

/** Throws if npm would refuse a package that CI publishes, or publish it without its licence or provenance. */
function checkPublished(name: string): void {
  const folder = join(projectRoot, 'packages', name);
  const { version, publishConfig, private: isPrivate } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const expected = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')).version;
  if (version !== expected) throw new Error(`Expected version ${expected} for ${name} but received ${version}.`);
  if (isPrivate || publishConfig?.access !== 'public' || publishConfig?.provenance !== true)
    throw new Error(`Expected ${name} to be public with provenance.`);
  if (!existsSync(join(folder, 'LICENSE'))) throw new Error(`Expected a LICENSE in ${name}.`);
}

function findActionlint(tools: Tools): string {
  const folder = join(projectRoot, 'node_modules/.cache/integrations/go');
  const program = join(folder, `bin-${actionlint}`, 'actionlint');
  if (existsSync(program)) return program;
  process.stdout.write(`Installing actionlint ${actionlint} …\n`);
  const env = {
    ...process.env,
    GOBIN: join(folder, `bin-${actionlint}`),
    GOPATH: folder,
    GOCACHE: join(folder, 'build'),
    GOFLAGS: '-modcacherw',
  };
  tools.run('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@v${actionlint}`], { env });
  return program;
}
