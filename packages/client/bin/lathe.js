#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const args = process.argv.slice(2);
// A checkout has no build; Node 24 runs the TypeScript directly.
const source = new URL('../src/cli/main.ts', import.meta.url);
if (!existsSync(source)) await run(new URL('../dist/cli/main.js', import.meta.url));
else if (process.features.typescript) await run(source);
else runWithOwnNode();

async function run(module) {
  const { main } = await import(module.href);
  // A reader such as head may close the pipe early.
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.exitCode = await main(args, { out: process.stdout, err: process.stderr });
}

/** Starts itself with the Node 24 that `npm ci` or `npm start` has installed in the checkout. */
function runWithOwnNode() {
  const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(
      `lathe: Expected Node 24 to run from a checkout but received ${process.version}. Run npm ci first.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  // A terminal sends Ctrl-C to both processes, and a second signal would end the child at once.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 : code;
  });
}
