import { zip } from './samples.ts';

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const types = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

const declared = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const relations = (...items: string[]) =>
  `${declared}<Relationships xmlns="${packages}/relationships">${items.join('')}</Relationships>`;
const relation = (id: string, type: string, target: string, more = '') =>
  `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"${more}/>`;

/** What the comments say, a paragraph each. */
export const commentLines = [
  'Bold and slanted words.',
  'First of a list',
  'Second of a list',
  'See example.org there.',
];

function comment(id: number): string {
  const listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';
  return `<w:comment w:id="${id}" w:author="Ada" w:initials="A" w:date="2026-01-02T03:04:05Z">
    ${paragraph(`<w:r><w:annotationRef/></w:r>${run('Bold', '<w:b/>')}${run(' and ')}${run('slanted', '<w:i/>')}${run(' words.')}`)}
    ${paragraph(run('First of a list', '<w:color w:val="C00000"/>'), listed)}
    ${paragraph(run('Second of a list', '<w:u w:val="single"/>'), listed)}
    ${paragraph(`${run('See ')}<w:hyperlink r:id="link">${run('example.org', '<w:b/>')}</w:hyperlink>${run(' there.')}`)}
  </w:comment>`;
}

/** Writes a docx of three lines, each with a comment of several paragraphs that are formatted, listed and linked. */
export function commentedDocx(path: string): Promise<string> {
  const lines = [0, 1, 2].map((id) =>
    paragraph(
      `<w:commentRangeStart w:id="${id}"/>${run(`Line ${id + 1} has a comment.`)}<w:commentRangeEnd w:id="${id}"/><w:r><w:commentReference w:id="${id}"/></w:r>`,
    ),
  );
  const names = `xmlns:w="${word}" xmlns:r="${office}"`;
  return zip(path, {
    '[Content_Types].xml': `${declared}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="${types}.document.main+xml"/><Override PartName="/word/comments.xml" ContentType="${types}.comments+xml"/><Override PartName="/word/numbering.xml" ContentType="${types}.numbering+xml"/></Types>`,
    '_rels/.rels': relations(relation('document', 'officeDocument', 'word/document.xml')),
    'word/document.xml': `${declared}<w:document ${names}><w:body>${lines.join('')}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(
      relation('comments', 'comments', 'comments.xml'),
      relation('numbering', 'numbering', 'numbering.xml'),
    ),
    'word/comments.xml': `${declared}<w:comments ${names}>${[0, 1, 2].map(comment).join('')}</w:comments>`,
    'word/_rels/comments.xml.rels': relations(
      relation('link', 'hyperlink', 'https://example.org/', ' TargetMode="External"'),
    ),
    'word/numbering.xml': `${declared}<w:numbering ${names}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/><w:lvlJc w:val="left"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
  });
}
