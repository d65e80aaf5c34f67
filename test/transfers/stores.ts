import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { S3Client } from '@aws-sdk/client-s3';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { projectRoot } from '../../infra/bundling.ts';
import type { LocalRole } from '../../packages/local-aws/src/template/model.ts';
import { allow, nothing, role, startLocalAws } from '../../packages/local-aws/test/gate/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { bareBucket } from './own-bucket.ts';

const run = promisify(execFile);

/** Waits until a server accepts connections. */
async function listening(port: number, child: ChildProcess, output: () => string): Promise<void> {
  const { connect } = await import('node:net');
  await until(`something listens on ${port}`, async () => {
    if (child.exitCode !== null) throw new Error(`The server ended with code ${child.exitCode}: ${output()}`);
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return undefined;
    } finally {
      socket.destroy();
    }
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function startChild(command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-20_000);
    });
  // A test run that is broken off leaves no server behind.
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  child.once('exit', () => process.off('exit', killWithParent));
  return { child, output: () => text };
}

export interface S3Store extends AsyncDisposable {
  port: number;
  client: S3Client;
  bucket: string;
  /** Where the store is, by the port of the store or of a link to it. */
  endpoint(port?: number): string;
  credentials: { access_key_id: string; secret_access_key: string; session_token: string };
  /** Credentials that the store knows and that allow nothing. */
  powerless: { access_key_id: string; secret_access_key: string; session_token: string };
}

const customer = role('Customer', [
  allow(
    ['s3:*'],
    ['arn:aws:s3:::customer', 'arn:aws:s3:::customer/*', 'arn:aws:s3:::missing', 'arn:aws:s3:::missing/*'],
  ),
]);

/** Starts a store that speaks S3 and checks signatures and permissions, apart from the one the service runs on. */
export async function startS3Store(): Promise<S3Store> {
  const aws = await startLocalAws({
    roles: [customer],
    change: (stack) =>
      stack.buckets.push({ ...bareBucket, logicalId: 'Customer', name: 'customer', arn: 'arn:aws:s3:::customer' }),
  });
  const keysOf = (wanted: LocalRole) => {
    const { accessKeyId, secretAccessKey, sessionToken } = aws.credentials(wanted);
    return { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken };
  };
  const port = Number(new URL(aws.origin).port);
  return {
    port,
    client: aws.s3(customer),
    bucket: 'customer',
    endpoint: (by = port) => `http://127.0.0.1:${by}/_aws/s3`,
    credentials: keysOf(customer),
    powerless: keysOf(nothing),
    [Symbol.asyncDispose]: () => aws[Symbol.asyncDispose](),
  };
}

export interface AzureStore extends AsyncDisposable {
  port: number;
  account: string;
  key: string;
  container: string;
  service: BlobServiceClient;
}

/** Starts Azurite, Microsoft's own stand-in for Azure. */
export async function startAzurite(): Promise<AzureStore> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-azurite-'));
  const port = await freePort();
  const account = 'lathetest';
  const key = Buffer.from('a key that is not Azurite’s well-known one').toString('base64');
  const { child, output } = startChild(
    process.execPath,
    [
      join(projectRoot, 'node_modules/azurite/dist/src/blob/main.js'),
      '--silent',
      '--skipApiVersionCheck',
      '--disableTelemetry',
      '--location',
      folder,
      '--blobHost',
      '127.0.0.1',
      '--blobPort',
      String(port),
    ],
    { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` },
  );
  await listening(port, child, output);
  const service = new BlobServiceClient(
    `http://127.0.0.1:${port}/${account}`,
    new StorageSharedKeyCredential(account, key),
  );
  await service.createContainer('customer');
  return {
    port,
    account,
    key,
    container: 'customer',
    service,
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface SftpStore extends AsyncDisposable {
  port: number;
  folder: string;
  username: string;
  privateKey: string;
  keyFile: string;
  fingerprint: string;
}

/** Starts OpenSSH's server on a loopback port with keys and settings of its own. It knows the user of this process by a key. */
export async function startSshd(): Promise<SftpStore> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-sshd-'));
  await chmod(folder, 0o700);
  const port = await freePort();
  const makeKey = (name: string) => run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  await Promise.all([makeKey('host'), makeKey('user')]);
  await mkdir(join(folder, 'files'));
  await writeFile(join(folder, 'authorized_keys'), await readFile(join(folder, 'user.pub')), { mode: 0o600 });
  // The server wants this folder where it runs as root, and Debian makes it only with the service.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const config = join(folder, 'sshd_config');
  await writeFile(
    config,
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
      `PidFile ${join(folder, 'pid')}`,
      'PermitRootLogin prohibit-password',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'StrictModes no',
      'UsePAM no',
      'MaxStartups 100',
      'Subsystem sftp internal-sftp',
    ].join('\n'),
  );
  const { child, output } = startChild('/usr/sbin/sshd', ['-D', '-e', '-f', config]);
  await listening(port, child, output);
  const { stdout } = await run('ssh-keygen', ['-l', '-E', 'sha256', '-f', join(folder, 'host.pub')]);
  return {
    port,
    folder: join(folder, 'files'),
    username: userInfo().username,
    privateKey: await readFile(join(folder, 'user'), 'utf8'),
    keyFile: join(folder, 'user'),
    fingerprint: stdout.split(' ')[1] ?? '',
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface GcsStore extends AsyncDisposable {
  port: number;
  url: string;
  bucket: string;
}

const gcsVersion = 'v1.56.1';

/** Returns the program that stands for Google Cloud Storage, built once where Go is there, or why it is not. */
export async function findGcsServer(): Promise<{ path: string } | { missing: string }> {
  const folder = join(projectRoot, 'node_modules/.cache');
  const path = join(folder, `fake-gcs-server-${gcsVersion}`);
  try {
    await access(path);
    return { path };
  } catch {
    // Building it takes minutes and a registry of Go modules, neither of which `npm test` may depend on.
    if (!process.env.LATHE_EXTRA_CHECKS) return { missing: 'npm run test:extra builds fake-gcs-server with Go' };
    if (spawnSync('go', ['version']).status !== 0) return { missing: 'there is no Go to build fake-gcs-server with' };
  }
  const bin = await mkdtemp(join(tmpdir(), 'lathe-gobin-'));
  try {
    await mkdir(folder, { recursive: true });
    await run('go', ['install', `github.com/fsouza/fake-gcs-server@${gcsVersion}`], {
      cwd: tmpdir(),
      env: { ...process.env, GOBIN: bin, GOFLAGS: '-mod=mod' },
    });
    // A rename would fail between two file systems.
    await writeFile(path, await readFile(join(bin, 'fake-gcs-server')), { mode: 0o755 });
    return { path };
  } catch {
    return { missing: 'Go could not build fake-gcs-server' };
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
}

/** Starts a server that speaks the protocol of Google Cloud Storage. */
export async function startGcsServer(path: string): Promise<GcsStore> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-gcs-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { child, output } = startChild(path, [
    ...['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port)],
    ...['-backend', 'filesystem', '-filesystem-root', folder],
    ...['-public-host', `127.0.0.1:${port}`, '-external-url', url],
  ]);
  await listening(port, child, output);
  const created = await fetch(`${url}/storage/v1/b`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'customer' }),
  });
  if (!created.ok) throw new Error(`The bucket could not be made: ${created.status}`);
  return {
    port,
    url,
    bucket: 'customer',
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
