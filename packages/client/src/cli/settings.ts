import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { LatheError } from '../errors.ts';
import { Lathe } from '../lathe.ts';
import { UsageError } from './usage.ts';

interface Settings {
  url: string;
  key: string | undefined;
  /** The config file, for advice on errors. */
  file: string;
}

/** The service as named on the command line. */
export interface Connection {
  url?: string | undefined;
  key?: string | undefined;
}

/** Reads the URL and API key of the service from the command line, the environment and the config file. */
export async function readSettings(
  { url, key }: Connection,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Settings> {
  const folder = environment.XDG_CONFIG_HOME || join(homedir(), '.config');
  const file = environment.LATHE_CONFIG || join(folder, 'lathe', 'config.json');
  const stored = await readConfig(file);
  const chosen = url ?? (environment.LATHE_URL || stored.url || 'http://localhost:3000');
  if (!/^https?:\/\/./i.test(chosen) || !URL.canParse(chosen))
    throw new UsageError(`Expected a service URL such as http://localhost:3000 but received ${chosen}.`);
  return { url: chosen, key: key ?? (environment.LATHE_API_KEY || stored.key), file };
}

async function readConfig(file: string): Promise<{ url?: string; key?: string }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    const { url, key } = Object.fromEntries(Object.entries(JSON.parse(text)));
    return { ...(typeof url === 'string' ? { url } : {}), ...(typeof key === 'string' ? { key } : {}) };
  } catch {
    throw new UsageError(`Expected {"url": "…", "key": "…"} in ${file}.`);
  }
}

/** Writes the config file, which only its owner may read. */
export async function writeSettings({ url, key, file }: Settings): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // A new file, because an existing one may be readable by others.
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, `${JSON.stringify({ url, key }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
}

export interface Service {
  lathe: Lathe;
  settings: Settings;
}

/** Creates the client of a command. */
export async function serviceFor(connection: Connection): Promise<Service> {
  const settings = await readSettings(connection);
  return { settings, lathe: new Lathe({ url: settings.url, key: settings.key }) };
}

/** Creates the client of a converting command. Fails early if the service is unreachable or the key is missing. */
export async function reachedService(connection: Connection, signal: AbortSignal): Promise<Service> {
  const service = await serviceFor(connection);
  const { url, key } = service.settings;
  await new Lathe({ url, retry: { retries: 1 }, timeoutMs: 20_000 }).health({ signal });
  if (key === undefined) throw new LatheError('unauthorized', 'No API key is set.', { status: 401 });
  return service;
}
