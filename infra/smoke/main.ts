import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cases, pathOf } from './cases.ts';
import { checkEvents, clients } from './check-events.ts';
import { checkPage } from './check-page.ts';
import { lineOf, type Outcome, runCase } from './run-case.ts';
import { Service, SmokeError } from './service.ts';

const pageName = 'page';
const clientNames = Object.keys(clients);
const known = [pageName, ...clientNames, ...cases.map(({ name }) => name)];

const usage = `Usage: npm run smoke -- <URL of the service> [--key <API key>]
  Sends a small file of each family through a running service, local or deployed, and checks what comes back. Receives an
  event by a plain WebSocket and by Socket.IO.
  --key <key>        defaults to LATHE_API_KEY, and for a service on this machine to the key that npm start printed
  --only <names>     only these, comma-separated: ${known.join(', ')}
  --timeout <n>      seconds that each may take; defaults to 300`;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const printError = (text: string) => void process.stderr.write(`${text}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { key: { type: 'string' }, only: { type: 'string' }, timeout: { type: 'string', default: '300' } },
});
const [url = '', ...more] = positionals;
const names = values.only?.split(',') ?? known;
const seconds = Number(values.timeout);
if (!URL.canParse(url) || more.length > 0 || !names.every((name) => known.includes(name)) || !(seconds > 0)) {
  printError(usage);
  process.exit(2);
}
try {
  process.exitCode = await smoke(values.key ?? (await keyFor(new URL(url))));
} catch (error) {
  if (!(error instanceof SmokeError)) throw error;
  printError(error.message);
  process.exitCode = 1;
}

/** Runs the cases in sequence, prints each, and returns the exit code. */
async function smoke(key: string): Promise<number> {
  const service = new Service(url, key);
  const health = await service.health();
  await service.checkKey();
  print(`Lathe ${health.version} at ${url}\n`);
  const checks: { name: string; path: string; converts?: boolean; run(): Promise<Outcome> }[] = [
    { name: pageName, path: '/', run: () => checkPage(service) },
    ...clientNames.map((name) => ({
      name,
      path: 'an event',
      run: () => checkEvents(service, health, name, { key, seconds }),
    })),
    ...cases.map((one) => ({
      name: one.name,
      path: pathOf(one),
      converts: true,
      run: () => runCase(service, health, one, { seconds, onProgress: (text) => showProgress(`${one.name}: ${text}`) }),
    })),
  ];
  const outcomes: (Outcome & { converts?: boolean })[] = [];
  for (const { converts = false, run, ...check } of checks.filter(({ name }) => names.includes(name))) {
    const began = performance.now();
    const outcome = await run();
    showProgress('');
    print(lineOf(check, outcome, performance.now() - began));
    outcomes.push({ ...outcome, converts });
  }
  const count = (result: Outcome['result']) => outcomes.filter((outcome) => outcome.result === result).length;
  print(`\n${count('ok')} ok, ${count('skipped')} skipped, ${count('failed')} failed`);
  // The page and events do not prove that conversions work.
  const converted = outcomes.filter(({ converts }) => converts);
  const nothing = (converted.length > 0 ? converted : outcomes).every(({ result }) => result === 'skipped');
  if (nothing) printError('Everything was skipped, so nothing was tested.');
  return count('failed') > 0 || nothing ? 1 : 0;
}

/** Shows one line that the next replaces, on terminals only. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text.slice(0, process.stderr.columns - 1)}`);
}

/** Finds the key of a local service, which is stored with its data. */
async function keyFor({ hostname }: URL): Promise<string> {
  if (process.env.LATHE_API_KEY) return process.env.LATHE_API_KEY;
  if (!['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    throw new SmokeError(
      'Expected an API key: pass it with --key. npm run key -- --stack <name of the stack> creates one.',
    );
  const path = join(process.env.LATHE_DATA ?? '.lathe', 'identity.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')).apiKey;
  } catch (error) {
    throw new SmokeError(`Expected an API key: pass it with --key, because there is none in ${path}.`, {
      cause: error,
    });
  }
}
