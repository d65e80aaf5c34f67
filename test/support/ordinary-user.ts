import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../packages/local-aws/test/lambda/fixtures/files.ts';

const isRoot = process.getuid?.() === 0;

/** Why no user without a passwd entry is available, if so. */
export const whyOnlyKnownUsers = isRoot ? undefined : 'Only root can start processes as another user.';

/**
 * Runs a module as a user other than root, if possible one without a passwd entry, as in containers; through the
 * program in `prefix`, if any. Returns its output.
 */
export async function asOrdinaryUser(module: string, prefix: string[] = []): Promise<string> {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o777);
  const node = [process.execPath, '--input-type=module-typescript', '-e', module];
  const [program = '', ...args] = [...prefix, ...node];
  const { stdout } = await promisify(execFile)(program, args, {
    ...(isRoot ? { uid: 12_345, gid: 12_345 } : {}),
    env: { PATH: process.env.PATH, HOME: folder.path, TMPDIR: folder.path },
  });
  return stdout.trim();
}
