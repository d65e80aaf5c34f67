import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { convertMail, makeFolder, readPdf, textOfMail } from './harness.ts';
import { outlookFile, packedRtf, tnefFile } from './outlook.ts';
import { mail } from './samples.ts';

const run = promisify(execFile);
let folder: string;
const at = (name: string) => join(folder, name);

const content = [
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'The words of W=C3=A4nda.',
  '--b',
  'Content-Type: text/csv; name=data.csv',
  'Content-Disposition: attachment; filename=data.csv',
  '',
  'a;b',
  '--b--',
  '',
];

interface Read {
  text: string;
  notes: string[];
  attachments: { name: string; size: number }[];
}

async function read(message: string | Uint8Array, from = 'eml'): Promise<Read> {
  return JSON.parse(await textOfMail(message, 'json', {}, from)).messages[0];
}

beforeAll(async () => {
  folder = await makeFolder();
  await writeFile(at('content.eml'), mail(content));
  const subject = ['-subj', '/CN=Wanda', '-days', '2', '-newkey', 'rsa:2048', '-nodes'];
  await run('openssl', ['req', '-x509', ...subject, '-keyout', at('key.pem'), '-out', at('cert.pem')]);
});
afterAll(closeBrowser);

/** Signs or encrypts the content with OpenSSL. */
async function openssl(...args: string[]): Promise<string> {
  const heads = ['-from', 'wanda@example.com', '-subject', 'Secured', '-in', at('content.eml'), '-out', at('made.eml')];
  const last = args.includes('-encrypt') ? [at('cert.pem')] : ['-signer', at('cert.pem'), '-inkey', at('key.pem')];
  await run('openssl', [...args, ...heads, ...last]);
  return readFile(at('made.eml'), 'latin1');
}

const signedNote = 'Signed with S/MIME. The signature was not verified.';
const encryptedNote = 'Encrypted with S/MIME. The content cannot be shown without the key of a recipient.';
const signed = { notes: [signedNote], attachments: [{ name: 'data.csv' }] };

describe('S/MIME by OpenSSL', () => {
  it.each([
    ['next to its signature', ['smime', '-sign']],
    ['in its signature', ['smime', '-sign', '-nodetach']],
    ['in its signature, of unknown length', ['cms', '-sign', '-nodetach', '-stream']],
  ])('shows a signed message, %s', async (_, args) => {
    const message = await read(await openssl(...args));

    expect(message).toMatchObject(signed);
    expect(message.text.trim()).toBe('The words of Wända.');
  });

  it('shows a signed message whose type a gateway replaced', async () => {
    const made = await openssl('smime', '-sign', '-nodetach');
    const replaced = made.replace(/application\/(?:x-)?pkcs7-mime; smime-type=signed-data/, 'application/octet-stream');

    expect(replaced).not.toBe(made);
    expect(await read(replaced)).toMatchObject(signed);
  });

  it.each([
    ['with AES in CBC', ['smime', '-encrypt', '-aes256']],
    ['with AES in GCM', ['cms', '-encrypt', '-aes-256-gcm']],
  ])('says that a message is encrypted, %s', async (_, args) => {
    expect(await read(await openssl(...args))).toMatchObject({
      notes: [encryptedNote],
      attachments: [{ name: 'smime.p7m' }],
    });
  });

  it('says on its page what an encrypted message is', async () => {
    const { outputs } = await convertMail(await openssl('smime', '-encrypt', '-aes256'), 'pdf', {
      attachments: 'list',
    });

    const { text } = await readPdf(outputs[0]?.path ?? '');
    expect(text).toContain(encryptedNote);
    expect(text).toContain('smime.p7m');
  });

  it('does not call certificates or damaged files encrypted', async () => {
    const certificates = ['crl2pkcs7', '-nocrl', '-certfile', at('cert.pem'), '-outform', 'DER', '-out', at('all.p7c')];
    await run('openssl', certificates);
    const of = (bytes: Buffer) =>
      mail([
        'From: wanda@example.com',
        'Content-Type: application/pkcs7-mime; name=smime.p7m',
        'Content-Transfer-Encoding: base64',
        '',
        bytes.toString('base64'),
      ]);

    expect((await read(of(await readFile(at('all.p7c'))))).notes).toEqual([expect.stringMatching(/certificates/)]);
    expect((await read(of(Buffer.from('nothing of the kind')))).notes).toEqual([
      expect.stringMatching(/could not be read/),
    ]);
  });

  it('reads the signed message in a file of Outlook', async () => {
    const file = outlookFile({
      values: { '001A001F': 'IPM.Note.SMIME.MultipartSigned', '0037001F': 'Secured' },
      attachments: [
        {
          '37050003': 1,
          '3707001F': 'smime.p7m',
          '370E001F': 'multipart/signed',
          '37010102': Buffer.from(await openssl('smime', '-sign')),
        },
      ],
    });

    expect(await read(file, 'msg')).toMatchObject(signed);
  });
});

const armor = (kind: string, text: string) =>
  [`-----BEGIN PGP ${kind}-----`, '', Buffer.from(text).toString('base64'), '=abcd', `-----END PGP ${kind}-----`].join(
    '\n',
  );

describe('OpenPGP', () => {
  const pgpSigned = { notes: ['Signed with OpenPGP. The signature was not verified.'] };
  const pgpEncrypted = { notes: [expect.stringMatching(/^Encrypted with OpenPGP/)] };

  it('shows a signed message, and names what signed it', async () => {
    const type = 'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary=p';
    const signature = ['--p', 'Content-Type: application/pgp-signature', '', armor('SIGNATURE', 'x'), '--p--'];
    const message = await read(mail(['From: a@example.com', type, '', '--p', ...content, ...signature]));

    expect(message).toMatchObject({ ...pgpSigned, attachments: [{ name: 'data.csv' }] });
    expect(message.text.trim()).toBe('The words of Wända.');
  });

  it('shows a signed text without its armor', async () => {
    const lines = [
      '-----BEGIN PGP SIGNED MESSAGE-----',
      'Hash: SHA512',
      '',
      'Words',
      '- -- ',
      '- - a list',
      armor('SIGNATURE', 'x'),
      'Sent by a list',
    ];
    const message = await read(mail(['From: a@example.com', '', ...lines]));

    expect(message).toMatchObject(pgpSigned);
    expect(message.text.replaceAll('\r', '')).toBe('Words\n-- \n- a list\nSent by a list');
  });

  it.each([
    ['as MIME', ['Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=p']],
    ['as Exchange leaves it', ['Content-Type: multipart/mixed; boundary=p', '', '--p', 'Content-Type: text/plain', '']],
  ])('says that a message is encrypted, %s', async (_, head) => {
    const parts = ['', '--p', 'Content-Type: application/pgp-encrypted', '', 'Version: 1', '--p'];
    const file = [
      'Content-Type: application/octet-stream; name=encrypted.asc',
      '',
      armor('MESSAGE', 'secret'),
      '--p--',
    ];
    const message = await read(mail(['From: a@example.com', ...head, ...parts, ...file]));

    expect(message).toMatchObject({ ...pgpEncrypted, attachments: [{ name: 'encrypted.asc' }] });
    expect(message.attachments).toHaveLength(1);
  });

  it('makes a file of an encrypted text, and keeps the words around it', async () => {
    const message = await read(mail(['From: a@example.com', '', 'See below.', armor('MESSAGE', 'secret'), 'Bob']));

    expect(message).toMatchObject({ ...pgpEncrypted, attachments: [{ name: 'encrypted.asc' }] });
    expect(message.text).toMatch(/^See below\.\s+Bob$/);
  });

  it('leaves a text alone that has no end of armor', async () => {
    const lines = ['-----BEGIN PGP MESSAGE-----', 'is how they begin.'];
    expect(await read(mail(['From: a@example.com', '', ...lines]))).toMatchObject({ notes: [], attachments: [] });
  });
});

/** A message whose only part is a winmail.dat. */
function withTnef(file: Buffer, ...others: string[]): string {
  const type = 'application/ms-tnef; name="winmail.dat"';
  return mail([
    ...['From: a@example.com', 'Subject: s', 'Content-Type: multipart/mixed; boundary=t', '', ...others],
    ...['--t', `Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', '', file.toString('base64'), '--t--'],
  ]);
}

describe('winmail.dat', () => {
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  it('gives its body of HTML with pictures, and its attachments under their long names', async () => {
    const html = '<html><body>Gr\u00fc\u00dfe <b>bold</b> <img src="cid:pic@1"></body></html>';
    const file = tnefFile({
      values: { '10130102': Buffer.from(html, 'utf8'), '3FDE0003': 65_001 },
      attachments: [
        { title: 'BUDGET~1.XLS', data: Buffer.from('a,b'), values: { '3707001F': 'Budget für März.xlsx' } },
        { title: 'pic.png', data: picture, values: { '3712001F': 'pic@1', '370E001F': 'image/png' } },
      ],
    });
    const page = await textOfMail(withTnef(file), 'html');
    const message = await read(withTnef(file));

    expect(page).toMatch(/Grüße <b>bold<\/b>/);
    expect(page).toContain('src="data:image/png;base64,iVBOR');
    expect(message.attachments).toMatchObject([{ name: 'Budget für März.xlsx', size: 3 }, {}]);
    expect(message.attachments.map(({ name }) => name)).not.toContain('winmail.dat');
  });

  it('gives rich text, or a text in the code page of an old program', async () => {
    const rich = tnefFile({ values: { '10090102': packedRtf('{\\rtf1\\ansi Rich \\b words\\b0 .}') } });
    const old = tnefFile({
      attributes: [
        [1, 0x6_9007, Buffer.from('e304000000000000', 'hex')],
        [1, 0x2_800c, Buffer.from('cff0e8e2e5f200', 'hex')],
      ],
      attachments: [{ title: '\u00cf\u00f0.txt', data: Buffer.from('x') }],
    });

    expect((await read(withTnef(rich))).text).toContain('Rich words');
    expect(await read(withTnef(old))).toMatchObject({ text: 'Привет', attachments: [{ name: 'Пр.txt', size: 1 }] });
  });

  it('gives a message in it with its own subject, body and attachments', async () => {
    const inner = {
      values: { '0037001F': 'Inner', '0042001F': 'Ann', '5D02001F': 'ann@example.com', '1000001F': 'Inside' },
      attachments: [{ title: 'deep.txt', data: Buffer.from('deep') }],
    };
    const file = tnefFile({
      values: { '1000001F': 'Outside' },
      attachments: [{ title: 'Inner', values: { '37050003': 5 }, message: inner }],
    });

    expect(await read(withTnef(file))).toMatchObject({
      text: 'Outside',
      attachments: [{ name: 'Inner.msg' }],
    });
    const { outputs } = await convertMail(withTnef(file), 'pdf');
    const { text } = await readPdf(outputs[0]?.path ?? '');
    expect(text).toMatch(/Outside.*Inner.*Ann <ann@example\.com>.*Inside/s);
  });

  it('adds no second body to a message that has one', async () => {
    const file = tnefFile({
      values: { '1000001F': 'Again' },
      attachments: [{ title: 'a.txt', data: Buffer.from('x') }],
    });
    const message = await read(withTnef(file, '--t', 'Content-Type: text/plain', '', 'Once'));

    expect(message).toMatchObject({ text: 'Once', attachments: [{ name: 'a.txt' }] });
  });
});
