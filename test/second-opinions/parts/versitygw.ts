import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../cache.ts';
import type { Part } from './server.ts';

const version = 'v1.8.0';

/** Versity's S3, on a folder. */
export const versitygw: Part = {
  title: `versitygw ${version}`,
  replaces: 'S3',
  variable: 'LATHE_S3_SERVER',
  prepare(folder) {
    const bin = join(cache, `versitygw-${version}`);
    const program = join(bin, 'versitygw');
    if (!existsSync(program)) {
      if (spawnSync('go', ['version']).status !== 0) return { missing: 'there is no Go' };
      const install = ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`];
      if (spawnSync('go', install, { env: { ...process.env, GOBIN: bin } }).status !== 0)
        return { missing: `Go could not install versitygw ${version}` };
    }
    const [objects, metadata] = [join(folder, 'objects'), join(folder, 'metadata')];
    for (const each of [objects, metadata]) mkdirSync(each);
    const [access, secret] = [randomBytes(8).toString('hex'), randomBytes(16).toString('hex')];
    return {
      program,
      // In separate files: not every file system supports user attributes.
      args: (port) => ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', metadata, objects],
      env: { ROOT_ACCESS_KEY: access, ROOT_SECRET_KEY: secret },
      address: (port) => `http://${access}:${secret}@127.0.0.1:${port}`,
    };
  },
};
