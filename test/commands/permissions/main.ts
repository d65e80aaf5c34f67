import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { currentTemplate } from '../../../infra/build/template-cache.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import type { RecordedDecision } from '../../../packages/local-aws/src/iam/record.ts';
import type { LocalStack } from '../../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../../packages/local-aws/src/template/read.ts';
import { type Proof, prove } from './proof.ts';

const print = (line = '') => void process.stdout.write(`${line}\n`);

/** Proves that each role allows what its function uses and nothing else, from the calls of a whole test run. */
async function main(given: string | undefined): Promise<void> {
  const folder = given === undefined ? recordTests() : resolve(given);
  const stack = readTemplate({
    template: await currentTemplate(),
    origins: { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' },
    parameters: {},
  });
  const { all, ofStack } = readRecording(folder, stack);
  // Tests that act as a function are marked, and some run stacks with other resources.
  const decisions = ofStack.filter(({ app, resource }) => app !== 'tests' && isOf(stack, resource));
  print(`Recording           ${folder}: ${all.length} kinds of calls, ${decisions.length} of them of functions`);
  report(prove(stack, decisions));
}

/** The tests that use a gate. Engine tests, which take most of the time, do not. */
const withGate = [
  ...['client', 'contract', 'events', 'faults', 'infra', 'stack', 'transfers', 'web'],
  'security/hostile-function',
];

/** Runs the tests with the gate recording. Recordings of failing tests would prove nothing. */
function recordTests(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-permissions-'));
  const { status } = spawnSync(
    process.execPath,
    [
      ...['infra/setup/run.mjs', '--tests', 'node_modules/vitest/vitest.mjs', 'run'],
      ...withGate.map((name) => `test/${name}`),
    ],
    { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, LATHE_GATE_RECORD: folder, LATHE_TEST_BREADTH: '1' } },
  );
  if (status !== 0) throw new Error(`The tests failed. Their recording is in ${folder}.`);
  return folder;
}

/** Reads the recordings of all gates; stacks of another size have other functions, or use services that this one does not. */
function readRecording(folder: string, { functions }: LocalStack) {
  const roles = new Set(functions.map(({ role }) => role.logicalId));
  const serviceOf = (action: string) => action.split(':', 1)[0];
  const actions = functions.flatMap(({ role }) => role.statements.flatMap((statement) => statement.actions));
  const services = new Set(actions.map(serviceOf));
  const isOther = ({ role, action, isAllowed }: RecordedDecision) =>
    /Role[0-9A-F]{8}$/.test(role) && (!roles.has(role) || (isAllowed && !services.has(serviceOf(action))));
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .map((lines): RecordedDecision[] => lines.filter((line) => line !== '').map((line) => JSON.parse(line)));
  const once = (decisions: RecordedDecision[]) => [
    ...new Map(decisions.map((decision) => [JSON.stringify(decision), decision])).values(),
  ];
  return { all: once(files.flat()), ofStack: once(files.filter((file) => !file.some(isOther)).flat()) };
}

function isOf(stack: LocalStack, resource: string): boolean {
  if (resource.startsWith('arn:aws:s3:::')) return stack.buckets.some(({ arn }) => resource.split('/', 1)[0] === arn);
  if (resource.startsWith('arn:aws:sqs:')) return stack.queues.some(({ arn }) => arn === resource);
  return true;
}

function report({ roles, statements, grants, calls, unused, refused, mutants, excluded }: Proof): void {
  const survivors = mutants.filter(({ caughtBy }) => caughtBy === undefined);
  list('No call uses', unused);
  list('Recorded, but now refused', refused);
  list(
    'Not noticed',
    survivors.map(({ role, change }) => `${role} ${change}`),
  );
  print();
  print(`Roles               ${roles}`);
  print(`Statements          ${statements}`);
  print(`Grants              ${grants}, ${grants - unused.length} of them used by ${calls} kinds of calls`);
  print(`Not judged          ${excluded.grants} grants of logs:*. ${excluded.reason}`);
  print(`Mutants             ${mutants.length}`);
  print(`Caught              ${mutants.length - survivors.length}`);
  print(`Survivors           ${survivors.length}`);
  if (unused.length + refused.length + survivors.length > 0) process.exitCode = 1;
}

function list(title: string, lines: string[]): void {
  if (lines.length === 0) return;
  print();
  print(`${title}:`);
  for (const line of lines) print(`- ${line}`);
}

await main(process.argv[2]);
