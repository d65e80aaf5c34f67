import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** Arguments of `npm run`, shortest commands first. */
const commands = new Map<string, string[]>([
  ['lint:template', ['lint:template']],
  ...['dynamodb', 's3', 'iam', 'ministack', 'parts'].map((name): [string, string[]] => [
    name,
    ['test:second-opinions', '--', name],
  ]),
  ...['alarms', 'newcomer', 'markdown', 'ocr', 'integrations', 'fuzz'].map((name): [string, string[]] => [
    name,
    [`test:${name}`],
  ]),
  ['images', ['images']],
  ...['permissions', 'misbehaving'].map((name): [string, string[]] => [name, [`test:${name}`]]),
]);

const folder = join(projectRoot, 'node_modules/.cache/verify');
const print = (line = '') => void process.stdout.write(`${line}\n`);

let running: ChildProcess | undefined;
let isInterrupted = false;

/** Runs the checks that take too long for `npm test`, all or those named, and prints a table of their outcomes. */
async function main(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !commands.has(name));
  if (unknown.length > 0)
    throw new Error(`Expected some of ${[...commands.keys()].join(', ')} but received ${unknown.join(', ')}.`);
  mkdirSync(folder, { recursive: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt(signal));
  const rows: (Outcome & { name: string; duration: string })[] = [];
  for (const [name, args] of commands) {
    if (isInterrupted || (names.length > 0 && !names.includes(name))) continue;
    const started = Date.now();
    const log = join(folder, `${name.replace(':', '-')}.log`);
    print(`${name}: npm run ${args.join(' ')}, log ${relative(projectRoot, log)}`);
    const outcome = await run(args, log);
    const duration = durationOf(Date.now() - started);
    print(`${name}: ${outcome.result} after ${duration}`);
    rows.push({ name, duration, ...outcome });
  }
  print();
  printTable(rows.map(({ name, result, duration, detail }) => [name, result, duration, detail]));
  for (const { name, leftOut } of rows) for (const line of leftOut) print(`${name}: ${line}`);
  if (isInterrupted || rows.some(({ result }) => result === 'failed')) process.exitCode = 1;
}

async function run(args: string[], log: string): Promise<Outcome> {
  const file = openSync(log, 'w');
  // Leader of its own group, so that a signal reaches all processes of npm.
  running = spawn('npm', ['run', ...args], { cwd: projectRoot, detached: true, stdio: ['ignore', file, file] });
  closeSync(file);
  await once(running, 'exit');
  const outcome = outcomeOf(readFileSync(log, 'utf8'), running.exitCode);
  running = undefined;
  return isInterrupted ? { ...outcome, result: 'failed', detail: 'interrupted' } : outcome;
}

function interrupt(signal: NodeJS.Signals): void {
  isInterrupted = true;
  if (running?.pid !== undefined) process.kill(-running.pid, signal);
}

function durationOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function printTable(rows: string[][]): void {
  const table = [['command', 'outcome', 'duration', 'last line'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

await main(process.argv.slice(2));
