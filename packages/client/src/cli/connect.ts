import { LatheError } from '../errors.ts';
import { Lathe } from '../lathe.ts';
import { readSettings, type Settings } from './settings.ts';

export interface Service {
  lathe: Lathe;
  settings: Settings;
}

/** Creates the client of a command. */
export async function serviceFor({ url }: { url?: string | undefined }): Promise<Service> {
  const settings = await readSettings({ url });
  return { settings, lathe: new Lathe({ url: settings.url, key: settings.key }) };
}

/** Creates the client of a converting command. Fails early if the service is unreachable or the key is missing. */
export async function reachedService(options: { url?: string | undefined }, signal: AbortSignal): Promise<Service> {
  const service = await serviceFor(options);
  const { url, key } = service.settings;
  await new Lathe({ url, retry: { retries: 1 }, timeoutMs: 20_000 }).health({ signal });
  if (key === undefined) throw new LatheError('unauthorized', 'No API key is set.', { status: 401 });
  return service;
}
