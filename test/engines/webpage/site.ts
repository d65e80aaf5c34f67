import { createSocket } from 'node:dgram';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { OutputFile, WorkContext } from '../../../functions/engines/runtime/engine.ts';
import { engine } from '../../../functions/engines/webpage/run.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

/** Makes a folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'webpage-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const quiet: WorkContext = quietContext();

/** Converts one file with the engine, in a task folder of its own. */
export async function convertFile(
  path: string,
  format: string,
  outputFormat: string,
  options: OptionValues = {},
): Promise<OutputFile> {
  const folder = await mkdtemp(join(path, '..', 'task-'));
  const input = { path, name: basename(path), format, size: (await stat(path)).size };
  const result = await engine.run({ operation: 'convert', inputs: [input], outputFormat, options, folder }, quiet);
  const [output] = result.outputs;
  if (!output) throw new Error('The engine returned no output.');
  return output;
}

/** Converts HTML with the engine. */
export async function convertHtml(html: string, outputFormat: string, options: OptionValues = {}): Promise<OutputFile> {
  const path = join(await temporaryFolder(), 'page.html');
  await writeFile(path, html);
  return convertFile(path, 'html', outputFormat, options);
}

/** Serves a site on loopback for the length of a test. */
export async function startSite(respond: RequestListener): Promise<{ host: string; url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    respond(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return { host, url: `http://${host}/`, requests };
}

/** Listens on loopback, on TCP and UDP, for what must never come. */
export async function startCanary(): Promise<{ port: number; touched: string[] }> {
  const touched: string[] = [];
  const server = createTcpServer((socket) => {
    touched.push('tcp');
    socket.on('error', () => {}).destroy();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const udp = createSocket('udp4', () => touched.push('udp'));
  await new Promise<void>((done) => udp.bind(port, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    udp.close();
  });
  return { port, touched };
}
