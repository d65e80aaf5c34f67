import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { posix } from 'node:path';
import SftpClient from 'ssh2-sftp-client';
import { connectOptions } from '../../shared/net/addresses.ts';
import { retry } from '../../shared/retry.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import { type Destination, deliver, type Outgoing } from './deliver.ts';
import {
  CannotResume,
  explainConnection,
  failed,
  insufficientPermission,
  invalidCredentials,
  Transient,
} from './failures.ts';
import type { Taken } from './outbound.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { type RetryPolicy, retryDelay } from './retry-policy.ts';
import { closeFile, openFile, type Sftp, SftpReader, statFile, writeAll } from './sftp-streams.ts';

/** Imports a file from an SFTP server. */
export async function importSftp(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const server = serverOf(run.parameters, settings);
  const file = await receive(run, 0, serverFile(server, String(run.parameters.file_string)), settings);
  return { files: [file] };
}

/** Exports files to an SFTP server. */
export async function exportSftp(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const server = serverOf(run.parameters, settings);
  const taken: Taken = { bytes: 0 };
  const destination: Destination = {
    one: 'file_string',
    several: 'path_prefix',
    locate: (place) => `sftp://${server.address}/${place.replace(/^\/+/, '')}`,
    send: (file) => put(run, server, file, settings.retryPolicy, taken),
    taken,
  };
  return deliver(run, destination, settings);
}

type Server = ReturnType<typeof serverOf>;
type Connection = Awaited<ReturnType<Server['connect']>>;

/** Returns an SFTP server with the credentials for it. */
function serverOf(parameters: JsonObject, { outbound, retryPolicy: { idleTimeoutMs } }: TransferSettings) {
  const hostname = String(parameters.host);
  const port = Number(parameters.port);
  const address = `${hostname}:${port}`;

  /** Connects to a checked address, verifies the host key if a fingerprint is given, and logs in. */
  async function connect(signal: AbortSignal) {
    const socket = await openSocket(signal);
    const client = new SftpClient('transfer', { error: () => undefined, end: () => undefined, close: () => undefined });
    const login = new Login(parameters);
    const disconnect = () => {
      socket.destroy();
      client.end().catch(() => undefined);
    };
    client.on('error', (error: unknown) => login.note(error));
    client.on('keyboard-interactive', (...asked: unknown[]) => login.respond(asked));
    try {
      const sftp = await client.connect({ sock: socket, ...login.options(idleTimeoutMs) });
      signal.throwIfAborted();
      return { client, sftp, disconnect };
    } catch (error) {
      disconnect();
      signal.throwIfAborted();
      throw login.explain(error, address) ?? explain(error, '');
    }
  }

  async function openSocket(signal: AbortSignal): Promise<Socket> {
    const options = await connectOptions(hostname, port, outbound.allow, outbound.resolve);
    const socket = connectSocket({ ...options, noDelay: true });
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(idleTimeoutMs)]);
    try {
      await once(socket, 'connect', { signal: deadline });
    } catch (error) {
      socket.on('error', () => undefined).destroy();
      signal.throwIfAborted();
      throw deadline.aborted ? new Transient(`${address} did not respond in time.`, { cause: error }) : error;
    }
    return socket;
  }

  /** Translates an error of the server or the library into one of the service. */
  function explain(error: unknown, path: string): Error {
    const connection = explainConnection(error, address);
    if (connection) return connection;
    const { code } = Object(error);
    const file = JSON.stringify(path);
    if (code === 2 || code === 10) return failed(`There is no ${file} on ${address}.`, error);
    if (code === 3) return insufficientPermission(`The user has no permission for ${file} on ${address}.`, error);
    if (code === 14 || code === 15) return failed(`There is no space left on ${address}.`, error);
    if (typeof code === 'number' && code !== 6 && code !== 7)
      return failed(`${address} refused ${file} (SFTP status ${code}).`, error);
    // Without a status there was no response: the connection was lost.
    return new Transient(`The connection to ${address} was dropped.`, { cause: error });
  }

  return { address, connect, explain };
}

/** One attempt to log in. The library keeps only the message of an error, so its kind is recorded on the way. */
class Login {
  readonly #parameters: JsonObject;
  #level: string | undefined;
  #shown: string | undefined;
  #began = false;

  constructor(parameters: JsonObject) {
    this.#parameters = parameters;
  }

  options(readyTimeout: number) {
    const { username, password, private_key } = this.#parameters;
    return {
      username: String(username),
      ...(typeof private_key === 'string'
        ? { privateKey: private_key.includes('\n') ? private_key : private_key.replaceAll('\\n', '\n') }
        : {}),
      ...(typeof password === 'string' ? { password, tryKeyboard: true } : {}),
      readyTimeout,
      keepaliveInterval: Math.max(1_000, Math.floor(readyTimeout / 3)),
      hostVerifier: (key: Buffer) => this.#verify(key),
      // These have hardware support.
      algorithms: { cipher: { prepend: ['aes128-gcm@openssh.com' as const], append: [], remove: [] } },
    };
  }

  note(error: unknown): void {
    this.#level ??= Object(error).level;
  }

  /** Responds to a server that asks for the password interactively. */
  respond(asked: unknown[]): void {
    const [, , , prompts, finish] = asked;
    if (typeof finish === 'function' && Array.isArray(prompts))
      finish(prompts.map(() => String(this.#parameters.password ?? '')));
  }

  explain(error: unknown, address: string): Error | undefined {
    const { host_key_fingerprint: wanted } = this.#parameters;
    if (this.#shown !== undefined)
      return failed(
        `Expected the host key ${fingerprint(String(wanted))} but received ${this.#shown} from ${address}, which may be another server.`,
        error,
      );
    if (this.#level === 'client-timeout') return new Transient(`${address} did not respond in time.`, { cause: error });
    if (this.#level === 'client-authentication')
      return invalidCredentials(`${address} rejected the user name with this password or private key.`, error);
    // Nothing has been sent to the server, so the key is invalid.
    if (
      !this.#began &&
      this.#level === undefined &&
      explainConnection(error, address) === undefined &&
      this.#parameters.private_key !== undefined
    )
      return invalidCredentials(
        'The private_key cannot be read. Provide the complete key in OpenSSH or PEM format, without a passphrase.',
        error,
      );
    return undefined;
  }

  #verify(key: Buffer): boolean {
    this.#began = true;
    const { host_key_fingerprint: wanted } = this.#parameters;
    if (typeof wanted !== 'string') return true;
    const shown = Buffer.from(`SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`);
    const expected = Buffer.from(fingerprint(wanted));
    if (shown.length === expected.length && timingSafeEqual(shown, expected)) return true;
    this.#shown = shown.toString();
    return false;
  }
}

/** Formats a fingerprint as OpenSSH does. */
function fingerprint(text: string): string {
  return `SHA256:${text
    .trim()
    .replace(/^sha256:/i, '')
    .replace(/=+$/, '')}`;
}

/** Returns a file of a server, considered unchanged while its size and modification time are. */
function serverFile(server: Server, path: string): Incoming {
  let found: { size: number; mtime: number } | undefined;
  return {
    announced: { name: '' },
    explain: (error) => server.explain(error, path),
    async open(offset, signal) {
      const { sftp, disconnect } = await server.connect(signal);
      signal.addEventListener('abort', disconnect, { once: true });
      try {
        const handle = await openFile(sftp, path, 'r');
        const { size, mtime } = await statFile(sftp, handle);
        if (offset > 0 && (size !== found?.size || mtime !== found.mtime))
          throw new CannotResume('The file changed while it was being read.');
        found = { size, mtime };
        this.announced = { name: path.replace(/\/+$/, ''), size };
        return { stream: new SftpReader(sftp, handle, offset, disconnect), size };
      } catch (error) {
        disconnect();
        throw error;
      }
    },
  };
}

/** Writes a file under a temporary name and renames it when complete, so that nobody reads an incomplete file. */
async function put(run: Run, server: Server, file: Outgoing, policy: RetryPolicy, taken: Taken): Promise<void> {
  const { dir, base } = posix.parse(file.place);
  const part: Part = { path: posix.join(dir, `.${base.slice(0, 80)}.${run.task.id}.part`), confirmed: 0 };
  let fruitless = 0;
  const attempt = async () => {
    const before = part.confirmed;
    let connection: Connection | undefined;
    try {
      connection = await server.connect(file.signal);
      file.signal.addEventListener('abort', connection.disconnect, { once: true });
      await writePart(connection.client, connection.sftp, file, part, taken);
      await moveInPlace(connection.client, part.path, file.place);
    } catch (error) {
      file.signal.throwIfAborted();
      const explained = server.explain(error, file.place);
      if (!(explained instanceof Transient)) await connection?.client.delete(part.path, true).catch(() => undefined);
      fruitless = part.confirmed > before ? 1 : fruitless + 1;
      throw explained;
    } finally {
      connection?.disconnect();
    }
  };
  await retry(attempt, (error) => retryDelay(error, fruitless, policy), file.signal);
}

interface Part {
  path: string;
  /** Bytes that the server has confirmed, from the start without a gap. */
  confirmed: number;
}

async function writePart(client: SftpClient, sftp: Sftp, file: Outgoing, part: Part, taken: Taken): Promise<void> {
  const handle = await openPart(client, sftp, part);
  const content = file.open(part.confirmed);
  try {
    await writeAll(sftp, handle, part.confirmed, content, (position) => {
      taken.bytes += position - part.confirmed;
      part.confirmed = position;
    });
  } finally {
    content.destroy();
  }
  const { size } = await statFile(sftp, handle);
  await closeFile(sftp, handle);
  if (size !== file.size) throw failed(`The server stored ${size} of the ${file.size} bytes sent.`);
}

async function openPart(client: SftpClient, sftp: Sftp, part: Part): Promise<Buffer> {
  if (part.confirmed > 0) {
    try {
      return await openFile(sftp, part.path, 'r+');
    } catch (error) {
      if (!isMissing(error)) throw error;
      part.confirmed = 0;
    }
  }
  try {
    return await openFile(sftp, part.path, 'w');
  } catch (error) {
    const folder = posix.dirname(part.path);
    if (!isMissing(error) || folder === '.') throw error;
    await client.mkdir(folder, true);
    return openFile(sftp, part.path, 'w');
  }
}

async function moveInPlace(client: SftpClient, part: string, place: string): Promise<void> {
  try {
    await client.posixRename(part, place);
  } catch {
    // The standard rename, which every server supports, does not overwrite files.
    await client.delete(place, true);
    await client.rename(part, place);
  }
}

function isMissing(error: unknown): boolean {
  return Object(error).code === 2;
}
