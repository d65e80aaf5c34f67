import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { agentsFor } from '../../functions/transfers/outbound.ts';
import { noise } from './own-bucket.ts';
import { makeSettings } from './run.ts';

const run = promisify(execFile);

it('counts what a store takes over TLS, and changes none of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-tls-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    '-days',
    '1',
    ...subject,
  ]);
  const cert = await readFile(certificate);
  const server = createServer({ key: await readFile(key), cert }, async (incoming, response) => {
    const hash = createHash('sha256');
    for await (const chunk of incoming) hash.update(chunk);
    response.end(hash.digest('hex'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const url = new URL(`https://127.0.0.1:${address.port}/`);
  const taken = { bytes: 0 };
  const { httpsAgent } = agentsFor(url, makeSettings().outbound, { taken });
  const put = (body: Buffer) =>
    new Promise<string>((resolve, reject) => {
      const sent = request(url, { method: 'PUT', agent: httpsAgent, ca: cert }, async (response) => {
        resolve(Buffer.concat(await response.toArray()).toString());
      });
      sent.on('error', reject).end(body);
    });
  try {
    // The second goes over the connection of the first.
    for (const content of [noise(3_000_001), noise(70_000)]) {
      const before = taken.bytes;
      expect(await put(content)).toBe(createHash('sha256').update(content).digest('hex'));
      expect(taken.bytes - before).toBeGreaterThan(content.length);
      expect(taken.bytes - before).toBeLessThan(content.length + 1_000);
    }
  } finally {
    httpsAgent.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
