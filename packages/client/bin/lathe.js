#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout has no build; Node 24 runs the TypeScript directly.
const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href);
// A reader such as head may close the pipe early.
process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr });
