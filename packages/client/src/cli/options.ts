import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Options } from '../types.ts';
import { UsageError } from './usage.ts';

const connectionFlags = { url: { type: 'string' }, key: { type: 'string' } } as const;
const jsonFlag = { json: { type: 'boolean', default: false } } as const;

const outputFlags = {
  ...connectionFlags,
  ...jsonFlag,
  quiet: { type: 'boolean', short: 'q', default: false },
  force: { type: 'boolean', default: false },
  out: { type: 'string', short: 'o' },
} as const;

const operationFlags = {
  ...outputFlags,
  to: { type: 'string', short: 't' },
  option: { type: 'string', multiple: true, default: [] as string[] },
} as const;

export const runFlags = {
  ...operationFlags,
  from: { type: 'string' },
  parallel: { type: 'string', default: '4' },
  webpage: { type: 'boolean', default: false },
  with: { type: 'string', multiple: true, default: [] as string[] },
} as const;

/** The flags of each command. */
export const flags = {
  convert: runFlags,
  compress: runFlags,
  crop: {
    ...runFlags,
    x: { type: 'string' },
    y: { type: 'string' },
    width: { type: 'string' },
    height: { type: 'string' },
  },
  trim: { ...runFlags, start: { type: 'string' }, end: { type: 'string' } },
  merge: operationFlags,
  formats: { ...connectionFlags, ...jsonFlag, into: { type: 'string' } },
  options: { ...connectionFlags, ...jsonFlag, operation: { type: 'string', default: 'convert' } },
  jobs: {
    ...connectionFlags,
    ...jsonFlag,
    status: { type: 'string' },
    limit: { type: 'string', default: '20' },
  },
  job: outputFlags,
  pdf: runFlags,
  invoice: runFlags,
  watch: runFlags,
  login: connectionFlags,
  mcp: { ...connectionFlags, root: { type: 'string', multiple: true } },
  completion: {},
} as const;

/** Parses the arguments of a command. */
export function parse<const Flags extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: Flags) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

/** Parses pairs of the form NAME=VALUE, which a flag repeats. */
export function pairsOf(pairs: readonly string[], flag: string): Record<string, string> {
  const options = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`Expected NAME=VALUE for --${flag} but received ${pair}.`);
    const name = pair.slice(0, at);
    if (options.has(name)) throw new UsageError(`Expected each --${flag} once but received ${name} twice.`);
    options.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(options);
}

/** Parses options of an operation. */
export function optionsOf(pairs: readonly string[]): Options {
  return pairsOf(pairs, 'option');
}

const flagNames: Record<string, string> = { output_format: '--to', input_format: '--from', url: 'URL', file: 'file' };

/** Returns what stands for a field of a request on the command line. */
export function flagOf(field: string): string {
  return flagNames[field] ?? field.replace(/^options\./, '--option ');
}

/** Parses a positive integer. */
export function countOf(text: string, name: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    throw new UsageError(`Expected a number from 1 to ${max} for --${name} but received ${text}.`);
  return value;
}

/** Normalizes a format such as `.PDF`. */
export function formatOf(text: string): string {
  const format = text.replace(/^\./, '').toLowerCase();
  if (!/^[a-z0-9_+-]{1,20}$/.test(format)) throw new UsageError(`Expected a format such as pdf but received ${text}.`);
  return format;
}
