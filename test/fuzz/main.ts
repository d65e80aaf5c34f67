import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';
import type { LocalStack } from '../../infra/local/template/model.ts';
import { startStack } from '../events/stack.ts';

/** Requests that a run sends at least; Schemathesis is run again, with another seed, until it has. */
const minRequests = Number(process.env.LATHE_FUZZ_REQUESTS ?? 10_000);
const firstSeed = Number(process.env.LATHE_FUZZ_SEED ?? 1);
const examplesPerOperation = 130;
const maxRuns = 10;
const environment = join(projectRoot, 'node_modules/.cache/lathe-fuzz');

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'valid_request_accepted',
];

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Returns the Schemathesis of a virtual environment, made where it is not there, or why it cannot be had. */
function findSchemathesis(): { program: string } | { missing: string } {
  const requirements = join(projectRoot, 'test/fuzz/requirements.txt');
  const program = join(environment, 'bin/schemathesis');
  const version = readFileSync(requirements, 'utf8').trim().split('==')[1] ?? '';
  if (existsSync(program) && run(program, ['--version']).stdout.includes(version)) return { program };
  if (run('python3', ['--version']).status !== 0) return { missing: 'python3 is not installed' };
  print(`Installing Schemathesis ${version} from PyPI …`);
  const made = run('python3', ['-m', 'venv', environment]);
  if (made.status !== 0) return { missing: `python3 -m venv failed: ${made.stderr || made.stdout}` };
  const installed = run(join(environment, 'bin/pip'), ['install', '--quiet', '-r', requirements]);
  return installed.status === 0 ? { program } : { missing: `pip failed: ${installed.stderr}` };
}

/**
 * Leaves generated tasks undone: their addresses are anybody's, and nothing may be sent there. Since they never end, a
 * wait is cut short too.
 */
function alter(stack: LocalStack): void {
  stack.queueSources.length = 0;
  for (const fn of stack.functions) if (/wait-for-\w+\.ts$/.test(fn.entry)) fn.timeoutSeconds = 3;
}

function run(program: string, args: string[]) {
  return spawnSync(program, args, { encoding: 'utf8' });
}

async function fuzz(
  program: string,
  url: string,
  apiKey: string,
  seed: number,
): Promise<{ sent: number; ok: boolean }> {
  const child = spawn(
    program,
    [
      'run',
      `${url}/v1/openapi.json`,
      ...['--header', `Authorization: Bearer ${apiKey}`],
      ...['--phases', 'examples,coverage,fuzzing'],
      ...['--checks', checks.join(',')],
      ...['--max-examples', String(examplesPerOperation)],
      ...['--seed', String(seed)],
      ...['--request-timeout', '40'],
      // Threads of Python before 3.12 may not parse at the same time, which Hypothesis does.
      ...['--workers', '1'],
      ...['--suppress-health-check', 'all'],
      ...['--warnings', 'off'],
      '--no-color',
      '--continue-on-failure',
    ],
    {
      // It keeps a folder of its own where it is started.
      cwd: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SCHEMATHESIS_HOOKS: 'checks', PYTHONPATH: join(projectRoot, 'test/fuzz') },
    },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const [code] = await once(child, 'close');
  return { sent: Number(/(\d+) generated/.exec(output)?.[1] ?? 0), ok: code === 0 };
}

const found = findSchemathesis();
if ('missing' in found) {
  print(`SKIPPED: no request was sent, because Schemathesis cannot be installed: ${found.missing}`);
} else {
  const stack = await startStack({}, { alter });
  let sent = 0;
  let ok = true;
  try {
    for (let seed = firstSeed; sent < minRequests && ok && seed < firstSeed + maxRuns; seed++) {
      const done = await fuzz(found.program, stack.url, stack.apiKey, seed);
      sent += done.sent;
      ok = done.ok && done.sent > 0;
    }
    const enough = sent >= minRequests;
    print(`${sent} requests generated from the OpenAPI document: ${ok && enough ? 'passed' : 'FAILED'}`);
    if (!ok || !enough) process.exitCode = 1;
  } finally {
    await stack[Symbol.asyncDispose]();
  }
}
