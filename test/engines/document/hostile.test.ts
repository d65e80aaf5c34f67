import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  convertWithOffice,
  officePipes,
  officeWorkFolder,
  stopOffice,
} from '../../../functions/engines/document/office/office.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { runProgramSandboxed } from '../../security/run-program.ts';
import { processorSeconds } from '../../support/processor-time.ts';
import { layCanaries, only, placeOfFile, runEngine, secret } from './harness.ts';
import { flatOdf, makeSample, unzip, zip } from './samples.ts';

const run = promisify(execFile);

const place = placeOfFile();
let canaries: Awaited<ReturnType<typeof layCanaries>>;

beforeAll(async () => {
  canaries = await layCanaries(place.folder);
});

afterAll(() => canaries.close());

const at = (name: string) => join(place.folder, name);

async function made(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(at(name), content);
  return at(name);
}

/** Replaces the text of the docx sample. */
async function docxWith(name: string, document: string | Buffer): Promise<string> {
  const parts = await unzip(await makeSample('docx', place.folder));
  return zip(at(name), { ...parts, 'word/document.xml': Buffer.from(document) });
}

const wordXml = (body: string) =>
  `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const entityBomb = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${'bcdefghij'
  .split('')
  .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefghij'[index]};`.repeat(10)}">`)
  .join('')}]>`;

describe('containers that blow up', () => {
  it('refuses a docx whose XML is hundreds of times its size', async () => {
    const path = await docxWith('bomb.docx', wordXml(paragraph('a').repeat(1_500_000)));

    await expect(runEngine(path, 'docx', 'pdf')).rejects.toThrow(/too large when unpacked/);
  });

  it('refuses a zip that lies about the size of a part', async () => {
    const path = await docxWith('lie.docx', wordXml(''));
    const bytes = await readFile(path);
    const entry = bytes.lastIndexOf('word/document.xml') - 46 + 24;
    bytes.writeUInt32LE(10, entry);

    await expect(runEngine(await made('lie.docx', bytes), 'docx', 'pdf')).rejects.toThrow(/damaged/);
  });

  it('refuses a package with two parts of one name', async () => {
    const parts = await unzip(await makeSample('odt', place.folder));
    const path = await zip(at('twice.odt'), { ...parts, 'content.xmm': parts['content.xml'] ?? '' });
    const bytes = (await readFile(path)).toString('latin1').replaceAll('content.xmm', 'content.xml');

    await expect(runEngine(await made('twice.odt', Buffer.from(bytes, 'latin1')), 'odt', 'pdf')).rejects.toThrow(
      /damaged/,
    );
  });

  it('refuses a package of too many parts', async () => {
    const bytes = await readFile(await makeSample('xlsx', place.folder));
    bytes.writeUInt16LE(30_000, bytes.lastIndexOf('PK\x05\x06') + 10);

    await expect(runEngine(await made('many.xlsx', bytes), 'xlsx', 'pdf')).rejects.toThrow(/more than 20000 parts/);
  });

  it.each([
    ['docx', (body: string) => docxWith('entities.docx', entityBomb + wordXml(paragraph(body)))],
    [
      'fodt',
      (body: string) =>
        made(
          'entities.fodt',
          entityBomb +
            flatOdf('text', `<office:text><text:p>${body}</text:p></office:text>`).replace(/^<\?xml[^>]*>\n/, ''),
        ),
    ],
    ['docbook', (body: string) => made('entities.docbook', `${entityBomb}<article><para>${body}</para></article>`)],
    [
      'docx in UTF-16',
      (body: string) => docxWith('wide.docx', Buffer.from(`\ufeff${entityBomb}${wordXml(paragraph(body))}`, 'utf16le')),
    ],
  ] as const)('refuses an entity bomb in %s', async (format, make) => {
    await expect(runEngine(await make('&j;'), format.split(' ')[0] ?? '', 'pdf')).rejects.toThrow(
      /declares XML entities/,
    );
  });

  it('refuses an entity that names a local file', async () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file://${canaries.canary.text}">]><article><para>&f;</para></article>`;

    await expect(runEngine(await made('external.docbook', xml), 'docbook', 'txt')).rejects.toThrow(
      /declares XML entities/,
    );
  });

  it('refuses XML in an encoding that hides its markup', async () => {
    const path = await made(
      'hidden.fodt',
      `<?xml version="1.0" encoding="UTF-7"?>${flatOdf('text', '<office:text/>').replace(/^<\?xml[^>]*>/, '')}`,
    );

    await expect(runEngine(path, 'fodt', 'pdf')).rejects.toThrow(/Save it as UTF-8/);
  });

  it.each([
    [
      'docx',
      () => docxWith('deep.docx', wordXml('<w:tbl><w:tr><w:tc>'.repeat(5000) + '</w:tc></w:tr></w:tbl>'.repeat(5000))),
    ],
    ['html', () => made('deep.html', `${'<div>'.repeat(50_000)}x`)],
    ['rtf', () => made('deep.rtf', `{\\rtf1 ${'{'.repeat(50_000)}x${'}'.repeat(50_000)}}`)],
  ] as const)('refuses a %s nested beyond reason', async (format, make) => {
    await expect(runEngine(await make(), format, 'pdf')).rejects.toThrow(/nests/);
  });
});

const pdfOf = (objects: string[]) =>
  `%PDF-1.7\n${objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer << /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF\n`;
const pageObject =
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>';
const contentObject = (() => {
  const text = 'BT /F 12 Tf 20 100 Td (Lathe page) Tj ET';
  return `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
})();

/** A PDF of one page, as far as it does not claim otherwise. */
const onePage = ({ action = '', count = 1, page = pageObject } = {}) =>
  pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${action} >>`,
    `<< /Type /Pages /Kids [3 0 R] /Count ${count} >>`,
    page,
    contentObject,
  ]);

describe('PDFs that act', () => {
  it.each([
    ['JavaScript on opening', `<< /S /JavaScript /JS (app.launchURL\\("URL/js"\\)) >>`],
    ['a program to launch', '<< /S /Launch /F (/usr/bin/touch) /Win << /F (cmd.exe) >> >>'],
    ['an address to open', '<< /S /URI /URI (URL/uri) >>'],
    ['a form to send', '<< /S /SubmitForm /F << /FS /URL /F (URL/submit) >> >>'],
  ])('draws a PDF with %s and does nothing of it', async (_, action) => {
    const opening = `/OpenAction ${action.replaceAll('URL', canaries.canary.url)}`;
    const path = await made('acting.pdf', onePage({ action: opening }));

    for (const format of ['png', 'txt', 'docx', 'html', 'pdf']) {
      const result = await runEngine(path, 'pdf', format);
      expect(result.outputs).toHaveLength(1);
    }
    expect(canaries.hits).toEqual([]);
  });

  it('fails in time on pages that hold themselves', async () => {
    const objects = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 100000 >>'];

    await expect(runEngine(await made('loop.pdf', pdfOf(objects)), 'pdf', 'txt')).rejects.toThrow();
  });

  it('refuses a PDF that claims more pages than can be worked on', async () => {
    const path = await made('lying.pdf', onePage({ count: 999_999 }));

    await expect(runEngine(path, 'pdf', 'png')).rejects.toThrow(/pages|damaged/);
  });

  it('refuses a page of more pixels than memory', async () => {
    const path = await made('huge.pdf', onePage({ page: pageObject.replace('200 200', '14400 14400') }));

    await expect(runEngine(path, 'pdf', 'png', { image_dpi: 600 })).rejects.toThrow(/million pixels/);
  });
});

describe('PostScript that reads and writes', () => {
  const escapes: [string, (path: string) => string][] = [
    ['reads a file', (path) => `(${path}) (r) file 100 string readline pop show`],
    ['runs a file', (path) => `(${path}) run`],
    ['opens a pipe', () => '(%pipe%id) (r) file 100 string readline pop show'],
    ['lists a folder', (path) => `(${path}*) { show } 100 string filenameforall`],
    ['writes a file', (path) => `(${path}.stolen) (w) file closefile`],
    ['deletes a file', (path) => `(${path}) deletefile`],
  ];

  it.each(escapes)('gets nothing if it %s', async (_, code) => {
    const path = await made(
      'escape.ps',
      `%!PS\n/Helvetica findfont 12 scalefont setfont 72 700 moveto\n{ ${code(canaries.canary.text)} } stopped { (stopped) show } if\nshowpage\n`,
    );

    const text = await runEngine(path, 'ps', 'txt').then(
      async (result) => readFile(only(result), 'utf8'),
      (error: Error) => error.message,
    );

    expect(text).not.toContain(secret);
    expect(text).not.toContain('uid=');
    expect(text).not.toContain('canary');
    const left = await readdir(place.folder);
    expect(left).toContain('canary.txt');
    expect(left).not.toContain('canary.txt.stolen');
  });

  it('is refused at once if it walks all directories, with the reason', async () => {
    const path = await made('walk.ps', '%!PS\n(/*) { pop } 1000 string filenameforall\nshowpage\n');
    const start = processorSeconds();

    await expect(runEngine(path, 'ps', 'pdf')).rejects.toThrow(/reads, writes or lists files, which is not allowed/);

    expect(processorSeconds() - start).toBeLessThan(10);
  });

  it('ends a program that never ends', async () => {
    const { runTool } = await import('../../../functions/engines/runtime/pdf-file.ts');
    const path = await made('endless.ps', '%!PS\n{ } loop\n');
    const signal = AbortSignal.timeout(1500);

    await expect(
      runTool('gs', ['-dSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=nullpage', path], { folder: place.folder, signal }),
    ).rejects.toThrow();
  });
});

describe('programs', () => {
  const sandbox = new Sandbox({
    module: new URL('../../security/program-engine.ts', import.meta.url),
    memoryBytes: 1024 ** 3,
    network: false,
    isolation: 'required',
  });
  afterAll(() => sandbox.stop());

  it('read and write what is in their folder', async () => {
    const { stdout } = await runProgramSandboxed(sandbox, 'sh', [
      '-c',
      'echo mine > mine.txt; cp mine.txt copy.txt; cat copy.txt',
    ]);

    expect(stdout).toBe('mine\n');
  });

  // Each reads a file that it is named, as a document would make it that found a hole in it.
  const readers: [program: string, args: (path: string) => string[]][] = [
    ['pandoc', (path) => ['-f', 'markdown', '-t', 'plain', path]],
    ['qpdf', (path) => ['--check', path]],
    ['pdftotext', (path) => [path, '-']],
    ['gs', (path) => ['-q', '-dNOSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=nullpage', `-c`, `(${path}) (r) file`]],
  ];

  it.each(readers)('reach no file beyond it, nor the machine: %s', async (program, args) => {
    for (const path of [canaries.canary.text, '/etc/hostname', '/proc/1/environ', '/root']) {
      const { failed, output } = await runProgramSandboxed(sandbox, program, args(path));
      expect(failed).toBe(true);
      expect(output).toMatch(
        /permission denied|does not exist|no such file|invalidfileaccess|undefinedfilename|couldn't open/i,
      );
    }
  });

  it('write no file beyond it', async () => {
    const { failed } = await runProgramSandboxed(sandbox, 'cp', ['/etc/passwd', at('stolen.txt')]);

    expect(failed).toBe(true);
    expect(existsSync(at('stolen.txt'))).toBe(false);
  });

  it('reach no address', async () => {
    const { failed } = await runProgramSandboxed(sandbox, 'curl', ['-sS', '-m', '5', canaries.canary.url]);

    expect(failed).toBe(true);
    expect(canaries.hits).toEqual([]);
  });
});

describe('the listener', () => {
  it('leaves nothing of a document behind for the next', async () => {
    await runEngine(await makeSample('docx', place.folder), 'docx', 'pdf');
    const folder = (await officeWorkFolder()) ?? '';

    const { stdout } = await run('grep', ['-rl', 'Lathe', folder]).catch(() => ({ stdout: '' }));

    expect(stdout).toBe('');
    expect(await readdir(folder)).not.toContain('job');
  });

  it('is replaced after a document that takes too long, and works again', async () => {
    const input = await makeSample('docx', place.folder);
    const request = {
      input,
      load: { FilterName: 'MS Word 2007 XML' },
      outputs: [{ path: at('late.pdf'), store: { FilterName: 'writer_pdf_Export' } }],
    };

    await expect(convertWithOffice(request, 1)).rejects.toThrow(/takes longer/);
    const result = await runEngine(input, 'docx', 'pdf');

    expect(result.outputs).toHaveLength(1);
  });

  it('removes its folder and its pipe when it is stopped', async () => {
    await runEngine(await makeSample('docx', place.folder), 'docx', 'pdf');
    const folder = (await officeWorkFolder()) ?? '';

    const pipes = officePipes(folder);
    expect(pipes.map((pipe) => existsSync(pipe))).toEqual([true, true]);

    await stopOffice();

    expect([folder, ...pipes].filter((path) => existsSync(path))).toEqual([]);
  });

  it('removes what a process left that was killed', async () => {
    // No process has a number beyond the system's highest.
    const folder = join(tmpdir(), 'lathe-office-99999999-killed');
    await mkdir(folder, { recursive: true });
    for (const pipe of officePipes(folder)) await writeFile(pipe, '');

    await runEngine(await makeSample('docx', place.folder), 'docx', 'pdf');

    expect([folder, ...officePipes(folder)].filter((path) => existsSync(path))).toEqual([]);
  });
});
