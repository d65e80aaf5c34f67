import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { makeDirectory } from './fixture.ts';

/** Makes a directory that is removed when the test has finished. */
export async function makeDirectoryOfTest(): Promise<string> {
  const directory = await makeDirectory();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
