import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdtemp, mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { processingOperations } from '../../shared/operations/operations.ts';
import { invoiceXml } from '../engines/pdf/invoice-samples.ts';
import { scannedPdf } from '../support/long-pdf.ts';
import { renamedFont } from '../support/renamed-font.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';

const run = promisify(execFile);
const documents = globSync('docs/operations/!(README).md', { cwd: projectRoot });

test('every operation on documents has a page in docs/operations', () => {
  const names = documents.map((path) => basename(path, '.md'));
  const operations = processingOperations.filter((operation) => operation.includes('/'));
  expect(names).toEqual(expect.arrayContaining(operations.map((operation) => operation.replaceAll('/', '-'))));
});

describe('the examples in docs/operations', () => {
  let folder: string;
  let service: JoinedService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'operations-'));
    service = await joinService();
    await makeSamples();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Writes the files that the examples work on. */
  async function makeSamples(): Promise<void> {
    const logo = { create: { width: 200, height: 100, channels: 3 as const, background: '#c64a1b' } };
    await writeFile(join(folder, 'logo.png'), await sharp(logo).png().toBuffer());
    await writeFile(join(folder, 'scan.pdf'), await scannedPdf(['The quick brown fox']));
    await writeFile(join(folder, 'report.pdf'), await report('The quick brown fox'));
    await writeFile(join(folder, 'old.pdf'), await report('The slow brown fox'));
    await writeFile(join(folder, 'form.pdf'), await form());
    await writeFile(join(folder, 'guide.md'), '---\ntitle: Guide\n---\n\n# Guide\n\n- first\n- second\n');
    await writeFile(join(folder, 'invoice.xml'), invoiceXml('EN 16931'));
    await writeFile(join(folder, 'invoice-with-xml.pdf'), await withInvoice());
    await writeFile(join(folder, 'letter.eml'), letter);
    await writeFile(join(folder, 'corporate.ttf'), await renamedFont('Corporate'));
    await writeFile(join(folder, 'report.html'), '<p style="font-family: Corporate">Report</p>');
  }

  test.each(documents)('of %s run', { timeout: 240_000 }, async (path) => {
    const text = await readFile(join(projectRoot, path), 'utf8');
    const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, code = '']) => code);
    expect(blocks.length).toBeGreaterThan(0);
    const env = { ...process.env, API: service.url, KEY: service.apiKey };
    await using copy = await mkdtempDisposable(join(tmpdir(), 'operations-'));
    await cp(folder, copy.path, { recursive: true });
    for (const code of blocks) await run('bash', ['-euo', 'pipefail', '-c', code], { cwd: copy.path, env });
  });
});

const letter = `From: Ana <ana@example.com>
To: Bob <bob@example.com>
Subject: Agenda
Date: Tue, 3 Mar 2026 14:05:00 +0100
Content-Type: multipart/mixed; boundary=part

--part
Content-Type: text/plain; charset=utf-8

The agenda is attached.
--part
Content-Disposition: attachment; filename=agenda.txt

Welcome, reports, questions
--part--
`;

async function report(text: string): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const page of [1, 2, 3, 4])
    document.addPage([595, 842]).drawText(`${text} on page ${page}`, { x: 72, y: 700, size: 18, font });
  return document.save();
}

async function withInvoice(): Promise<Uint8Array> {
  const document = await PDFDocument.load(await report('An invoice'));
  await document.attach(Buffer.from(invoiceXml('EN 16931')), 'factur-x.xml', { mimeType: 'text/xml' });
  return document.save();
}

async function form(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage([595, 842]);
  const fields = document.getForm();
  fields.createTextField('name').addToPage(page, { x: 72, y: 700, width: 200, height: 24 });
  fields.createCheckBox('agree').addToPage(page, { x: 72, y: 650, width: 20, height: 20 });
  return document.save();
}
