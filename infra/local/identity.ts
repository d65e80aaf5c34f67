import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newApiKey } from '../../shared/aws/stores/api-keys.ts';
import { newId } from '../../shared/ids.ts';

/** The identity of a data folder: created once, kept with the data. */
export interface Identity {
  /** The development user. */
  user: string;
  apiKey: string;
  /** All role credentials are derived from it, so that forms and links from before a restart stay valid. */
  masterSecret: string;
}

/** Reads the identity of a data folder, or creates it on the first start. */
export async function readIdentity(dataDirectory: string): Promise<Identity> {
  const path = join(dataDirectory, 'identity.json');
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const identity: Identity = { user: newId(), apiKey: newApiKey(), masterSecret: randomBytes(32).toString('hex') };
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(path, JSON.stringify(identity, null, 2), { mode: 0o600, flag: 'wx' });
  return identity;
}
