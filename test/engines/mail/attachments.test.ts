import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopOffice } from '../../../functions/engines/document/office/office.ts';
import { closeBrowser } from '../../../functions/engines/webpage/browser.ts';
import { zip } from '../document/samples.ts';
import { convertMail, makeFolder, readPdf } from './harness.ts';
import { outlookFile } from './outlook.ts';
import { mail, redPng } from './samples.ts';

const run = promisify(execFile);

afterAll(async () => {
  await closeBrowser();
  await stopOffice();
});

interface File {
  name: string;
  type: string;
  bytes: Buffer;
}

/** A message with files. */
function withFiles(files: File[], text = 'See the files.'): Buffer {
  const parts = files.flatMap(({ name, type, bytes }) => [
    '--b',
    `Content-Type: ${type}`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    bytes.toString('base64'),
  ]);
  const head = ['From: a@example.com', 'Subject: Files', 'Content-Type: multipart/mixed; boundary=b', ''];
  return Buffer.from(mail([...head, '--b', 'Content-Type: text/plain', '', text, ...parts, '--b--', '']));
}

describe('attachments', () => {
  let docx: Buffer;
  let pdf: Buffer;
  let locked: Buffer;

  beforeAll(async () => {
    const folder = await makeFolder();
    const made = run('pandoc', ['-f', 'markdown', '-t', 'docx', '-o', join(folder, 'report.docx')]);
    made.child.stdin?.end('# Quarterly report\n\nThe words of the report.\n');
    await made;
    docx = await readFile(join(folder, 'report.docx'));
    const document = await PDFDocument.create();
    document.addPage([300, 200]).drawText('Words of the PDF');
    document.addPage([300, 200]);
    pdf = Buffer.from(await document.save());
    const source = join(folder, 'a.pdf');
    await writeFile(source, pdf);
    await run('qpdf', ['--encrypt', 'secret', 'secret', '256', '--', source, join(folder, 'locked.pdf')]);
    locked = await readFile(join(folder, 'locked.pdf'));
  });

  it('are converted and follow as pages, with bookmarks', async () => {
    const inner = mail(['From: c@example.com', 'Subject: Inner words', '', 'Text of the inner message.']);
    const message = withFiles([
      { name: 'report.docx', type: 'application/octet-stream', bytes: docx },
      { name: 'two.pdf', type: 'application/pdf', bytes: pdf },
      { name: 'red.png', type: 'image/png', bytes: Buffer.from(redPng, 'base64') },
      { name: 'numbers.csv', type: 'text/csv', bytes: Buffer.from('name;value\nfirst;12345\n') },
      { name: 'notes.txt', type: 'text/plain', bytes: Buffer.from('Just some notes.') },
      { name: 'inner.eml', type: 'message/rfc822', bytes: Buffer.from(inner) },
    ]);

    const { outputs, warnings } = await convertMail(message, 'pdf');

    const path = outputs[0]?.path ?? '';
    const { text, pages } = await readPdf(path);
    const words = [
      'See the files.',
      'The words of the report.',
      'Words of the PDF',
      '12345',
      'Just some notes.',
      'Text of the inner message.',
    ];
    const places = words.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(pages).toBe(8);
    expect(warnings).toBeUndefined();
    const { stdout } = await run('qpdf', ['--json', '--json-key=outlines', path]);
    const { outlines }: { outlines: { title: string }[] } = JSON.parse(stdout);
    expect(outlines.map(({ title }) => title)).toEqual([
      'Files',
      'report.docx',
      'two.pdf',
      'red.png',
      'numbers.csv',
      'notes.txt',
      'inner.eml',
    ]);
  }, 90_000);

  it('that cannot be converted are named in warnings', async () => {
    const folder = await makeFolder();
    await zip(join(folder, 'a.zip'), { 'a.txt': Buffer.from('x') });
    const message = withFiles([
      { name: 'a.zip', type: 'application/zip', bytes: await readFile(join(folder, 'a.zip')) },
      { name: 'locked.pdf', type: 'application/pdf', bytes: locked },
      { name: 'broken.docx', type: 'application/octet-stream', bytes: docx.subarray(0, 2000) },
      { name: 'program.exe', type: 'application/octet-stream', bytes: Buffer.from('MZ\0\0\0\0') },
      { name: 'good.pdf', type: 'application/pdf', bytes: pdf },
    ]);

    const { outputs, warnings } = await convertMail(message, 'pdf');

    expect((await readPdf(outputs[0]?.path ?? '')).pages).toBe(3);
    expect(warnings).toEqual([
      'The attachment "a.zip" has no pages in the PDF: its format has no pages.',
      expect.stringMatching(/"locked.pdf" has no pages in the PDF: the PDF is password-protected/),
      expect.stringMatching(/"broken.docx" has no pages in the PDF/),
      'The attachment "program.exe" has no pages in the PDF: its format has no pages.',
    ]);
  }, 60_000);

  it('become embedded files, with names that are safe', async () => {
    const message = withFiles([
      { name: '../../etc/passwd', type: 'text/plain', bytes: Buffer.from('first') },
      { name: 'same.txt', type: 'text/plain', bytes: Buffer.from('second') },
      { name: 'same.txt', type: 'text/plain', bytes: Buffer.from('third') },
      { name: 'evil\u202efdp.exe', type: 'text/plain', bytes: Buffer.from('fourth') },
    ]);

    const { outputs } = await convertMail(message, 'pdf', { attachments: 'embed' });

    const path = outputs[0]?.path ?? '';
    expect((await readPdf(path)).pages).toBe(1);
    const { stdout } = await run('pdfdetach', ['-list', path]);
    expect(stdout.match(/^\d+: .*$/gm)).toEqual([
      '1: evilfdp.exe',
      '2: passwd',
      expect.stringMatching(/^3: same/),
      expect.stringMatching(/^4: same/),
    ]);
    const folder = await makeFolder();
    await run('pdfdetach', ['-save', '2', '-o', join(folder, 'saved'), path]);
    expect(await readFile(join(folder, 'saved'), 'utf8')).toBe('first');
  });

  it('are only listed on request', async () => {
    const message = withFiles([{ name: 'two.pdf', type: 'application/pdf', bytes: pdf }]);

    const { outputs, warnings } = await convertMail(message, 'pdf', { attachments: 'list' });

    const { text, pages } = await readPdf(outputs[0]?.path ?? '');
    expect([pages, warnings]).toEqual([1, undefined]);
    expect(text).toMatch(/Attachments two\.pdf \(\d+ (?:bytes|KB)\)/);
  });

  it('of a message in a message of Outlook follow it', async () => {
    const file = outlookFile({
      values: { '0037001F': 'Outer', '1000001F': 'Outer words' },
      attachments: [
        {
          values: { '0037001F': 'Inner', '1000001F': 'Inner words' },
          attachments: [{ '3707001F': 'deep.txt', '37010102': Buffer.alloc(4096, 'Deep words ') }],
        },
      ],
    });

    const { outputs } = await convertMail(file, 'pdf', {}, 'msg');

    expect((await readPdf(outputs[0]?.path ?? '')).text).toMatch(/Outer words[\s\S]*Inner words[\s\S]*Deep words/);
  }, 60_000);
});
