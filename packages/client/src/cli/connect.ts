import { LatheError } from '../errors.ts';
import { Lathe } from '../lathe.ts';
import { readSettings, type Settings } from './settings.ts';

/** The service that a command uses. */
export interface Service {
  lathe: Lathe;
  settings: Settings;
}

/** Makes the client of a command. */
export async function serviceFor({ url }: { url?: string | undefined }): Promise<Service> {
  const settings = await readSettings({ url });
  return { settings, lathe: new Lathe({ url: settings.url, key: settings.key }) };
}

/** Makes the client of a command that converts, or fails at once where nothing responds or there is no key. */
export async function reachedService(options: { url?: string | undefined }, signal: AbortSignal): Promise<Service> {
  const service = await serviceFor(options);
  const { url, key } = service.settings;
  await new Lathe({ url, retry: { retries: 1 }, timeoutMs: 20_000 }).health({ signal });
  if (key === undefined) throw new LatheError('unauthorized', 'There is no API key.', { status: 401 });
  return service;
}
