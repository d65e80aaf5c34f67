import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';
import { cache } from './cache.ts';

const plugins = join(projectRoot, 'test/second-opinions');

/** Returns a checkout of a suite: the one in a variable, or a clone of the commit, made once; or why there is none. */
export function findCheckout(suite: {
  repository: string;
  commit: string;
  variable: string;
  /** A folder that identifies a checkout. */
  folder: string;
}): { path: string } | { missing: string } {
  const { repository, commit, variable, folder } = suite;
  const given = process.env[variable];
  if (given !== undefined)
    return existsSync(join(given, folder))
      ? { path: given }
      : { missing: `${given} is not a checkout of ${repository}` };
  const path = join(cache, `${repository.replace('/', '-')}-${commit.slice(0, 8)}`);
  if (existsSync(join(path, folder))) return { path };
  // Only the folder at one commit: a whole history may be gigabytes.
  const steps = [
    ['init', '--quiet', path],
    ['-C', path, 'sparse-checkout', 'set', folder],
    ['-C', path, 'fetch', '--quiet', '--depth=1', '--filter=blob:none', `https://github.com/${repository}`, commit],
    ['-C', path, 'checkout', '--quiet', 'FETCH_HEAD'],
  ];
  const isDone = steps.every((args) => spawnSync('git', args).status === 0) && existsSync(join(path, folder));
  return isDone
    ? { path }
    : { missing: `git could not fetch github.com/${repository}; set ${variable} to a checkout of it` };
}

/** Returns a Python with these packages, installing them if needed, or why that fails. */
export function findPython(packages: string[]): { program: string } | { missing: string } {
  const environment = join(cache, 'python');
  const program = join(environment, 'bin/python');
  const hasAll = () => spawnSync(program, ['-m', 'pip', 'show', '--quiet', ...packages]).stderr?.length === 0;
  if (existsSync(program) && hasAll()) return { program };
  return installPython(environment, packages, packages.join(', '));
}

/** Creates a virtual environment with the given pip arguments, and returns its Python, or why that fails. */
export function installPython(
  environment: string,
  args: string[],
  what: string,
): { program: string } | { missing: string } {
  const program = join(environment, 'bin/python');
  if (spawnSync('python3', ['-m', 'venv', environment]).status !== 0)
    return { missing: 'python3 cannot create a virtual environment' };
  const installed = spawnSync(program, ['-m', 'pip', 'install', '--quiet', ...args]);
  return installed.status === 0 ? { program } : { missing: `pip could not install ${what} from PyPI` };
}

/** Runs tests of a suite by pytest, with plugins of this folder, and returns their outcomes. */
export async function runPytest(
  python: string,
  options: { suite: string; folder: string; plugins: string[]; args: string[]; env?: Record<string, string> },
): Promise<Map<string, boolean>> {
  const report = join(options.folder, 'report.txt');
  const child = spawn(
    python,
    [
      ...['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', options.suite],
      ...['report_plugin', ...options.plugins].flatMap((name) => ['-p', name]),
      ...options.args,
    ],
    {
      cwd: options.suite,
      stdio: 'inherit',
      env: {
        ...process.env,
        PYTHONPATH: `${options.suite}:${plugins}`,
        PYTHONDONTWRITEBYTECODE: '1',
        LATHE_REPORT: report,
        ...options.env,
      },
    },
  );
  await once(child, 'exit');
  if (!existsSync(report)) throw new Error('pytest ran no test.');
  return readReport(readFileSync(report, 'utf8'));
}

/** Reads the outcomes from the plugin's lines, one for each relevant phase of a test. */
function readReport(text: string): Map<string, boolean> {
  const outcomes = new Map<string, boolean>();
  for (const line of text.split('\n')) {
    const end = line.lastIndexOf(' ');
    const [name, outcome] = [line.slice(0, end), line.slice(end + 1)];
    if (end > 0 && outcome !== 'skipped') outcomes.set(name, outcome === 'passed' && (outcomes.get(name) ?? true));
  }
  return outcomes;
}
