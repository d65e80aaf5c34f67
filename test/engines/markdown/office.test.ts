import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { byPandoc, convert, docx, markdown, ooxml, relations } from './harness.ts';

const source = `---
title: The Title
---

# Chapter *one*

Text with **bold**, \`code\`, [link](https://example.com/a) and a note[^1]. H~2~O ~~gone~~

[^1]: The *note*.

- one
  - two
    1. three
- four

1. a
2. b

| A | B |
|---|--:|
| 1 | 2 \\| x |

Formula $x^2 + \\frac{a}{b}$ and

$$\\sum_{i=1}^n i = \\sqrt{n}$$

\`\`\`
def f(x):
    return x < 1
\`\`\`

> quote

![alt text](x.png)

שלום עולם مرحبا
`;

const parts = [
  '# Chapter *one*',
  'Text with **bold**, `code`, [link](https://example.com/a) and a note[^1]. H<sub>2</sub>O ~~gone~~',
  '- one\n  - two\n    1. three\n- four',
  '1. a\n2. b',
  '| A | B |\n|---|---|\n| 1 | 2 \\| x |',
  '```\ndef f(x):\n    return x < 1\n```',
  '> quote',
  '![alt text](',
  'שלום עולם مرحبا',
  '[^1]: The *note*.',
];

async function red(): Promise<Buffer> {
  return sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
}

describe('a document with all kinds of blocks', () => {
  test.each(['docx', 'epub', 'html', 'odt'])('is the same Markdown from %s', async (format) => {
    const made = await byPandoc(source, format, { 'x.png': await red() });
    const { text, files } = await convert(`a b.${format}`, made);
    for (const part of format === 'odt'
      ? parts.slice(0, 1)
      : parts.filter((each) => format !== 'html' || !each.startsWith('![')))
      expect(text).toContain(part);
    if (format === 'docx')
      expect(text).toContain('Formula $x^{2}+\\frac{a}{b}$ and\n\n$$\n\\sum_{i=1}^{n} i=\\sqrt{n}\n$$');
    if (format === 'epub')
      expect(text).toContain('Formula $x^2 + \\frac{a}{b}$ and\n\n$$\n\\sum_{i=1}^n i = \\sqrt{n}\n$$');
    expect(Object.keys(files)).toEqual(format === 'html' ? [] : ['a b-picture-1.png']);
    if (format !== 'html') expect(text).toContain('(a%20b-picture-1.png)');
  });

  test('has its pictures embedded or left out on request', async () => {
    const picture = await red();
    const made = await byPandoc('![alt](x.png)', 'docx', { 'x.png': picture });
    const embedded = await convert('a.docx', made, { images: 'embedded' });
    expect(embedded.text).toContain(`![alt](data:image/png;base64,${picture.toString('base64')})`);
    expect(embedded.files).toEqual({});
    const none = await convert('a.docx', made, { images: 'none' });
    expect(none.text).toContain('*[alt]*');
    expect(none.files).toEqual({});
  });
});

const text = (words: string, properties = '') => `<w:p>${properties}<w:r><w:t>${words}</w:t></w:r></w:p>`;

describe('a document of Word', () => {
  test('has cells that span as HTML, and others as a table of GitHub', async () => {
    const cell = (words: string, span = '') => `<w:tc><w:tcPr>${span}</w:tcPr>${text(words)}</w:tc>`;
    const body = `<w:tbl><w:tr>${cell('a', '<w:gridSpan w:val="2"/>')}</w:tr><w:tr>${cell('b', '<w:vMerge w:val="restart"/>')}${cell('c')}</w:tr><w:tr>${cell('', '<w:vMerge/>')}${cell('d &lt;')}</w:tr></w:tbl>`;
    expect(await markdown('a.docx', await docx(body))).toBe(
      '<table>\n<tr><td colspan="2">a</td></tr>\n<tr><td rowspan="2">b</td><td>c</td></tr>\n<tr><td>d &lt;</td></tr>\n</table>\n',
    );
  });

  test('has the numbers of its headings, its page breaks and its text boxes', async () => {
    const level = (place: number) =>
      `<w:lvl w:ilvl="${place}"><w:numFmt w:val="decimal"/><w:lvlText w:val="${place === 0 ? '%1.' : '%1.%2'}"/></w:lvl>`;
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="1">${level(0)}${level(1)}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
    const heading = (words: string, place: number) =>
      text(
        words,
        `<w:pPr><w:outlineLvl w:val="${place}"/><w:numPr><w:ilvl w:val="${place}"/><w:numId w:val="1"/></w:numPr></w:pPr>`,
      );
    const box =
      '<w:p><w:r><w:t>Before</w:t><w:drawing><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>';
    const made = await docx(
      `${heading('One', 0)}${heading('Two', 1)}${heading('Three', 1)}${box}<w:p><w:r><w:br w:type="page"/></w:r></w:p>${text('After')}`,
      {
        'word/_rels/document.xml.rels': relations('<Relationship Id="n" Type="x/numbering" Target="numbering.xml"/>'),
        'word/numbering.xml': numbering,
      },
    );
    expect(await markdown('a.docx', made)).toBe(
      '# 1\\. One\n\n## 1.1 Two\n\n## 1.2 Three\n\nBefore\n\nIn a box\n\n<!-- page 2 -->\n\nAfter\n'.replace(
        '\\.',
        '.',
      ),
    );
    expect(await markdown('a.docx', made, { page_markers: false })).not.toContain('<!--');
  });

  test('becomes harmless Markdown', async () => {
    const made = await docx(
      `${text('&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert(1)) &amp;lt; # a')}${text('# no heading')}
      <w:p><w:hyperlink r:id="j"><w:r><w:t>click</w:t></w:r></w:hyperlink></w:p>
      <w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "jAva&#9;script:alert(1)"</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>field</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>`,
      {
        'word/_rels/document.xml.rels': relations(
          '<Relationship Id="j" Type="x/hyperlink" Target="javascript:alert(1)" TargetMode="External"/>',
        ),
      },
    );
    expect(await markdown('a.docx', made)).toBe(
      '\\<script>alert(1)\\</script> \\[x\\](javascript:alert(1)) \\&lt; # a\n\n\\# no heading\n\nclick\n\nfield\n',
    );
  });

  test.each([
    ['that is empty', ''],
    ['that is no document', 'PKxx'],
    ['that is text', 'Hello'],
  ])('%s is refused', async (_name, bytes) => {
    await expect(convert('a.docx', bytes)).rejects.toThrow(/^The file /);
  });

  test('that declares entities or nests without end is refused', async () => {
    const bomb = await ooxml('word/document.xml', '<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document>&a;</w:document>');
    await expect(convert('a.docx', bomb)).rejects.toThrow('entities');
    await expect(convert('a.docx', await docx('<w:sdt>'.repeat(2_000)))).rejects.toThrow('deep');
    await expect(convert('a.docx', await docx(' '.repeat(40_000_000)))).rejects.toThrow('too large');
  });
});

test('a presentation has its slides, lists, tables and notes', async () => {
  const made = await byPandoc(
    '# One\n\n- a\n  - b\n\n::: notes\nSay *this*.\n:::\n\n# Two\n\n| A | B |\n|---|---|\n| 1 | 2 |\n',
    'pptx',
  );
  expect(await markdown('a.pptx', made)).toBe(
    '<!-- slide 1 -->\n\n## One\n\n- a\n  - b\n\n> **Notes:**\n>\n> Say *this*.\n\n<!-- slide 2 -->\n\n## Two\n\n| A | B |\n|---|---|\n| 1 | 2 |\n',
  );
});

describe('a workbook', () => {
  const workbook = (sheets: string[], more: Record<string, string> = {}) =>
    ooxml(
      'xl/workbook.xml',
      `<workbook><sheets>${sheets.map((_, index) => `<sheet name="Sheet ${index}"${index === 1 ? ' state="hidden"' : ''} r:id="s${index}"/>`).join('')}</sheets></workbook>`,
      {
        'xl/_rels/workbook.xml.rels': relations(
          `${sheets.map((_, index) => `<Relationship Id="s${index}" Type="x/worksheet" Target="sheet${index}.xml"/>`).join('')}<Relationship Id="st" Type="x/styles" Target="styles.xml"/><Relationship Id="ss" Type="x/sharedStrings" Target="strings.xml"/>`,
        ),
        'xl/strings.xml': '<sst><si><t>Name</t></si><si><r><t>a|</t></r><r><t>b</t></r></si></sst>',
        'xl/styles.xml':
          '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="&quot;€&quot;\\ #,##0.00"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="170"/><xf numFmtId="22"/></cellXfs></styleSheet>',
        ...Object.fromEntries(
          sheets.map((sheet, index) => [`xl/sheet${index}.xml`, `<worksheet>${sheet}</worksheet>`]),
        ),
        ...more,
      },
    );

  test('has what its cells show: dates, percents, amounts', async () => {
    const rows = `<sheetData><row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>
      <row r="3"><c r="B3" s="1"><v>45292</v></c><c r="C3" s="2"><v>0.125</v></c></row>
      <row r="5"><c r="B5" s="3"><v>-1234.5</v></c><c r="C5" t="b"><v>1</v></c></row>
      <row r="6"><c r="B6" s="4"><v>45292.75</v></c><c r="C6"><v>0.30000000000000004</v></c></row></sheetData>`;
    expect(await markdown('a.xlsx', await workbook([rows]))).toBe(
      '## Sheet 0\n\n| Name | a\\|b |\n|---|---|\n| 2024-01-01 | 12.50% |\n| -€ 1,234.50 | TRUE |\n| 2024-01-01 18:00 | 0.3 |\n',
    );
  });

  test('has merged cells as HTML, and hidden sheets on request', async () => {
    const merged = `<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells>`;
    const made = await workbook([merged, '<sheetData><row r="1"><c r="A1"><v>7</v></c></row></sheetData>']);
    const { text: shown, warnings } = await convert('a.xlsx', made);
    expect(shown).toContain('<tr><th colspan="2">x</th></tr>\n<tr><td>1</td><td>2</td></tr>');
    expect(shown).not.toContain('Sheet 1');
    expect(warnings).toEqual([
      'The hidden sheet "Sheet 1" was left out. Set hidden_sheets to convert hidden sheets, too.',
    ]);
    expect(await markdown('a.xlsx', made, { hidden_sheets: true })).toContain('## Sheet 1\n\n| 7 |');
    await expect(convert('a.xlsx', made, { sheet: 3 })).rejects.toThrow('sheet 3 does not exist');
  });
});

test.each([
  ['a.csv', 'name;price\n"a|b;""c""";007\n'],
  ['a.tsv', 'name\tprice\n"a|b;""c"""\t007\n'],
])('the delimited text %s is a table of its values as written', async (name, content) => {
  expect(await markdown(name, content)).toBe('| name | price |\n|---|---|\n| a\\|b;"c" | 007 |\n');
});
