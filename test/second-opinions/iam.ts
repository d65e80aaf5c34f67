import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../infra/bundling.ts';
import { isAllowed } from '../../packages/local-aws/src/iam/policy.ts';
import type { RecordedDecision, RecordedPolicies } from '../../packages/local-aws/src/iam/record.ts';
import type { PolicyStatement } from '../../packages/local-aws/src/template/model.ts';
import { cache } from './cache.ts';
import { type AccessQuestion, vary } from './iam-requests.ts';
import type { Opinion } from './opinion.ts';

const simulatorPackage = '@cloud-copilot/iam-simulate';
const version = '0.1.173';
const progressEvery = 5_000;

interface Simulator {
  runSimulation(
    simulation: object,
    options: object,
  ): Promise<
    { resultType: 'error'; errors: { message: string } } | { resultType: 'single' | 'wildcard'; overallResult: string }
  >;
}

interface Comparison {
  /** The name under which the policies were recorded. */
  name: string;
  policies: RecordedPolicies;
  question: AccessQuestion;
  /** The gate's decision, if recorded. */
  recorded?: boolean;
}

/** Compares iam-simulate with the gate's decisions in a test run, and on slightly different requests. */
export async function runIamSimulation(given: string | undefined): Promise<Opinion> {
  const simulator = await loadSimulator();
  if ('missing' in simulator) return simulator;
  const folder = given === undefined ? recordContract() : resolve(given);
  const { decisions, policiesNamed } = readRecording(folder);
  const recorded = distinct(
    decisions.map(({ action, resource, conditions, isAllowed: wasAllowed, policies: name }) => ({
      name,
      policies: policiesNamed(name),
      question: { action, resource, conditions },
      recorded: wasAllowed,
    })),
  );
  print(`Recording           ${folder}`);
  print(`Decisions           ${decisions.length}, ${recorded.length} differ`);
  print(`Allowed, denied     ${count(recorded, true)}, ${count(recorded, false)}`);
  const asked = new Set(recorded.map(describe));
  const others = distinct(variations(recorded, policiesNamed)).filter((each) => !asked.has(describe(each)));
  print(`Variations          ${others.length} requests that the gate was not asked`);
  const outcomes = new Map<string, boolean>();
  let [judged, denied, impossible] = [0, 0, 0];
  for (const comparison of [...recorded, ...others]) {
    const ours = decide(comparison);
    const theirs = await ask(simulator, comparison);
    judged += 1;
    if (judged % progressEvery === 0) print(`                    ${judged} judged`);
    if (theirs === 'impossible') {
      impossible += 1;
      if (comparison.recorded === undefined) continue;
    }
    if (theirs === false) denied += 1;
    outcomes.set(describe(comparison), ours === theirs && (comparison.recorded ?? ours) === ours);
  }
  print(`Denied in all       ${denied}`);
  print(`Not requests of AWS ${impossible}`);
  return { outcomes, isPartial: false };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Installs the simulator once; its license (AGPL) keeps it out of the project's packages. */
async function loadSimulator(): Promise<Simulator | { missing: string }> {
  const folder = join(cache, `iam-simulate-${version}`);
  const entry = join(folder, 'node_modules', simulatorPackage, 'dist/esm/index.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${simulatorPackage}@${version}`];
    const { status } = spawnSync('npm', args, { stdio: 'ignore' });
    if (status !== 0) return { missing: `npm could not install ${simulatorPackage}` };
  }
  return import(pathToFileURL(entry).href);
}

/**
 * Runs the contract suite with the gate recording, which takes two minutes. A whole test run records five times as
 * much.
 */
function recordContract(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lathe-iam-'));
  const { status } = spawnSync(
    process.execPath,
    ['infra/setup/run.mjs', '--tests', 'node_modules/vitest/vitest.mjs', 'run', '--project', 'contract'],
    { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, LATHE_GATE_RECORD: folder } },
  );
  if (status !== 0) throw new Error(`The tests failed. Their recording is in ${folder}.`);
  return folder;
}

function readRecording(folder: string) {
  const decisions = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line): RecordedDecision => JSON.parse(line));
  if (decisions.some(({ policies }) => policies === undefined))
    throw new Error(`The recording in ${folder} is from an earlier version, without policies.`);
  const known = new Map<string, RecordedPolicies>();
  const policiesNamed = (name: string): RecordedPolicies => {
    const found = known.get(name) ?? JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    known.set(name, found);
    return found;
  };
  return { decisions, policiesNamed };
}

/** Asks each set of policies the questions of all others, and variations of its own. */
function variations(recorded: Comparison[], policiesNamed: (name: string) => RecordedPolicies): Comparison[] {
  const questions = [...new Map(recorded.map(({ question }) => [JSON.stringify(question), question])).values()];
  return [...Map.groupBy(recorded, ({ name }) => name)].flatMap(([name, asked]) => {
    const policies = policiesNamed(name);
    const services = new Set(asked.map(({ question }) => serviceOf(question)));
    // The policy of a queue or bucket is not asked about other services.
    const others = questions.filter((each) => policies.resource.length === 0 || services.has(serviceOf(each)));
    return [...others, ...asked.flatMap(({ question }) => vary(question))].map((question) => ({
      name,
      policies,
      question,
    }));
  });
}

function serviceOf({ action }: AccessQuestion): string {
  return action.split(':', 1)[0] ?? '';
}

function distinct(comparisons: Comparison[]): Comparison[] {
  const keyOf = ({ name, question, recorded }: Comparison) => JSON.stringify([name, question, recorded]);
  return [...new Map(comparisons.map((each) => [keyOf(each), each])).values()];
}

function count(recorded: Comparison[], isWanted: boolean): number {
  return recorded.filter((each) => each.recorded === isWanted).length;
}

function decide({ policies, question }: Pick<Comparison, 'policies' | 'question'>): boolean {
  const context = contextOf(question);
  const { action, resource } = question;
  const request = { caller: policies.caller, action, resource, context: (key: string) => context[key.toLowerCase()] };
  return isAllowed(request, policies.identity, policies.resource);
}

/** The gate treats the loopback interface as TLS, and does not record that. */
function contextOf({ conditions }: AccessQuestion): Record<string, string[]> {
  return { 'aws:securetransport': ['true'], ...conditions };
}

async function ask(simulator: Simulator, comparison: Comparison): Promise<boolean | 'impossible'> {
  const { policies, question } = comparison;
  const { caller } = policies;
  const accountOfResource = question.resource.split(':')[4] ?? '';
  const account = caller.type === 'role' ? caller.account : accountOfResource;
  const statements = documentOf(policies.identity);
  const resourcePolicy = documentOf(policies.resource);
  const result = await simulator.runSimulation(
    {
      request: {
        principal: caller.type === 'role' ? caller.arn : caller.name,
        action: question.action,
        // S3 ARNs have no account; the buckets belong to the roles' account.
        resource: { resource: question.resource, accountId: accountOfResource === '' ? account : accountOfResource },
        contextVariables: contextOf(question),
      },
      identityPolicies: statements ? [{ name: 'role', policy: statements }] : [],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      ...(resourcePolicy ? { resourcePolicy } : {}),
    },
    {},
  );
  if (result.resultType !== 'error') return result.overallResult === 'Allowed';
  const { message } = result.errors;
  // A resource that the action does not apply to, or an action without resource-level permissions.
  if (message === 'no.resource.types' || message === 'must.use.wildcard') return 'impossible';
  throw new Error(`iam-simulate cannot judge ${describe(comparison)}: ${JSON.stringify(result)}`);
}

/** Formats statements as a policy document; one without actions or resources, as tests make, matches nothing. */
function documentOf(statements: PolicyStatement[]): object | undefined {
  const usable = statements.filter(({ actions, resources }) => actions.length > 0 && resources.length > 0);
  if (usable.length === 0) return undefined;
  return {
    Version: '2012-10-17',
    Statement: usable.map(({ effect, principals, actions, resources, conditions }) => ({
      Effect: effect,
      ...(principals ? { Principal: principalOf(principals) } : {}),
      Action: actions,
      Resource: resources,
      ...(Object.keys(conditions).length > 0 ? { Condition: conditions } : {}),
    })),
  };
}

function principalOf(principals: NonNullable<PolicyStatement['principals']>): object | string {
  if (principals.some(({ type }) => type === '*')) return '*';
  const byType = Map.groupBy(principals, ({ type }) => type);
  return Object.fromEntries([...byType].map(([type, all]) => [type, all.map(({ value }) => value)]));
}

function describe({ name, policies: { caller }, question: { action, resource, conditions } }: Comparison): string {
  const who = caller.type === 'role' ? caller.arn : caller.name;
  return `${who} by the policies ${name}: ${action} on ${resource} with ${JSON.stringify(conditions)}`;
}
