import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Signer {
  key: string;
  certificate: string;
}

/** Makes a certificate authority for tests, by OpenSSL. */
export async function makeAuthority(folder: string): Promise<Signer> {
  const [key, certificate] = [join(folder, 'ca.key'), join(folder, 'ca.pem')];
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=Test authority', '-keyout', key, '-out', certificate],
    ...['-addext', 'keyUsage=critical,keyCertSign'],
  ]);
  return { key, certificate };
}

interface Wanted {
  name: string;
  /** Such as `rsa:2048` or `ec:P-256`. */
  algorithm?: string;
  extensions?: string[];
  days?: number;
}

/** Makes a certificate that an authority issues. */
export async function issue(authority: Signer, folder: string, wanted: Wanted): Promise<Signer> {
  const { name, algorithm = 'rsa:2048', days = 1 } = wanted;
  const { extensions = ['keyUsage=critical,digitalSignature,nonRepudiation'] } = wanted;
  const file = (extension: string) => join(folder, `${name.replaceAll(' ', '-')}.${extension}`);
  const [kind = '', parameter = ''] = algorithm.split(':');
  await run('openssl', [
    ...['req', '-new', '-nodes', '-utf8', '-subj', `/CN=${name}`, '-keyout', file('key'), '-out', file('csr')],
    ...(kind === 'ec' ? ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${parameter}`] : ['-newkey', algorithm]),
  ]);
  await writeFile(file('ext'), extensions.join('\n'));
  await run('openssl', [
    ...['x509', '-req', '-in', file('csr'), '-CA', authority.certificate, '-CAkey', authority.key],
    ...['-days', String(days), '-extfile', file('ext'), '-out', file('pem')],
  ]);
  return { key: file('key'), certificate: file('pem') };
}

/** Returns a key with certificates in PEM, as the option `certificate` takes them. */
export async function pemOf({ key, certificate }: Signer, ...others: Signer[]): Promise<string> {
  const files = [key, certificate, ...others.map((other) => other.certificate)];
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
}

/** Returns a PKCS#12 file in base64. `args` are further arguments of OpenSSL. */
export async function pkcs12Of(signer: Signer, password: string, args: string[] = []): Promise<string> {
  const { stdout } = await run(
    'openssl',
    ['pkcs12', '-export', '-inkey', signer.key, '-in', signer.certificate, '-passout', `pass:${password}`, ...args],
    { encoding: 'buffer' },
  );
  return stdout.toString('base64');
}
