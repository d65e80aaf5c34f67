import { LatheError } from '../errors.ts';
import { adviceOn, describe, isUnavailable } from '../node/problems.ts';
import { packageVersion } from '../node/version.ts';
import { isNear } from '../option-names.ts';
import { completion } from './completion.ts';
import { compress, convert, crop, documents, merge, trim } from './convert.ts';
import { job } from './job.ts';
import { formats, jobs, options } from './lists.ts';
import { login } from './login.ts';
import { flagOf, type flags } from './options.ts';
import { readSettings } from './settings.ts';
import { type Output, printable } from './terminal.ts';
import { exitCodes, help, UsageError } from './usage.ts';
import { watch } from './watch.ts';

type Command = (args: string[], output: Output, signal: AbortSignal) => Promise<number>;

const commands: Record<keyof typeof flags, Command> = {
  convert,
  compress,
  crop,
  trim,
  merge,
  pdf: documents('pdf'),
  invoice: documents('invoice'),
  formats,
  options,
  jobs,
  job,
  watch,
  login,
  completion,
  // Loaded on demand, because only this command needs the protocol's package.
  mcp: async (args, output, signal) => (await import('./mcp.ts')).mcp(args, output, signal),
};

/** Runs the command line and returns its exit code. */
export async function main(args: string[], output: Output): Promise<number> {
  const [name = 'help', ...rest] = args;
  if (name === '--version' || name === '-v' || name === 'version') {
    output.out.write(`${packageVersion()}\n`);
    return exitCodes.done;
  }
  const isHelp = name === 'help' || name === '--help' || name === '-h';
  if (isHelp || rest.includes('--help') || rest.includes('-h')) {
    output.out.write(help[isHelp ? (rest[0] ?? '') : name] ?? help[''] ?? '');
    return exitCodes.done;
  }
  const interruption = new AbortController();
  const interrupt = () => {
    // A second signal ends the process at once.
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    interruption.abort(new LatheError('canceled', 'Interrupted.'));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const command = Object.entries(commands).find(([known]) => known === name)?.[1];
    if (!command && name.startsWith('-'))
      throw new UsageError(`Expected a command before ${name}, such as lathe convert. Run lathe help for a list.`);
    if (!command) {
      const near = Object.keys(commands).find((known) => isNear(known, name));
      const advice = near === undefined ? 'Run lathe help for a list.' : `Did you mean ${near}?`;
      throw new UsageError(`Unknown command ${name}. ${advice}`);
    }
    return await command(rest, output, interruption.signal);
  } catch (error) {
    output.err.write(`lathe: ${printable(await messageOf(error))}\n`);
    return codeOf(error, interruption.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

async function messageOf(error: unknown): Promise<string> {
  const { msg } = describe(error, flagOf);
  return isUnavailable(error) ? `${msg} ${adviceOn(error, (await readSettings({})).file)}` : msg;
}

function codeOf(error: unknown, { aborted }: AbortSignal): number {
  if (aborted) return exitCodes.interrupted;
  if (error instanceof UsageError || (error instanceof LatheError && error.reason === 'invalid_options'))
    return exitCodes.usage;
  if (isUnavailable(error)) return exitCodes.unavailable;
  return exitCodes.failed;
}
