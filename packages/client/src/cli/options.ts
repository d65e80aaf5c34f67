import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Options } from '../types.ts';
import { UsageError } from './usage.ts';

export const connectionFlags = { url: { type: 'string' } } as const;

export const outputFlags = {
  json: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  option: { type: 'string', multiple: true, default: [] as string[] },
} as const;

export const runFlags = {
  ...connectionFlags,
  ...outputFlags,
  to: { type: 'string' },
  from: { type: 'string' },
  out: { type: 'string' },
  parallel: { type: 'string', default: '4' },
  webpage: { type: 'boolean', default: false },
} as const;

/** Parses the arguments of a command. */
export function parse<const Flags extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: Flags) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

/** Parses options of the form NAME=VALUE. */
export function optionsOf(pairs: readonly string[]): Options {
  const options = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`Expected NAME=VALUE for --option but received ${pair}.`);
    const name = pair.slice(0, at);
    if (options.has(name)) throw new UsageError(`Expected each option once but received ${name} twice.`);
    options.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(options);
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
