import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { LatheError } from '../errors.ts';
import { Lathe } from '../lathe.ts';
import { flags, parse } from './options.ts';
import { readSettings, writeSettings } from './settings.ts';
import type { Output } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

/** Runs `lathe login`: checks the key and writes it with the URL into the config file. */
export async function login(args: string[], output: Output, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(args, flags.login);
  if (positionals.length > 0) throw new UsageError('Expected flags only. See lathe help login.');
  const { url, file } = await readSettings(values);
  const key = (values.key ?? (await askForKey(url, output, signal))).trim();
  if (key === '') throw new UsageError('Expected an API key from the terminal, standard input or --key.');
  try {
    await new Lathe({ url, key, retry: { retries: 1 } }).request('GET', '/v1/account/me', { signal });
  } catch (error) {
    // A valid key may lack the scope to read.
    if (!(error instanceof LatheError) || error.errorCode !== 'insufficient_permission') throw error;
  }
  await writeSettings({ url, key, file });
  output.err.write(`The key for ${url} is in ${file}.\n`);
  if (process.env.LATHE_API_KEY) output.err.write('LATHE_API_KEY is set, too, and has precedence.\n');
  return exitCodes.done;
}

/** Reads a line from standard input, without showing it if that is a terminal. */
function askForKey(url: string, { err }: Output, signal: AbortSignal): Promise<string> {
  const terminal = process.stdin.isTTY;
  if (terminal) err.write(`API key for ${url}: `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal });
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', abort);
      settle();
      lines.close();
      if (terminal) err.write('\n');
    };
    const abort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    // In a terminal that readline controls, Ctrl-C is a key and not a signal.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.once('line', (line) => end(() => resolve(line)));
    // The input has ended without a line; otherwise this has no effect.
    lines.once('close', () => resolve(''));
  });
}
