import { execFile } from 'node:child_process';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { issue, makeAuthority, pemOf, pkcs12Of, type Signer } from './certificates.ts';
import { chapters, expectSound, folderOfFile, objectsOf, only, pageTexts, render, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const password = 'geh€im';
let made: Awaited<ReturnType<typeof chapters>>;
let authority: Signer;
let ada: Signer;
let pem: string;

beforeAll(async () => {
  [made, authority] = await Promise.all([chapters(place.path), makeAuthority(place.path)]);
  ada = await issue(authority, place.path, { name: 'Ada Löve' });
  pem = await pemOf(ada, authority);
}, 60_000);

/** Signs a PDF, and returns a copy of the result that outlives the next task. */
async function signed(
  input: string,
  options: Record<string, unknown> = {},
  others: { picture?: string[] } = {},
): Promise<string> {
  const path = place.at(`signed-${Math.random()}.pdf`);
  await copyFile(only(await runPdf('pdf/sign', input, { options: { certificate: pem, ...options }, others })), path);
  return path;
}

interface Verdict {
  verdict: string;
  signatures: (Record<string, unknown> & { verdict: string; reasons: string[] })[];
}

async function verdictOf(path: string, trust = [authority.certificate], options = {}): Promise<Verdict> {
  const result = await runPdf('pdf/verify', path, { options, others: trust.length > 0 ? { trust } : {} });
  return JSON.parse(await readFile(only(result), 'utf8'));
}

/** What poppler says about each signature. */
async function popplerOf(path: string): Promise<string[]> {
  const { stdout } = await run('pdfsig', ['-nocert', path]);
  return [...stdout.matchAll(/Signature Validation: (.*)/g)].map(([, text = '']) => text);
}

describe('signatures', () => {
  it.each(['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const)(
    'are valid for other readers, in a document by %s with a second one',
    async (producer) => {
      const once = await signed(made[producer], { reason: 'Geprüft', digest: 'sha512' });
      const twice = await signed(once, { visible: true, page: 2 });

      await expectSound(twice);
      expect(await popplerOf(twice)).toEqual(['Signature is Valid.', 'Signature is Valid.']);
      expect((await readFile(twice)).subarray(0, (await readFile(once)).length)).toEqual(await readFile(once));
      const { verdict, signatures } = await verdictOf(twice);
      expect(signatures.flatMap(({ reasons }) => reasons)).toEqual([]);
      expect(verdict).toBe('valid');
      expect(signatures).toMatchObject([
        { verdict: 'valid', covers: 'revision', changes: ['forms'], digest: 'sha512', reason: 'Geprüft' },
        { verdict: 'valid', covers: 'document', changes: [], signer: { name: 'Ada Löve' }, chain: 'trusted' },
      ]);
      expect((await pageTexts(twice))[1]).toContain('Ada Löve');
    },
  );

  it('are appended to files with cross-reference streams', async () => {
    const input = place.at('streams.pdf');
    await run('qpdf', ['--object-streams=generate', made.Chromium, input]);
    const output = await signed(input, { visible: true });

    await expectSound(output);
    expect(await popplerOf(output)).toEqual(['Signature is Valid.']);
    expect((await verdictOf(output)).verdict).toBe('valid');
  });

  it.each([
    ['a PKCS#12 file', []],
    ['a PKCS#12 file of an old program', ['-legacy']],
  ])('are made with %s', async (_name, args) => {
    const certificate = await pkcs12Of(ada, password, args);
    const output = await signed(made['pdf-lib'], { certificate, certificate_password: password });
    expect((await verdictOf(output)).verdict).toBe('valid');
    await expect(signed(made['pdf-lib'], { certificate, certificate_password: 'wrong' })).rejects.toThrow(
      'The option certificate_password does not open the certificate.',
    );
    await expect(signed(made['pdf-lib'], { certificate })).rejects.toThrow('Set the option certificate_password.');
  });

  it.each(['ec:P-256', 'ec:P-384', 'rsa:3072'])('are made with a key of %s', async (algorithm) => {
    const eve = await issue(authority, place.path, { name: `Eve ${algorithm.replace(':', ' ')}`, algorithm });
    const output = await signed(made['pdf-lib'], { certificate: await pemOf(eve), digest: 'sha384' });
    expect(await popplerOf(output)).toEqual(['Signature is Valid.']);
    expect((await verdictOf(output)).signatures).toMatchObject([{ verdict: 'valid', digest: 'sha384' }]);
  });

  it('are shown upright, with a picture and a text', async () => {
    const [input, picture] = [place.at('rotated.pdf'), place.at('picture.svg')];
    await run('qpdf', ['--rotate=90', made['pdf-lib'], input]);
    await writeFile(
      picture,
      '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><rect width="100" height="50" fill="#f00"/></svg>',
    );
    const output = await signed(
      input,
      { visible: true, left: 100, top: 50, text: 'By {name}' },
      { picture: [picture] },
    );

    const page = await render(output);
    expect([page.width, page.height]).toEqual([842, 595]);
    expect(page.at(150, 80)).toEqual([255, 0, 0]);
    expect(page.at(90, 80)).toEqual([255, 255, 255]);
    expect((await pageTexts(output))[0]).toContain('By Ada Löve');
  });

  it('certify a document, and what it permits is kept', async () => {
    const certified = await signed(made.LibreOffice, { certify: 'forms' });
    expect((await verdictOf(await signed(certified))).signatures).toMatchObject([
      { type: 'certification', permits: 'forms', verdict: 'valid', changes: ['forms'] },
      { type: 'approval', verdict: 'valid' },
    ]);
    const final = await signed(made.LibreOffice, { certify: 'no_changes' });
    await expect(signed(final)).rejects.toThrow('does not permit further changes');
    await expect(signed(certified, { visible: true })).rejects.toThrow('Signature1 would become invalid');
    await expect(signed(certified, { certify: 'forms' })).rejects.toThrow('Only its first signature can certify it');
  });

  it('do not hold the secrets of the signer', async () => {
    const output = await signed(made['pdf-lib'], {
      certificate: await pkcs12Of(ada, password),
      certificate_password: password,
    });
    const text = JSON.stringify(await objectsOf(output)) + (await readFile(output, 'latin1'));
    expect(text).not.toContain(password);
    expect(text).not.toContain('PRIVATE KEY');
  });

  it('are refused with certificates that cannot sign', async () => {
    const tls = await issue(authority, place.path, {
      name: 'Server',
      extensions: ['keyUsage=critical,keyEncipherment'],
    });
    const weak = await issue(authority, place.path, { name: 'Weak', algorithm: 'rsa:1024' });
    const key = await readFile(ada.key, 'utf8');
    const cases: [string, string][] = [
      [await pemOf(tls), 'key usage'],
      [await pemOf(weak), 'shorter than 2048 bits'],
      [key, 'has no certificate for its key'],
      [await readFile(ada.certificate, 'utf8'), 'has no private key'],
      ['AAAA', 'could not be read'],
    ];
    for (const [certificate, message] of cases)
      await expect(signed(made['pdf-lib'], { certificate })).rejects.toThrow(message);
    await expect(runPdf('pdf/sign', made['pdf-lib'])).rejects.toThrow('Set the option certificate');
  });
});

describe('verdicts', () => {
  it('depend on whom the user trusts', async () => {
    const output = await signed(made.Chromium);
    expect(await verdictOf(output, [])).toMatchObject({ verdict: 'untrusted', signatures: [{ chain: 'untrusted' }] });
    const other = await issue(authority, place.path, { name: 'Other' });
    expect((await verdictOf(output, [other.certificate])).verdict).toBe('untrusted');
    expect((await verdictOf(output, [ada.certificate])).verdict).toBe('valid');
    expect(await verdictOf(made.Chromium)).toEqual({ verdict: 'unsigned', signatures: [] });
  });

  it('are invalid if a signed byte is another', async () => {
    const path = await signed(made.Ghostscript);
    const bytes = await readFile(path);
    bytes.writeUInt8(0x41, bytes.indexOf('%%Invocation') + 3);
    await writeFile(path, bytes);
    expect((await verdictOf(path)).signatures[0]).toMatchObject({ verdict: 'invalid' });
  });

  it('are invalid if the document shows something else after an update', async () => {
    const path = await signed(made['pdf-lib']);
    const objects = await objectsOf(path);
    const [page] =
      Object.entries(objects).find(([, object]) => JSON.stringify(object).includes('"/Type":"/Page"')) ?? [];
    const number = /\d+/.exec(page ?? '')?.[0] ?? '';
    const { size } = { size: (await readFile(path)).length };
    const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(await readFile(path, 'latin1'))?.[1];
    const object = `${number} 0 obj\n<</Type/Page/MediaBox[0 0 100 100]>>\nendobj\n`;
    await appendFile(
      path,
      `${object}xref\n${number} 1\n${String(size).padStart(10, '0')} 00000 n \ntrailer\n<</Size 99/Root ${rootOf(objects)}/Prev ${previous}>>\nstartxref\n${size + object.length}\n%%EOF\n`,
    );
    expect((await verdictOf(path)).signatures[0]).toMatchObject({ verdict: 'invalid' });
  });
});

describe('attacks on a signed document', () => {
  const changed = async (change: (text: string) => string) => {
    const path = await signed(made['pdf-lib']);
    await writeFile(path, change(await readFile(path, 'latin1')), 'latin1');
    return verdictOf(path).then(
      ({ signatures }) => signatures[0]?.verdict ?? 'unsigned',
      (error: Error) => error.message,
    );
  };

  it.each<[string, (text: string) => string]>([
    ['without a range', (text) => text.replace('/ByteRange', '/ByteRanXX')],
    ['with a negative range', (text) => text.replace(/\/ByteRange \[0 \d/, '/ByteRange [0 -')],
    ['without a value', (text) => text.replace(/\/Contents <[\da-f]+>/, (all) => '/Contents null'.padEnd(all.length))],
    ['with an empty value', (text) => text.replace(/<[\da-f]{500,}>/, (all) => `<${'0'.repeat(all.length - 2)}>`)],
    ['with objects that no table lists', (text) => `${text}\n5 0 obj\n<</Length 3>>stream\nq Q\nendstream endobj\n`],
    ['with other data at its end', (text) => text + 'A'.repeat(5_000)],
    ['without its end', (text) => text.slice(0, -60)],
    [
      'with an object in the gap',
      (text) =>
        text.replace(/\/ByteRange \[0 (\d+) (\d+) (\d+)\]([\s\S]*)/, (all, before, after, rest) => {
          const object = '\n9999 0 obj\n<<>>\nendobj\n';
          const range = `/ByteRange [0 ${before} ${Number(after) + object.length} ${rest}]`;
          const moved = all.replace(/\/ByteRange \[[^\]]*\]/, range);
          const at = Number(after) - text.indexOf(all);
          return moved.slice(0, at) + object + moved.slice(at);
        }),
    ],
  ])('%s', async (_name, change) => {
    expect(await changed(change)).toMatch(/^(?:invalid$|The PDF could not be read)/);
  });
});

function rootOf(objects: Record<string, unknown>): string {
  return /"\/Root":"([^"]+)"/.exec(JSON.stringify(objects.trailer))?.[1] ?? '';
}
