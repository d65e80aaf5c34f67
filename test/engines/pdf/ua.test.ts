import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopOffice } from '../../../functions/engines/document/office/office.ts';
import { finish } from '../../../functions/engines/pdf/archive/pdfa.ts';
import { validateUa } from '../../../functions/engines/pdf/archive/validate-ua.ts';
import { PdfObjects } from '../../../functions/engines/pdf/objects.ts';
import { quietContext } from '../../support/sandboxed.ts';
import { skipBecause } from '../../support/skip.ts';
import { runEngine } from '../document/harness.ts';
import { pandoc } from '../document/samples.ts';
import { byChromium, byPdfLib, expectSound, folderOfFile, infoOf, only, pageTexts, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const verapdf = process.env.LATHE_VERAPDF;

const body = `<h1>Report</h1><p>Words with <a href="https://example.com/">a link</a>.</p><h2>Numbers</h2>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>One</td><td>1</td></tr></tbody></table>
<ul><li>first</li><li>second</li></ul>`;
const page = (content: string) =>
  `<html lang="en"><head><meta charset="utf-8"><title>The report</title></head><body>${content}</body></html>`;
const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGM4kaCPBzGMSmNDAAvGdGBCH4IQAAAAAElFTkSuQmCC';
const markdown = '---\ntitle: The report\nlang: en\n---\n\n# Report\n\nWords\n\n## Numbers\n\n- first\n- second\n';
const made = new Map<string, string>();

beforeAll(async () => {
  await writeFile(place.at('page.html'), page(body));
  await writeFile(place.at('notes.md'), markdown);
  await pandoc(place.at('page.html'), 'html', 'docx', place.at('page.docx'));
  await pandoc(place.at('page.html'), 'html', 'odt', place.at('page.odt'));
  await pandoc(place.at('notes.md'), 'markdown', 'pptx', place.at('slides.pptx'));
  for (const name of ['page.html', 'page.docx', 'page.odt', 'notes.md', 'slides.pptx']) {
    const result = await runEngine(place.at(name), name.split('.')[1] ?? '', 'pdf', {}, 'pdf/ua');
    made.set(name, only(result));
    expect(result.details).toEqual({ standard: 'PDF/UA-1', conforms: true });
  }
  const tagged = await byChromium(place.at('Chromium.pdf'), page('<h1>Report</h1><p>Words</p>'));
  made.set('Chromium', only(await runPdf('pdf/ua', tagged)));
}, 120_000);
afterAll(stopOffice);

const of = (name: string) => made.get(name) ?? '';

describe('pdf/ua', () => {
  it.each(['page.html', 'page.docx', 'page.odt', 'notes.md', 'slides.pptx', 'Chromium'])(
    'makes an accessible document of %s',
    async (name) => {
      const path = of(name);
      await expectSound(path);
      expect(await infoOf(path, 'Tagged')).toBe('yes');
      expect(await infoOf(path, 'Title')).toBeTruthy();
      expect((await pageTexts(path)).join(' ')).toContain('Report');
      const { stdout } = await run('pdfinfo', ['-meta', path]);
      expect(stdout).toContain('<pdfuaid:part>1</pdfuaid:part>');
    },
  );

  it('fails with the list of what to change', async () => {
    const path = place.at('bad.html');
    await writeFile(path, page(`<h1>Report</h1><h3>Too deep</h3><p><img src="${dot}"></p>`));
    await expect(runEngine(path, 'html', 'pdf', {}, 'pdf/ua')).rejects.toThrow(
      /not accessible yet.*7\.4\.2 a heading of level 3 follows one of level 1.*7\.3 a picture has no alternative text \(page 1\)/,
    );
  });

  it('takes a picture with an alternative text', async () => {
    const path = place.at('good.html');
    await writeFile(path, page(`<h1>Report</h1><p><img alt="A dot" src="${dot}"></p>`));
    expect((await runEngine(path, 'html', 'pdf', {}, 'pdf/ua')).details).toMatchObject({ conforms: true });
  });

  it('refuses a PDF without tags', async () => {
    const path = await byPdfLib(place.at('plain.pdf'), (document) => document.addPage().drawText('Words'));
    await expect(runPdf('pdf/ua', path)).rejects.toThrow('The PDF has no tags');
  });

  it('uses the name of the file as a missing title, and the given language', async () => {
    const path = place.at('Some report.pdf');
    const objects = await PdfObjects.read(of('page.docx'), { ...quietContext(), folder: place.path });
    objects.updateCatalog({ '/Lang': undefined });
    objects.updateTrailer({ '/Info': undefined });
    await objects.write(path, { ...quietContext(), folder: place.path });
    await expect(runPdf('pdf/ua', path)).rejects.toThrow('7.2 the language of the document is unknown');
    const result = await runPdf('pdf/ua', path, { options: { language: 'de-CH' } });
    expect(result.warnings).toEqual(['The document has no title. The name of the file is used.']);
    expect(await infoOf(only(result), 'Title')).toBe('Some report');
  });
});

type Change = (pdf: PdfObjects) => void;

const inTag =
  (type: string, entries: (pdf: PdfObjects, reference: string) => Parameters<PdfObjects['update']>[1]): Change =>
  (pdf) => {
    const found = pdf.references.find((each) => pdf.dict(each)?.['/S'] === `/${type}`);
    if (!found) throw new Error(`There is no tag ${type}.`);
    pdf.update(found, entries(pdf, found));
  };
const inCatalog =
  (entries: Parameters<PdfObjects['updateCatalog']>[0]): Change =>
  (pdf) =>
    pdf.updateCatalog(entries);
const inPage =
  (entries: (pdf: PdfObjects, page: string) => Parameters<PdfObjects['update']>[1]): Change =>
  (pdf) => {
    for (const each of pdf.pages) pdf.update(each, entries(pdf, each));
  };
const roots = (pdf: PdfObjects) => pdf.catalog['/StructTreeRoot'];
const addTag =
  (tag: Record<string, string>): Change =>
  (pdf) => {
    const [top] = pdf.array(pdf.dict(roots(pdf))?.['/K']);
    const kids = pdf.array(pdf.dict(top)?.['/K']);
    const made = pdf.add({ '/Type': '/StructElem', '/P': top ?? null, ...tag });
    pdf.update(top, { '/K': [...kids, made] });
  };

/** Changes of an accessible document that break a rule each. */
const mutations: Record<string, Change> = {
  'no metadata': inCatalog({ '/Metadata': undefined }),
  'no mark': inCatalog({ '/MarkInfo': undefined }),
  'suspect tags': inCatalog({ '/MarkInfo': { '/Marked': true, '/Suspects': true } }),
  'no tags': inCatalog({ '/StructTreeRoot': undefined }),
  'no language': inCatalog({ '/Lang': undefined }),
  'a language that is none': inCatalog({ '/Lang': 'u:in English' }),
  'a title that is not displayed': inCatalog({ '/ViewerPreferences': undefined }),
  'a standard type that is mapped': (pdf) => pdf.update(roots(pdf), { '/RoleMap': { '/P': '/Span' } }),
  'a type that is mapped to none': (pdf) => inTag('H1', () => ({ '/S': '/Unknown' }))(pdf),
  'types in a circle': (pdf) => {
    pdf.update(roots(pdf), { '/RoleMap': { '/A': '/B', '/B': '/A' } });
    inTag('H1', () => ({ '/S': '/A' }))(pdf);
  },
  'a tag without a parent': inTag('H1', () => ({ '/P': undefined })),
  'a heading that is skipped': inTag('H2', () => ({ '/S': '/H4' })),
  'headings of both kinds': inTag('H1', () => ({ '/S': '/H' })),
  'a cell outside of a table': inTag('H1', () => ({ '/S': '/TD' })),
  'a row outside of a table': inTag('H1', () => ({ '/S': '/TR' })),
  'an item outside of a list': inTag('H1', () => ({ '/S': '/LI' })),
  'a picture without a text': addTag({ '/S': '/Figure' }),
  'a formula without a text': addTag({ '/S': '/Formula' }),
  'a note without an identifier': addTag({ '/S': '/Note' }),
  'a text in a table': inTag('TR', () => ({ '/S': '/P' })),
  'cells without headings': inTag('TH', () => ({ '/S': '/TD', '/A': undefined })),
  'a language of a tag that is none': inTag('H1', () => ({ '/Lang': 'u:in English' })),
  'a link without a tag': inTag('Link', () => ({ '/S': '/Span' })),
  'a link without a description': (pdf) => {
    for (const each of pdf.references)
      if (pdf.dict(each)?.['/Subtype'] === '/Link') pdf.update(each, { '/Contents': undefined });
  },
  'another order of tabs': inPage(() => ({ '/Tabs': undefined })),
  'untagged content': inPage((pdf, each) => {
    const contents = pdf.dict(each)?.['/Contents'] ?? null;
    return { '/Contents': [contents, pdf.addStream({}, '0 0 10 10 re f')] };
  }),
  'an artifact in tagged content': inPage((pdf, each) => {
    const contents = pdf.dict(each)?.['/Contents'] ?? null;
    return { '/Contents': [contents, pdf.addStream({}, '/P <</MCID 0>> BDC /Artifact BMC 0 0 9 9 re f EMC EMC')] };
  }),
  'content of a tag that is missing': inPage((pdf, each) => {
    const contents = pdf.dict(each)?.['/Contents'] ?? null;
    return { '/Contents': [contents, pdf.addStream({}, '/P <</MCID 9999>> BDC 0 0 9 9 re f EMC')] };
  }),
  'pages without tags': inPage(() => ({ '/StructParents': undefined })),
  'a field without a tag': inPage((pdf, each) => {
    const form = pdf.addStream({ '/Subtype': '/Form', '/BBox': [0, 0, 9, 9], '/Resources': {} }, '');
    const field = { '/Type': '/Annot', '/Subtype': '/Widget', '/FT': '/Tx', '/T': 'u:a', '/Rect': [9, 9, 90, 90] };
    const annotation = pdf.add({ ...field, '/F': 4, '/AP': { '/N': form } });
    return { '/Annots': [...pdf.array(pdf.dict(each)?.['/Annots']), annotation] };
  }),
  'layers without a name': (pdf) =>
    pdf.updateCatalog({ '/OCProperties': { '/OCGs': [pdf.add({ '/Type': '/OCG', '/Name': 'u:a' })], '/D': {} } }),
  'a font that is not embedded': (pdf) => {
    for (const each of pdf.references)
      if (pdf.dict(each)?.['/Type'] === '/FontDescriptor') pdf.update(each, { '/FontFile2': undefined });
  },
  'no Unicode': (pdf) => {
    for (const each of pdf.references) {
      const font = pdf.dict(each);
      if (font?.['/Type'] === '/Font') pdf.update(each, { '/ToUnicode': undefined, '/Encoding': undefined });
    }
  },
};

describe('the validator of PDF/UA', () => {
  let broken: Promise<Map<string, string>> | undefined;
  function brokenFiles() {
    broken ??= (async () => {
      const space = { ...quietContext(), folder: place.path };
      const files = new Map<string, string>();
      for (const [index, [name, change]] of Object.entries(mutations).entries()) {
        const objects = await PdfObjects.read(of('page.docx'), space);
        change(objects);
        const changed = place.at('changed.pdf');
        await objects.write(changed, space);
        const output = place.at(`broken-${index}.pdf`);
        await finish(changed, output, undefined, space);
        files.set(name, output);
      }
      return files;
    })();
    return broken;
  }

  it('approves no broken document', { timeout: 60_000 }, async () => {
    const approved: string[] = [];
    for (const [name, path] of await brokenFiles()) if (validateUa(await readFile(path)).conforms) approved.push(name);
    expect(approved).toEqual([]);
  });

  describe(
    'next to veraPDF',
    skipBecause(verapdf ? undefined : 'LATHE_VERAPDF does not name the jar of org.verapdf.apps:greenfield-apps'),
    () => {
      it('agrees on all outputs, and approves nothing that veraPDF rejects', { timeout: 300_000 }, async () => {
        const files = await brokenFiles();
        const paths = [...made.values(), ...files.values()];
        const args = ['-cp', verapdf ?? '', 'org.verapdf.apps.GreenfieldCliWrapper', '-f', 'ua1', '--format', 'text'];
        const { stdout } = await run('java', [...args, ...paths], { maxBuffer: 2 ** 27 }).catch((error) => error);
        const passes = (path: string) => stdout.includes(`PASS ${path} `);
        expect([...made].flatMap(([name, path]) => (passes(path) ? [] : [`${name} ${basename(path)}`]))).toEqual([]);
        // Other cells may do as the headings of a cell, which our validator does not consider.
        const lenient = [...files].flatMap(([name, path]) => (passes(path) ? [name] : []));
        expect(lenient).toEqual(['cells without headings']);
      });
    },
  );
});
