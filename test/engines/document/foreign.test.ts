import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { commentedDocx, commentLines } from './comments.ts';
import { known, only, placeOfFile, runEngine } from './harness.ts';
import { soffice, unzip, zip } from './samples.ts';
import { shipped, withPreview } from './shipped.ts';

const run = promisify(execFile);
const place = placeOfFile();

const at = (name: string) => join(place.folder, name);

async function detect(path: string, name: string): Promise<string> {
  return detectFormat(known, (await readFile(path)).subarray(0, detectionBytes), name);
}

describe('formats of other offices, by their content', () => {
  it.each(Object.entries(shipped))('tells a %s under any name', async (format, { path }) => {
    for (const name of ['file', 'file.zip', 'file.doc', 'file.docx', `file.${format}`])
      expect([name, await detect(path, name)]).toEqual([name, format]);
  });

  it.each([
    ['pages', 'index.xml', '<sl:document xmlns:sl="http://developer.apple.com/namespaces/sl"/>'],
    ['numbers', 'index.xml', '<ls:document xmlns:ls="http://developer.apple.com/namespaces/ls"/>'],
    ['key', 'index.apxl', '<key:presentation/>'],
    ['key', 'index.apxl.gz', gzipSync('<key:presentation/>')],
  ])('tells a %s of an older iWork by its %s', async (format, part, content) => {
    const path = await zip(at('old'), { 'QuickLook/Thumbnail.jpg': Buffer.alloc(500), [part]: content });

    expect(await detect(path, 'file')).toBe(format);
  });
});

describe('documents of iWork', () => {
  const preview = async () => {
    const path = at('preview.pdf');
    await writeFile(path, (await unzip(withPreview))['QuickLook/Preview.pdf'] ?? '');
    return run('pdftotext', [path, '-']);
  };

  it('become a PDF of the pages that the app itself rendered, if they contain them', async () => {
    const path = only(await runEngine(withPreview, 'pages', 'pdf'));

    const { stdout } = await run('pdftotext', [path, '-']);
    expect(stdout).toBe((await preview()).stdout);
    expect(stdout).toContain('Liberation');
    expect((await run('pdfinfo', [path])).stdout).not.toContain('LibreOffice');
  });

  it('are archived as PDF/A from those pages too', async () => {
    const path = only(await runEngine(withPreview, 'pages', 'pdf', { pdf_a: '2b' }));

    expect((await readFile(path)).toString('latin1')).toMatch(/pdfaid:part(>|=')2|pdfaid:part="2"/);
  });

  it('are laid out again for another paper size, or if the stored preview is damaged', async () => {
    const parts = await unzip(withPreview);
    const broken = await zip(at('broken.pages'), { ...parts, 'QuickLook/Preview.pdf': '%PDF-1.4 broken' });

    const [resized, instead] = [
      only(await runEngine(withPreview, 'pages', 'pdf', { page_size: 'a5' })),
      only(await runEngine(broken, 'pages', 'pdf')),
    ];

    expect((await run('pdfinfo', [resized])).stdout).toMatch(/Page size:\s+(419|420)/);
    for (const path of [resized, instead]) {
      expect((await run('pdfinfo', [path])).stdout).toContain('LibreOffice');
      expect((await run('pdftotext', [path, '-'])).stdout).toContain('Liberation');
    }
  });

  it.each([
    ['pages', 'Pages', 'Word'],
    ['numbers', 'Numbers', 'Excel'],
    ['key', 'Keynote', 'PowerPoint'],
  ])('of a newer version fail with what to do instead: %s', async (format, app, other) => {
    const parts = await unzip(shipped[format]?.path ?? '');
    for (const name of Object.keys(parts))
      if (/\.iwa$|index\.(xml|apxl)$/.test(name)) parts[name] = Buffer.from([0, 4, 0, 0, 3, 8, 1, 2]);
    const path = await zip(at(`newer.${format}`), parts);

    await expect(runEngine(path, format, 'pdf')).rejects.toThrow(
      new RegExp(`unsupported version of ${app}. Export it from ${app} as PDF or for ${other}`),
    );
  });

  it('with a password say who can remove it', async () => {
    const path = await zip(at('locked.key'), { ...(await unzip(shipped.key?.path ?? '')), '.iwpv2': 'x' });

    await expect(runEngine(path, 'key', 'pdf')).rejects.toThrow(/only Keynote can open it/);
  });

  it.each([
    ['Index.zip', 'zip'],
    ['index.apxl.gz', 'gz'],
  ])('are refused when %s inside them is a bomb', async (name, kind) => {
    const entities = '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>';
    const zeros = Buffer.alloc(60_000_000);
    const inner = kind === 'zip' ? await readFile(await zip(at('inner.zip'), { a: zeros })) : gzipSync(entities);
    const path = await zip(at('bomb.key'), { mimetype: '', [name]: inner });

    await expect(runEngine(path, 'key', 'pdf')).rejects.toThrow(/too large when unpacked|declares XML entities/);
  });
});

describe('a Word document whose comments have several formatted paragraphs', () => {
  it('becomes the PDF that LibreOffice alone makes of it', async () => {
    const path = await commentedDocx(at('commented.docx'));

    const made = only(await runEngine(path, 'docx', 'pdf'));

    const [ours, theirs] = await Promise.all(
      [made, await soffice(path, 'pdf', place.folder)].map(async (pdf) => (await run('pdftotext', [pdf, '-'])).stdout),
    );
    expect(ours).toContain('Line 3 has a comment.');
    expect(ours).toBe(theirs);
    expect((await run('pdftoppm', ['-r', '20', made])).stderr).toBe('');
  });

  it('keeps them all as OpenDocument', async () => {
    const path = await commentedDocx(at('commented.docx'));

    const made = only(await runEngine(path, 'docx', 'odt'));

    const content = String((await unzip(made))['content.xml']);
    const comments = [...content.matchAll(/<office:annotation .*?<\/office:annotation>/gs)].map(([comment]) => comment);
    expect(comments).toHaveLength(3);
    for (const comment of comments) {
      const said = comment
        .replaceAll('<text:s/>', ' ')
        .replaceAll('</text:p>', '\n')
        .replaceAll(/<[^>]*>/g, '');
      for (const line of commentLines) expect(said).toContain(line);
    }
  });
});
