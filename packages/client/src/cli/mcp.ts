import { Roots } from '../mcp/roots.ts';
import { flags, parse } from './options.ts';
import { serviceFor } from './settings.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

/** Runs `lathe mcp` until its input ends. */
export async function mcp(args: string[], _output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.mcp);
  if (positionals.length > 0) throw new UsageError('Expected flags only. See lathe help mcp.');
  const { lathe, settings } = await serviceFor(values);
  const folders = values.root ?? [process.cwd()];
  const roots = await Roots.of(folders).catch(() => {
    throw new UsageError(`Expected existing folders for --root but received ${folders.join(', ')}.`);
  });
  const { serve } = await import('../mcp/server.ts').catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('lathe mcp requires optional packages: npm install @modelcontextprotocol/sdk zod.');
  });
  await serve({ lathe, roots, configFile: settings.file }, signal);
  return exitCodes.done;
}
