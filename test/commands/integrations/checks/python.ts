import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/bundling.ts';
import type { RunningService } from '../../../support/running-stack.ts';
import { type Check, Missing, type Tools } from '../tools.ts';

const programs = { mypy: '2.4.1', pyright: '1.1.414', build: '1.6.1', twine: '7.0.0' };

/** A program of a user: it converts a picture with both clients, as a type checker accepts it. */
const use = `import asyncio
import sys
from pathlib import Path

from lathe_client import AsyncLathe, Lathe, Result


def shown(result: Result) -> str:
    return f"{result.files[0]['filename']} {'instant' if result.job is None else result.job['status']}"


def convert(path: str, folder: Path) -> None:
    lathe = Lathe()
    for instant in (True, False):
        result = lathe.convert(path, to="png", instant=instant)
        lathe.download(result.files[0], folder / f"sync-{instant}.png")
        print(shown(result))


async def convert_async(path: str, folder: Path) -> None:
    async with AsyncLathe() as lathe:
        for instant in (True, False):
            result = await lathe.convert(path, to="png", instant=instant)
            await lathe.download(result.files[0], folder / f"async-{instant}.png")
            print(shown(result))


convert(sys.argv[1], Path(sys.argv[2]))
asyncio.run(convert_async(sys.argv[1], Path(sys.argv[2])))
`;

const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><circle cx="30" cy="20" r="15"/></svg>';

/** Checks the types of the Python client, builds it, and converts a file with what is installed from the wheel. */
export const check: Check = async (tools) => {
  const bin = findPrograms(tools);
  const folder = mkdtempSync(join(tmpdir(), 'lathe-python-'));
  try {
    const source = join(folder, 'source');
    // A build writes next to the sources.
    cpSync(join(projectRoot, 'packages/python'), source, { recursive: true });
    tools.run(join(bin, 'mypy'), ['--cache-dir', join(folder, 'mypy')], { cwd: source });
    tools.run(join(bin, 'pyright'), ['--pythonpath', join(bin, 'python')], { cwd: source });
    const dist = join(folder, 'dist');
    tools.run(join(bin, 'python'), ['-m', 'build', '--outdir', dist, source]);
    const built = readdirSync(dist).map((name) => join(dist, name));
    tools.run(join(bin, 'twine'), ['check', '--strict', ...built]);
    const wheel = built.find((path) => path.endsWith('.whl'));
    if (wheel === undefined) throw new Error(`Expected a wheel but received ${built.join(', ')}.`);
    const converted = convertWith(tools, bin, wheel, folder, await tools.service());
    return `mypy and pyright are strict and find nothing, twine accepts ${built.length} files, the wheel converts: ${converted}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Installs a wheel in an empty environment and converts a file with it. */
function convertWith(tools: Tools, bin: string, wheel: string, folder: string, service: RunningService): string {
  const environment = join(folder, 'environment');
  tools.run('python3', ['-m', 'venv', environment]);
  const python = join(environment, 'bin/python');
  tools.run(python, ['-m', 'pip', 'install', '--quiet', '--no-index', wheel]);
  const program = join(folder, 'use.py');
  writeFileSync(program, use);
  writeFileSync(join(folder, 'circle.svg'), picture);
  // The installed package has its types.
  const types = ['--strict', '--cache-dir', join(folder, 'mypy'), '--python-executable', python, program];
  tools.run(join(bin, 'mypy'), types, { cwd: folder });
  const printed = tools.run(python, [program, join(folder, 'circle.svg'), folder], {
    cwd: folder,
    env: { PATH: process.env.PATH, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey },
  });
  const lines = printed.trim().split('\n');
  const expected = ['circle.png instant', 'circle.png completed', 'circle.png instant', 'circle.png completed'];
  if (lines.join() !== expected.join()) throw new Error(`Expected ${expected.join()} but received ${lines.join()}.`);
  const missing = ['sync-True', 'sync-False', 'async-True', 'async-False'].filter(
    (name) => !existsSync(join(folder, `${name}.png`)),
  );
  if (missing.length > 0) throw new Error(`Expected the files ${missing.join(', ')}.`);
  return `${lines.length} files, sync and async, with and without a job`;
}

/** Returns the folder of the programs of PyPI, installed once in an environment of their own. */
function findPrograms(tools: Tools): string {
  const wanted = Object.entries(programs).map(([name, version]) => `${name}==${version}`);
  const environment = join(
    projectRoot,
    'node_modules/.cache/integrations',
    `python-${Object.values(programs).join('-')}`,
  );
  const done = join(environment, '.installed');
  const bin = join(environment, 'bin');
  if (existsSync(done)) return bin;
  process.stdout.write(`Installing ${wanted.join(' ')} …\n`);
  tools.run('python3', ['-m', 'venv', environment]);
  try {
    tools.run(join(bin, 'pip'), ['install', '--quiet', ...wanted]);
  } catch (error) {
    throw new Missing(`pip could not install ${wanted.join(', ')}: ${error}`);
  }
  writeFileSync(done, '');
  return bin;
}
