import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import type { Canary, HostileDocument } from './hostile-documents.ts';
import { emfAround, nestedSvg, reachingSvg } from './hostile-pictures.ts';
import { flatOdf, makeSample, soffice, unzip, zip } from './samples.ts';

const relationship = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

type Parts = Record<string, string | Uint8Array>;
type Content = string | Buffer;

const inlinePicture = (id: string) =>
  `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:extent cx="1000000" cy="1000000"/><wp:docPr id="9" name="p"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="9" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip xmlns:r="${relationship}" r:embed="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
const chunk = (id: string) => `<w:altChunk xmlns:r="${relationship}" r:id="${id}"/>`;
const object = (id: string, program: string) =>
  `<w:p><w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml" id="s" style="width:100pt;height:100pt"/><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:r="${relationship}" Type="Embed" ProgID="${program}" ShapeID="s" DrawAspect="Content" ObjectID="1" r:id="${id}"/></w:object></w:r></w:p>`;

interface Held {
  body: string;
  type: string;
  name: string;
  mediaType: string;
  content: Content;
}

/** Puts one part into the docx sample, by a relationship of a type and with a body that uses it. */
async function docxWith(path: string, { body, type, name, mediaType, content }: Held): Promise<string> {
  const parts: Parts = await unzip(await makeSample('docx', join(path, '..')));
  const change = (part: string, from: string | RegExp, to: string) => {
    parts[part] = String(parts[part]).replace(from, to);
  };
  change(
    'word/_rels/document.xml.rels',
    '</Relationships>',
    `<Relationship Id="held" Type="${relationship}/${type}" Target="${name}"/></Relationships>`,
  );
  change('word/document.xml', '<w:body>', `<w:body>${body}`);
  change('[Content_Types].xml', '</Types>', `<Override PartName="/word/${name}" ContentType="${mediaType}"/></Types>`);
  return zip(path, { ...parts, [`word/${name}`]: content });
}

const picture = (content: Content, name = 'media/held.png'): Held => ({
  body: inlinePicture('held'),
  type: 'image',
  name,
  mediaType: 'image/png',
  content,
});

const alternative = (content: Content, extension: string, mediaType: string): Held => ({
  body: chunk('held'),
  type: 'aFChunk',
  name: `held.${extension}`,
  mediaType,
  content,
});

const docx = (held: (canary: Canary, folder: string) => Promise<Held> | Held) => {
  return async (path: string, canary: Canary) => docxWith(path, await held(canary, join(path, '..')));
};

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

async function innerDocx(folder: string, held: Held): Promise<Buffer> {
  return readFile(await docxWith(join(folder, 'inner.docx'), held));
}

const rtfPicture = (data: string) => `{\\pict\\pngblip\\picw200\\pich200\\picwgoal2000\\pichgoal2000 ${data}}`;
const rtf = (body: (svg: Buffer, canary: Canary) => Content) => (path: string, canary: Canary) =>
  writeFile(
    path,
    Buffer.concat([
      Buffer.from('{\\rtf1\\ansi Body '),
      Buffer.from(body(Buffer.from(reachingSvg(canary)), canary)),
      Buffer.from('\\par}'),
    ]),
  );

const page = (canary: Canary) =>
  `<html><body><table ;background="${canary.url}/nested"><tr><td>Body</td></tr></table><img src="data:image/png;base64,${Buffer.from(reachingSvg(canary)).toString('base64')}"></body></html>`;
const mhtml = (canary: Canary) =>
  `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\nContent-Location: file:///a.htm\r\n\r\n${page(canary)}\r\n--b--\r\n`;
const rtfChunk = (canary: Canary) =>
  `{\\rtf1\\ansi Body ${rtfPicture(Buffer.from(reachingSvg(canary)).toString('hex'))}\\par}`;

const frame = (inner: string) =>
  `<text:p><draw:frame text:anchor-type="as-char" svg:width="5cm" svg:height="5cm">${inner}</draw:frame></text:p>`;
const flatText = (body: string) => flatOdf('text', `<office:text>${body}<text:p>Body</text:p></office:text>`);
const binary = (bytes: Buffer) => `<office:binary-data>${bytes.toString('base64')}</office:binary-data>`;

/** Converts flat text of ours to one of the formats that only LibreOffice writes. */
async function byOffice(path: string, format: string, exporter: string, kind: string, source: string): Promise<Buffer> {
  const flat = join(path, '..', `${format}-source.${kind}`);
  await writeFile(flat, source);
  return readFile(await soffice(flat, `${format}:${exporter}`, join(path, '..')));
}

/** Replaces a contiguous picture in a compound file with other bytes of the same length. */
async function compoundWith(path: string, format: string, exporter: string, kind: string, canary: Canary) {
  const svg = Buffer.from(reachingSvg(canary));
  const png = await noisePng();
  if (svg.length > png.length) throw new Error('The picture is too small to hold the drawing.');
  const image = `<draw:image>${binary(png)}</draw:image>`;
  const slide = `<draw:frame svg:x="1cm" svg:y="1cm" svg:width="5cm" svg:height="5cm">${image}</draw:frame>`;
  const bodies: Record<string, string> = {
    fodt: flatText(frame(image)),
    fods: flatOdf(
      'spreadsheet',
      `<office:spreadsheet><table:table table:name="A"><table:shapes>${slide}</table:shapes><table:table-row><table:table-cell office:value-type="string"><text:p>Body</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
    ),
    fodp: flatOdf(
      'presentation',
      `<office:presentation><draw:page draw:name="p">${slide}</draw:page></office:presentation>`,
    ),
  };
  const bytes = await byOffice(path, format, exporter, kind, bodies[kind] ?? '');
  const start = bytes.indexOf(png.subarray(0, 33));
  const end = bytes.indexOf('IEND', start) + 8;
  if (start < 0 || end - start < svg.length) throw new Error(`The picture is not to be found in the ${format}.`);
  bytes.fill(' ', start, end);
  svg.copy(bytes, start);
  await writeFile(path, bytes);
}

/** A picture of noise, which stays as large as it is. */
async function noisePng(): Promise<Buffer> {
  const raw = createHash('shake256', { outputLength: 32 * 32 * 3 })
    .update('noise')
    .digest();
  return sharp(raw, { raw: { width: 32, height: 32, channels: 3 } })
    .png()
    .toBuffer();
}

const link = (target: string) => `xlink:href="${target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"`;

/** Documents that hold others, and pictures by other names, which reach out. */
export const nestedDocuments: HostileDocument[] = [
  { name: 'a docx with an SVG called a png', format: 'docx', make: docx((canary) => picture(reachingSvg(canary))) },
  {
    name: 'a docx with a packed SVG called a png',
    format: 'docx',
    make: docx((canary) => picture(gzipSync(reachingSvg(canary)))),
  },
  {
    name: 'a docx with an SVG inside an SVG as data',
    format: 'docx',
    make: docx((canary) => picture(nestedSvg(canary), 'media/held.svg')),
  },
  {
    name: 'a docx with an SVG behind a namespace of its own',
    format: 'docx',
    make: docx((canary) =>
      picture(
        `<?xml version="1.0"?><!DOCTYPE svg>${reachingSvg(canary)
          .replaceAll(/<(\/?)(svg|image|use)/g, '<$1v:$2')
          .replace('xmlns=', 'xmlns:v=')
          .replaceAll('xlink:href', 'x:href')
          .replace('xmlns:xlink', 'xmlns:x')}`,
        'media/held.svg',
      ),
    ),
  },
  {
    name: 'a docx with an SVG inside an EMF',
    format: 'docx',
    make: docx((canary) => picture(emfAround(Buffer.from(reachingSvg(canary))), 'media/held.emf')),
  },
  {
    name: 'an EMF with an SVG inside',
    format: 'emf',
    make: (path, canary) => writeFile(path, emfAround(Buffer.from(reachingSvg(canary)))),
  },
  {
    name: 'a docx with a docx chunk that has an SVG',
    format: 'docx',
    make: docx(async (canary, folder) =>
      alternative(await innerDocx(folder, picture(reachingSvg(canary), 'media/held.svg')), 'docx', docxType),
    ),
  },
  {
    name: 'a docx with a chunk in a chunk that has an SVG',
    format: 'docx',
    make: docx(async (canary, folder) => {
      const innermost = await innerDocx(folder, picture(reachingSvg(canary)));
      return alternative(await innerDocx(folder, alternative(innermost, 'docx', docxType)), 'dat', docxType);
    }),
  },
  {
    name: 'a docx with a page as chunk',
    format: 'docx',
    make: docx((canary) => alternative(page(canary), 'html', 'text/html')),
  },
  {
    name: 'a docx with a web archive as chunk',
    format: 'docx',
    make: docx((canary) => alternative(mhtml(canary), 'mht', 'message/rfc822')),
  },
  {
    name: 'a docx with rich text as chunk',
    format: 'docx',
    make: docx((canary) => alternative(rtfChunk(canary), 'rtf', 'application/rtf')),
  },
  {
    name: 'a docx with flat text as chunk',
    format: 'docx',
    make: docx(({ picture: target }) =>
      alternative(flatText(frame(`<draw:image ${link(`file://${target}`)}/>`)), 'docx', docxType),
    ),
  },
  {
    name: 'a docx with an embedded docx that has an SVG',
    format: 'docx',
    make: docx(async (canary, folder) => ({
      body: object('held', 'Word.Document.12'),
      type: 'package',
      name: 'embeddings/held.docx',
      mediaType: docxType,
      content: await innerDocx(folder, picture(reachingSvg(canary))),
    })),
  },
  {
    name: 'flat text with an embedded flat text that has linked pictures',
    format: 'fodt',
    make: (path, canary) =>
      writeFile(
        path,
        flatText(
          frame(
            `<draw:object>${flatText(frame(`<draw:image ${link(`file://${canary.picture}`)}/><draw:image>${binary(Buffer.from(reachingSvg(canary)))}</draw:image>`)).replace(/^<\?xml[^>]*>\n/, '')}</draw:object>`,
          ),
        ),
      ),
  },
  {
    name: 'flat text with an embedded docx that has an SVG',
    format: 'fodt',
    make: async (path, canary) =>
      writeFile(
        path,
        flatText(
          frame(
            `<draw:object-ole>${binary(await innerDocx(join(path, '..'), picture(reachingSvg(canary))))}</draw:object-ole>`,
          ),
        ),
      ),
  },
  {
    name: 'flat text with an SVG inside an SVG and an EMF',
    format: 'fodt',
    make: (path, canary) =>
      writeFile(
        path,
        flatText(
          [Buffer.from(nestedSvg(canary)), emfAround(Buffer.from(reachingSvg(canary)))]
            .map((bytes) => frame(`<draw:image>${binary(bytes)}</draw:image>`))
            .join(''),
        ),
      ),
  },
  { name: 'rich text with an SVG as picture', format: 'rtf', make: rtf((svg) => rtfPicture(svg.toString('hex'))) },
  {
    name: 'rich text with a packed SVG as picture',
    format: 'rtf',
    make: rtf((svg) => rtfPicture(gzipSync(svg).toString('hex'))),
  },
  {
    name: 'rich text with an SVG as binary picture',
    format: 'rtf',
    make: rtf((svg) =>
      Buffer.concat([
        Buffer.from(`{\\pict\\pngblip\\picw200\\pich200\\picwgoal2000\\pichgoal2000\\bin${svg.length} `),
        svg,
        Buffer.from('}'),
      ]),
    ),
  },
  {
    name: 'rich text with an SVG in pieces',
    format: 'rtf',
    make: rtf((svg) => {
      const hex = svg.toString('hex');
      return rtfPicture(
        `${hex.slice(0, 3)}\r\n{${hex.slice(3, 10)}}\\'${Buffer.from(hex[10] ?? '').toString('hex')}\\u${hex.charCodeAt(11)}?${hex.slice(12, 20)}\\b0 ${hex.slice(20)}`,
      );
    }),
  },
  {
    name: 'rich text with a shape filled with an SVG',
    format: 'rtf',
    make: rtf(
      (svg) =>
        `{\\shp{\\*\\shpinst\\shpleft0\\shptop0\\shpright3000\\shpbottom3000{\\sp{\\sn shapeType}{\\sv 75}}{\\sp{\\sn pib}{\\sv ${rtfPicture(svg.toString('hex'))}}}}}`,
    ),
  },
  {
    name: 'rich text with fields in other spellings',
    format: 'rtf',
    make: rtf(
      (_svg, { text, picture: target, url }) =>
        `{\\field{\\*\\fldinst {INCLUDE}{PICTURE} "${target}" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCL\\'55DEPICTURE "${url}/p.png" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCLUDE\\u84?EXT "${text}"}{\\fldrslt x}}{\\shp{\\*\\shpinst\\shpleft0\\shptop0\\shpright3000\\shpbottom3000{\\sp{\\sn shapeType}{\\sv 75}}{\\sp{\\sn pibName}{\\sv file://${target}}}{\\sp{\\sn pibFlags}{\\sv 10}}}}`,
    ),
  },
  {
    name: 'a book with an SVG that names others',
    format: 'epub',
    make: async (path, canary) => {
      const parts: Parts = await unzip(await makeSample('epub', join(path, '..')));
      const chapter = 'EPUB/text/ch001.xhtml';
      const used = ['a.svg', 'b.png', 'c.svg'].map((name) => `<p><img src="../media/${name}" alt="x"/></p>`).join('');
      parts[chapter] = String(parts[chapter]).replace('</body>', `${used}${reachingSvg(canary)}</body>`);
      parts['EPUB/content.opf'] = String(parts['EPUB/content.opf']).replace(
        '</manifest>',
        `${['a.svg', 'b.png', 'c.svg']
          .map((name, index) => `<item id="m${index}" href="media/${name}" media-type="image/svg+xml"/>`)
          .join('')}</manifest>`,
      );
      return zip(path, {
        ...parts,
        'EPUB/media/a.svg': reachingSvg(canary),
        'EPUB/media/b.png': reachingSvg(canary),
        'EPUB/media/c.svg': nestedSvg(canary),
      });
    },
  },
  {
    name: 'a FictionBook with an SVG as picture',
    format: 'fb2',
    make: (path, canary) =>
      writeFile(
        path,
        `<?xml version="1.0" encoding="UTF-8"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink"><description><title-info><book-title>Sample</book-title></title-info></description><body><section><p>Body</p><image l:href="#p"/><p><image l:href="#q"/></p></section></body>${['p', 'q'].map((id) => `<binary id="${id}" content-type="image/${id === 'p' ? 'png' : 'svg+xml'}">${Buffer.from(reachingSvg(canary)).toString('base64')}</binary>`).join('')}</FictionBook>`,
      ),
  },
  {
    name: 'markdown with an SVG as data',
    format: 'md',
    make: (path, canary) => {
      const data = Buffer.from(reachingSvg(canary)).toString('base64');
      return writeFile(
        path,
        `Body\n\n![x](data:image/svg+xml;base64,${data})\n\n![y](data:image/png;base64,${data})\n\n${reachingSvg(canary)}\n`,
      );
    },
  },
  {
    name: 'a notebook with an SVG as output and attachment',
    format: 'ipynb',
    make: (path, canary) => {
      const svg = reachingSvg(canary);
      const data = Buffer.from(svg).toString('base64');
      return writeFile(
        path,
        JSON.stringify({
          nbformat: 4,
          nbformat_minor: 5,
          metadata: {},
          cells: [
            {
              id: 'a',
              cell_type: 'markdown',
              metadata: {},
              attachments: { 'x.svg': { 'image/svg+xml': [svg] }, 'y.png': { 'image/png': data } },
              source: ['Body\n\n', '![x](attachment:x.svg) ![y](attachment:y.png)'],
            },
            {
              id: 'b',
              cell_type: 'code',
              metadata: {},
              execution_count: 1,
              source: ['1'],
              outputs: [
                { output_type: 'display_data', metadata: {}, data: { 'image/svg+xml': [svg] } },
                { output_type: 'display_data', metadata: {}, data: { 'image/png': data } },
              ],
            },
          ],
        }),
      );
    },
  },
  {
    name: 'an AbiWord text with an SVG as data',
    format: 'abw',
    make: (path, canary) =>
      writeFile(
        path,
        `<?xml version="1.0" encoding="UTF-8"?>\n<abiword xmlns="http://www.abisource.com/awml.dtd" version="3.0.0" fileformat="1.1" xml:space="preserve"><section><p>Body<image dataid="i" props="width:2in; height:2in"/></p></section><data><d name="i" mime-type="image/png" base64="yes">${Buffer.from(reachingSvg(canary)).toString('base64')}</d></data></abiword>`,
      ),
  },
  {
    name: 'a doc with an SVG called a png',
    format: 'doc',
    make: (path, canary) => compoundWith(path, 'doc', 'MS Word 97', 'fodt', canary),
  },
  {
    name: 'an xls with an SVG called a png',
    format: 'xls',
    make: (path, canary) => compoundWith(path, 'xls', 'MS Excel 97', 'fods', canary),
  },
  {
    name: 'a ppt with an SVG called a png',
    format: 'ppt',
    make: (path, canary) => compoundWith(path, 'ppt', 'MS PowerPoint 97', 'fodp', canary),
  },
  {
    name: 'a doc with linked pictures and sections',
    format: 'doc',
    make: async (path, { text, picture: target, url }) =>
      writeFile(
        path,
        await byOffice(
          path,
          'doc',
          'MS Word 97',
          'fodt',
          flatText(
            [`file://${target}`, `${url}/p.png`].map((to) => frame(`<draw:image ${link(to)}/>`)).join('') +
              [`file://${text}`, `${url}/section`]
                .map(
                  (to, index) =>
                    `<text:section text:name="s${index}"><text:section-source ${link(to)} text:filter-name="Text"/><text:p>old</text:p></text:section>`,
                )
                .join(''),
          ),
        ),
      ),
  },
  {
    name: 'an xls with links and services',
    format: 'xls',
    make: async (path, { text, url }) => {
      const formulas = [
        `of:='file://${text}'#$Sheet1.A1`,
        `of:=WEBSERVICE(&quot;${url}/xls&quot;)`,
        `of:=DDE(&quot;soffice&quot;;&quot;${text}&quot;;&quot;A1&quot;)`,
      ];
      const cells = formulas.map(
        (formula) =>
          `<table:table-cell table:formula="${formula}" office:value-type="string"><text:p>x</text:p></table:table-cell>`,
      );
      const source = flatOdf(
        'spreadsheet',
        `<office:spreadsheet><table:table table:name="A"><table:table-row>${cells.join('')}</table:table-row></table:table></office:spreadsheet>`,
      );
      return writeFile(path, await byOffice(path, 'xls', 'MS Excel 97', 'fods', source));
    },
  },
  {
    name: 'a SYLK sheet with formulas',
    format: 'slk',
    make: (path, { text, url }) =>
      writeFile(
        path,
        `ID;PSample\nC;Y1;X1;K"Body"\nC;Y2;X1;K"x";EWEBSERVICE("${url}/slk")\nC;Y3;X1;K"x";E'file://${text}'#$Sheet1.A1\nC;Y4;X1;K"x";EDDE("soffice";"${text}";"A1")\nE\n`,
      ),
  },
];
