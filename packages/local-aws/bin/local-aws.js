#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout has no build: there Node 24 runs the TypeScript as it is.
const source = new URL('../src/main.ts', import.meta.url);
const { main } = await import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2));
