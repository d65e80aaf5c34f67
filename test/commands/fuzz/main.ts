import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import type { LocalStack } from '../../../packages/local-aws/src/template/model.ts';
import { startStack } from '../../events/stack.ts';
import { findPythonProgram } from '../../support/python-program.ts';

/** Minimum number of requests per run. Schemathesis is repeated with other seeds until it is reached. */
const minRequests = Number(process.env.LATHE_FUZZ_REQUESTS ?? 10_000);
const firstSeed = Number(process.env.LATHE_FUZZ_SEED ?? 1);
const examplesPerOperation = 130;
const maxRuns = 10;

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'valid_request_accepted',
];

const print = (line: string) => void process.stdout.write(`${line}\n`);

/**
 * Disables the processing of generated tasks: their addresses are arbitrary, and nothing may be sent there. Since they
 * never end, waits are shortened too.
 */
function alter(stack: LocalStack): void {
  stack.queueSources.length = 0;
  for (const fn of stack.functions) if (/wait-for-\w+\.ts$/.test(fn.entry)) fn.timeoutSeconds = 3;
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
      // Python before 3.12 cannot parse in several threads, which Hypothesis does.
      ...['--workers', '1'],
      ...['--suppress-health-check', 'all'],
      ...['--warnings', 'off'],
      '--no-color',
      '--continue-on-failure',
    ],
    {
      // It creates a folder in its working directory.
      cwd: dirname(dirname(program)),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SCHEMATHESIS_HOOKS: 'checks', PYTHONPATH: join(projectRoot, 'test/commands/fuzz') },
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

const found = findPythonProgram('schemathesis', '4.32.5');
if ('missing' in found) {
  print(`Skipped: no request was sent, because Schemathesis cannot be installed: ${found.missing}`);
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
