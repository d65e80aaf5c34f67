import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportSftp, importSftp } from '../../functions/transfers/sftp.ts';
import type { JsonObject, Task } from '../../shared/tasks/task.ts';
import { skipBecause } from '../support/skip.ts';
import { failureOf, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { type SftpStore, startSshd } from './stores.ts';
import { openToxicLink } from './toxic-link.ts';

let own: OwnBucket;
let sshd: SftpStore;

beforeAll(async () => {
  own = await startOwnBucket();
  sshd = await startSshd();
});
afterAll(async () => {
  await sshd[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

const parameters = (change: JsonObject = {}): JsonObject => ({
  host: '127.0.0.1',
  port: sshd.port,
  username: sshd.username,
  private_key: sshd.privateKey,
  ...change,
});
const importing = (change: JsonObject) => importSftp(makeRun('import/sftp', parameters(change)), makeSettings());
const exporting = (change: JsonObject, input: Task) =>
  exportSftp(makeRun('export/sftp', parameters(change), [input]), makeSettings());

/** With long timeouts, so that nothing but the pace can end a transfer. */
const hurried = makeSettings({
  pace: { bytesPerSecond: 16 * 1024, windowMs: 240, silenceMs: 60_000 },
  retryPolicy: { maxAttempts: 9, backoffMs: 1, idleTimeoutMs: 60_000 },
});

describe('import/sftp', () => {
  it('stores a file byte for byte, and checks the host key where a fingerprint is given', async () => {
    const content = noise(9_000_001);
    await writeFile(join(sshd.folder, 'Обзор.bin'), content);
    const { files } = await importing({
      file_string: join(sshd.folder, 'Обзор.bin'),
      host_key_fingerprint: sshd.fingerprint,
    });
    expect(files[0]).toMatchObject({ name: 'Обзор.bin', size: content.length });
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('takes an empty file', async () => {
    await writeFile(join(sshd.folder, 'empty'), '');
    const { files } = await importing({ file_string: join(sshd.folder, 'empty') });
    expect(files[0]?.size).toBe(0);
  });

  it('says nothing to a server that shows another host key', async () => {
    const failure = await failureOf(
      importing({ file_string: '/x', host_key_fingerprint: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }),
    );
    expect(failure.errorCode).toBe('processing_failed');
    expect(failure.msg).toContain(`but received ${sshd.fingerprint}`);
  });

  it('says what is wrong with a key that the server does not know, or that cannot be read', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs1', format: 'pem' })
      .toString();
    const unknown = await failureOf(importing({ file_string: '/x', private_key: stranger }));
    const garbage = await failureOf(importing({ file_string: '/x', private_key: 'garbage' }));
    expect(unknown.errorCode).toBe('invalid_credentials');
    expect(garbage).toEqual({
      errorCode: 'invalid_credentials',
      msg: 'The private_key cannot be read. Provide the complete key in OpenSSH or PEM format, without a passphrase.',
    });
  });

  it('says that a file is missing or is a folder', async () => {
    await mkdir(join(sshd.folder, 'folder'), { recursive: true });
    const missing = await failureOf(importing({ file_string: '/nowhere/file' }));
    const folder = await failureOf(importing({ file_string: join(sshd.folder, 'folder') }));
    expect(missing.msg).toBe(`There is no "/nowhere/file" on 127.0.0.1:${sshd.port}.`);
    expect(folder.errorCode).toBe('processing_failed');
  });

  const isRoot = userInfo().uid === 0 ? 'root may read everything; run it as another user' : undefined;
  it('says that a file may not be read', skipBecause(isRoot), async () => {
    await writeFile(join(sshd.folder, 'closed'), 'x');
    await chmod(join(sshd.folder, 'closed'), 0);
    expect((await failureOf(importing({ file_string: join(sshd.folder, 'closed') }))).errorCode).toBe(
      'insufficient_permission',
    );
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('brings the file whole over a link that %s', async (_what, silent) => {
    const content = noise(12_000_000);
    await writeFile(join(sshd.folder, 'drop.bin'), content);
    await using link = await openToxicLink(sshd.port, { after: 4_000_000, direction: 'down', times: 2, silent });
    const { files } = await importing({ file_string: join(sshd.folder, 'drop.bin'), port: link.port });
    expect(link.cuts).toBe(2);
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('fails, and stores nothing, when the link drops every time', async () => {
    await writeFile(join(sshd.folder, 'never.bin'), noise(1_000_000));
    await using link = await openToxicLink(sshd.port, { after: 5_000, direction: 'down', times: 1_000 });
    const before = await own.keys();
    const failure = await failureOf(importing({ file_string: join(sshd.folder, 'never.bin'), port: link.port }));
    expect(failure.msg).toMatch(/was dropped.*after 4 attempts/);
    expect(await own.keys()).toEqual(before);
  });

  it('logs in with a password, given directly or interactively, and says when it is wrong', async () => {
    for (const method of ['password', 'keyboard-interactive'] as const) {
      await using server = await startPasswordServer(method, 'content by password');
      const change = { port: server.port, username: 'user', file_string: '/file.txt' };
      const { private_key: _key, ...bare } = parameters(change);
      const right = await importSftp(makeRun('import/sftp', { ...bare, password: 'right' }), makeSettings());
      const wrong = await failureOf(importSftp(makeRun('import/sftp', { ...bare, password: 'wrong' }), makeSettings()));
      expect(right.files[0] && (await own.read(right.files[0])).toString()).toBe('content by password');
      expect(wrong.errorCode).toBe('invalid_credentials');
      expect(wrong.msg).not.toContain('wrong');
    }
  });
});

describe('export/sftp', () => {
  it('writes several files, makes their folder, replaces what is there, and leaves nothing else', async () => {
    const contents = [noise(5_000_000), Buffer.alloc(0)];
    const input = await makeInput(contents.map((content, index) => ({ name: `${index}.bin`, content })));
    await mkdir(join(sshd.folder, 'out/new'), { recursive: true });
    await writeFile(join(sshd.folder, 'out/new/0.bin'), 'old');
    const { details } = await exporting({ path_prefix: join(sshd.folder, 'out/new/') }, input);
    const fresh = await exporting({ path_prefix: join(sshd.folder, 'made/for/it/') }, input);
    for (const folder of ['out/new', 'made/for/it']) {
      expect((await readdir(join(sshd.folder, folder))).sort()).toEqual(['0.bin', '1.bin']);
      expect((await readFile(join(sshd.folder, folder, '0.bin'))).equals(contents[0] ?? Buffer.alloc(0))).toBe(true);
    }
    expect(details).toMatchObject({
      locations: [{ location: `sftp://127.0.0.1:${sshd.port}${join(sshd.folder, 'out/new/0.bin')}` }, { size: 0 }],
    });
    expect(fresh.files).toHaveLength(2);
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('writes the file whole over a link that %s', async (_what, silent) => {
    const content = noise(20_000_000);
    const input = await makeInput([{ name: 'big.bin', content }]);
    await using link = await openToxicLink(sshd.port, { after: 5_000_000, direction: 'up', times: 2, silent });
    await exporting({ file_string: join(sshd.folder, 'up.bin'), port: link.port }, input);
    expect(link.cuts).toBe(2);
    expect((await readFile(join(sshd.folder, 'up.bin'))).equals(content)).toBe(true);
  });

  it('leaves no file in its place when the link drops every time', async () => {
    const input = await makeInput([{ name: 'big.bin', content: noise(3_000_000) }]);
    await using link = await openToxicLink(sshd.port, { after: 4_000, direction: 'up', times: 1_000 });
    const failure = await failureOf(
      exporting({ file_string: join(sshd.folder, 'never-up.bin'), port: link.port }, input),
    );
    expect(failure.errorCode).toBe('processing_failed');
    expect(await readdir(sshd.folder)).not.toContain('never-up.bin');
  });
});

/** Starts an SSH server that knows one password, which OpenSSH's would look for among the accounts of this machine. */
async function startPasswordServer(method: 'password' | 'keyboard-interactive', content: string) {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  const server = new ssh2.Server({ hostKeys: [key] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (context) => {
      if (context.method === 'password' && method === 'password')
        return context.password === 'right' ? context.accept() : context.reject();
      if (context.method === 'keyboard-interactive' && method === 'keyboard-interactive')
        return context.prompt([{ prompt: 'Password: ', echo: false }], (answers) =>
          answers[0] === 'right' ? context.accept() : context.reject(),
        );
      return context.reject([method]);
    });
    client.on('session', (accept) =>
      accept().on('sftp', (acceptSftp) => serveFile(acceptSftp(), Buffer.from(content))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function serveFile(sftp: ssh2.SFTPWrapper, content: Buffer): void {
  const attributes = { mode: 0o100644, uid: 0, gid: 0, size: content.length, atime: 0, mtime: 0 };
  sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('handle')));
  sftp.on('FSTAT', (id) => sftp.attrs(id, attributes));
  sftp.on('READ', (id, _handle, offset, length) =>
    offset >= content.length ? sftp.status(id, 1) : sftp.data(id, content.subarray(offset, offset + length)),
  );
  sftp.on('CLOSE', (id) => sftp.status(id, 0));
}

describe('A server that moves nothing more', () => {
  it('fails the import and the export, and does not hold the worker', async () => {
    const content = noise(6_000_000);
    await writeFile(join(sshd.folder, 'slow.bin'), content);
    await using down = await openToxicLink(sshd.port, { after: 400_000, direction: 'down', times: 99, silent: true });
    await using up = await openToxicLink(sshd.port, { after: 400_000, direction: 'up', times: 99, silent: true });
    const source = parameters({ port: down.port, file_string: join(sshd.folder, 'slow.bin') });
    const target = parameters({ port: up.port, file_string: join(sshd.folder, 'sent.bin') });
    const input = await makeInput([{ name: 'a', content }]);

    const failures = await Promise.all([
      failureOf(importSftp(makeRun('import/sftp', source), hurried)),
      failureOf(exportSftp(makeRun('export/sftp', target, [input]), hurried)),
    ]);

    expect(failures.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^The other side sent less than 16 KB per second/),
      expect.stringMatching(/^The other side accepted less than 16 KB per second/),
    ]);
  });
});
