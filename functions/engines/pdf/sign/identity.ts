import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { ProgramError, runProgram } from '../../runtime/program.ts';
import type { Job } from '../job.ts';
import type { Identity } from './cms.ts';
import { keyUsageOf } from './signed-data.ts';

const maxCertificates = 20;
const minRsaBits = 2_048;
const openMs = 20_000;

/** Reads the key and the certificates that the options give, and checks that they can sign. */
export async function readIdentity(job: Job): Promise<Identity> {
  const { certificate: given, certificate_password: password } = job.work.options;
  if (given === undefined)
    throw new EngineError(
      'Set the option certificate to a PKCS#12 file in base64, or to a key and certificates in PEM.',
    );
  const text = String(given);
  const secret = password === undefined ? undefined : String(password);
  const pem = text.includes('-----BEGIN ') ? text : await openPkcs12(text, secret ?? '', job);
  const key = keyOf(pem, pem === text ? secret : undefined);
  const certificates = certificatesIn(pem);
  const signer = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (!signer) throw new EngineError('The option certificate has no certificate for its key.');
  checkSigner(signer, key);
  return { key, certificates: [signer, ...chainOf(signer, certificates)] };
}

/** Returns the certificates in a text, without those that cannot be read. */
export function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(
    /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g,
  );
  return (blocks ?? []).slice(0, maxCertificates).map((block) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new EngineError('The option certificate has a certificate that could not be read.');
    }
  });
}

async function openPkcs12(base64: string, password: string, { folder, signal }: Job): Promise<string> {
  const [file, secret] = [join(folder, 'identity.p12'), join(folder, 'identity-password')];
  await writeFile(file, Buffer.from(base64, 'base64'), { mode: 0o600 });
  await writeFile(secret, `${password}\n`, { mode: 0o600 });
  const open = async (more: string[]) => {
    const args = ['pkcs12', '-in', file, '-passin', `file:${secret}`, '-nodes', ...more];
    return (await runProgram('openssl', args, { cwd: folder, signal, timeoutMs: openMs })).stdout;
  };
  try {
    // Files of older programs are encrypted with what OpenSSL 3 only does on request.
    return await open([]).catch((error) => {
      if (error instanceof ProgramError && !/invalid password/i.test(error.stderr)) return open(['-legacy']);
      throw error;
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (/invalid password|mac verify/i.test(error.stderr))
      throw new EngineError(
        password === ''
          ? 'The option certificate is password-protected. Set the option certificate_password.'
          : 'The option certificate_password does not open the certificate.',
      );
    throw new EngineError('The option certificate could not be read: expected a PKCS#12 file in base64, or PEM.');
  } finally {
    await rm(file, { force: true });
    await rm(secret, { force: true });
  }
}

function keyOf(pem: string, passphrase: string | undefined): KeyObject {
  const [block] =
    /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[\s\S]+?-----END (?:[A-Z]+ )?PRIVATE KEY-----/.exec(pem) ?? [];
  if (block === undefined) throw new EngineError('The option certificate has no private key.');
  try {
    return createPrivateKey({ key: block, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    // The cause may quote the key.
    throw new EngineError(
      /ENCRYPTED/.test(block)
        ? passphrase === undefined
          ? 'The key in the option certificate is encrypted. Set the option certificate_password.'
          : 'The option certificate_password does not open the key.'
        : 'The key in the option certificate could not be read.',
    );
  }
}

function checkSigner(signer: X509Certificate, key: KeyObject): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type !== 'rsa' && type !== 'ec')
    throw new EngineError(`Expected a certificate with an RSA or ECDSA key but received one with ${type}.`);
  if (type === 'rsa' && (details?.modulusLength ?? 0) < minRsaBits)
    throw new EngineError(`The RSA key of the certificate is shorter than ${minRsaBits} bits, which is not secure.`);
  if (signer.validToDate.getTime() < Date.now())
    throw new EngineError(`The certificate expired on ${signer.validToDate.toISOString().slice(0, 10)}.`);
  if (signer.validFromDate.getTime() > Date.now())
    throw new EngineError(`The certificate is valid from ${signer.validFromDate.toISOString().slice(0, 10)}.`);
  if (keyUsageOf(signer)?.canSign === false)
    throw new EngineError('The key usage of the certificate does not include signatures of documents.');
}

/** Returns the issuers of a certificate, in order. */
function chainOf(signer: X509Certificate, certificates: X509Certificate[]): X509Certificate[] {
  const chain = [signer];
  for (let last: X509Certificate | undefined = signer; last; ) {
    const issued: X509Certificate = last;
    last = certificates.find((each) => !chain.includes(each) && issued.checkIssued(each));
    if (last) chain.push(last);
  }
  return chain.slice(1);
}
