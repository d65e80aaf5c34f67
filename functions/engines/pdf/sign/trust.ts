import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import type { Programs } from '../../runtime/pdf-file.ts';
import { ProgramError, runProgram } from '../../runtime/program.ts';

const maxBytes = 4 * 1024 * 1024;
const verifyMs = 30_000;
const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Reads the certificates that the user trusts, in PEM or DER. */
export async function readTrust(files: InputFile[]): Promise<X509Certificate[]> {
  const found: X509Certificate[] = [];
  for (const { path } of files) {
    if ((await stat(path)).size > maxBytes) throw new EngineError('The file of trusted certificates is too large.');
    const bytes = await readFile(path);
    try {
      const blocks = bytes.toString('latin1').match(block) ?? [bytes];
      found.push(...blocks.map((each) => new X509Certificate(each)));
    } catch (cause) {
      throw new EngineError('The trusted certificates could not be read: expected certificates in PEM.', { cause });
    }
  }
  return found;
}

interface Chain {
  certificate: X509Certificate;
  /** Those that came with the signature. */
  others: X509Certificate[];
  trusted: X509Certificate[];
  at: Date;
  purpose: 'any' | 'timestampsign';
}

/** Returns why a certificate is not trusted at a time, or undefined if it is. */
export async function distrustOf(
  { certificate, others, trusted, at, purpose }: Chain,
  { folder, signal }: Programs,
): Promise<string | undefined> {
  const isSelfSigned = certificate.checkIssued(certificate);
  if (trusted.length === 0)
    return isSelfSigned ? 'The certificate is self-signed.' : 'No trusted certificates were given.';
  const write = async (name: string, certificates: X509Certificate[]) => {
    const path = join(folder, name);
    await writeFile(path, certificates.map(String).join(''));
    return path;
  };
  const anchors = await write('trusted.pem', trusted);
  const chain = await write('others.pem', others);
  const own = await write('certificate.pem', [certificate]);
  try {
    await runProgram(
      'openssl',
      [
        ...['verify', '-no-CApath', '-no-CAstore', '-partial_chain', '-auth_level', '2', '-CAfile', anchors],
        ...(others.length > 0 ? ['-untrusted', chain] : []),
        ...['-attime', String(Math.floor(at.getTime() / 1000)), '-purpose', purpose, own],
      ],
      { cwd: folder, signal, timeoutMs: verifyMs },
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ProgramError) || error.timedOut) throw error;
    const reason = /^error \d+ at \d+ depth lookup: ?(.+)$/m.exec(error.stderr)?.[1]?.trim();
    if (reason === undefined) return 'The chain of certificates could not be checked.';
    return /issuer certificate|self.signed|unable to verify/i.test(reason)
      ? `${isSelfSigned ? 'The certificate is self-signed and not' : 'The certificate does not lead to one'} among the trusted ones.`
      : `The chain of certificates is not valid: ${reason}.`;
  }
}
