import type { Source, SourceBlock, SourceTable } from './documents.ts';
import { headRows } from './web-page.ts';

const fonts = { serif: 'Liberation Serif', sans: 'Liberation Sans' };
const namespaces = ['office', 'text', 'table', 'style']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .concat([
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"',
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"',
  ])
  .join(' ');
const textWidth = 595 - 2 * 57;
const columnGap = 20;

/** Returns a document as a flat OpenDocument text. */
export function flatTextOf(source: Source): string {
  const { blocks, columns, font, size, leading } = source;
  const styles: string[] = [];
  const [title, ...rest] = blocks;
  const width = (textWidth - columnGap * (columns - 1)) / columns;
  const body = rest.map((block) => xmlOf(block, source, styles, width)).join('');
  const paragraph = (name: string, properties: string, scale = 1, face: string = fonts[font], tab = '') =>
    `<style:style style:name="${name}" style:family="paragraph"><style:paragraph-properties ${properties}>${tab === '' ? '' : `<style:tab-stops><style:tab-stop ${tab}/></style:tab-stops>`}</style:paragraph-properties><style:text-properties style:font-name="${face}" fo:font-size="${size * scale}pt" fo:font-weight="${name.startsWith('H') ? 'bold' : 'normal'}"/></style:style>`;
  const lineHeight = `fo:line-height="${Math.round(leading * 88)}%"`;
  return `<?xml version="1.0" encoding="UTF-8"?><office:document ${namespaces} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:font-face-decls>${[...Object.values(fonts), 'Liberation Mono'].map((name) => `<style:font-face style:name="${name}" svg:font-family="'${name}'"/>`).join('')}</office:font-face-decls>
<office:styles><text:list-style style:name="L"><text:list-level-style-bullet text:level="1" text:bullet-char="•"><style:list-level-properties text:space-before="12pt" text:min-label-width="12pt"/></text:list-level-style-bullet><text:list-level-style-bullet text:level="2" text:bullet-char="–"><style:list-level-properties text:space-before="30pt" text:min-label-width="12pt"/></text:list-level-style-bullet></text:list-style>
<text:list-style style:name="O"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."><style:list-level-properties text:space-before="12pt" text:min-label-width="16pt"/></text:list-level-style-number><text:list-level-style-bullet text:level="2" text:bullet-char="–"><style:list-level-properties text:space-before="30pt" text:min-label-width="12pt"/></text:list-level-style-bullet></text:list-style></office:styles>
<office:automatic-styles>
<style:page-layout style:name="P"><style:page-layout-properties fo:page-width="595pt" fo:page-height="842pt" fo:margin="57pt"/></style:page-layout>
${paragraph('B', `${lineHeight} fo:margin-bottom="${0.7 * size}pt" fo:text-align="${columns > 1 ? 'justify' : 'start'}"`)}
${paragraph('I', `${lineHeight}`)}
${paragraph('H1', `fo:margin-bottom="${size}pt"`, 1.8)}
${paragraph('H2', `fo:margin-top="${size}pt" fo:margin-bottom="${size * 0.5}pt" fo:keep-with-next="always"`, 1.35)}
${paragraph('C', '', 0.9, 'Liberation Mono')}
${paragraph('T', '', 1, fonts[font], `style:position="${width - 4}pt" style:type="right" style:leader-style="dotted" style:leader-text="."`)}
${paragraph('F', 'fo:margin-bottom="5pt"', 1, fonts[font], `style:position="${width * 0.7}pt" style:leader-style="solid" style:leader-text="_"`)}
${paragraph('D', 'fo:margin-left="70pt" fo:text-indent="-70pt" fo:margin-bottom="4pt"', 1, fonts[font], 'style:position="0pt"')}
<style:style style:name="S" style:family="section"><style:section-properties><style:columns fo:column-count="${columns}" fo:column-gap="${columnGap}pt"/></style:section-properties></style:style>
<style:style style:name="S3" style:family="section"><style:section-properties><style:columns fo:column-count="3" fo:column-gap="16pt"/></style:section-properties></style:style>
${styles.join('\n')}
</office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="P"/></office:master-styles>
<office:body><office:text>${title ? xmlOf(title, source, styles, textWidth) : ''}${columns > 1 ? `<text:section text:style-name="S" text:name="s">${body}</text:section>` : body}</office:text></office:body></office:document>`;
}

function xmlOf(block: SourceBlock, source: Source, styles: string[], width: number): string {
  switch (block.kind) {
    case 'heading':
      return `<text:h text:outline-level="${block.level}" text:style-name="H${block.level}">${block.text}</text:h>`;
    case 'paragraph':
      return `<text:p text:style-name="B">${block.text}</text:p>`;
    case 'list': {
      const item = (text: string, inner = '') =>
        `<text:list-item><text:p text:style-name="I">${text}</text:p>${inner}</text:list-item>`;
      const items = block.items.map(({ text, items }) =>
        item(text, items.length > 0 ? `<text:list>${items.map((each) => item(each)).join('')}</text:list>` : ''),
      );
      return `<text:list text:style-name="${block.ordered ? 'O' : 'L'}">${items.join('')}</text:list>`;
    }
    case 'lines': {
      const style = { code: 'C', form: 'F', contents: 'T', index: 'I', address: 'I', terms: 'D' }[block.look];
      const lines = block.lines.map(([first, second]) => {
        const start = first.replace(/^ +/, (spaces) => `<text:s text:c="${spaces.length}"/>`);
        const hasTab = block.look === 'form' || second !== '';
        return `<text:p text:style-name="${style}">${start}${hasTab ? '<text:tab/>' : ''}${second}</text:p>`;
      });
      const all = lines.join('');
      return block.look === 'index'
        ? `<text:section text:style-name="S3" text:name="i${styles.push('')}">${all}</text:section>`
        : `${all}<text:p text:style-name="I"/>`;
    }
    default:
      return tableOf(block, source, styles, width);
  }
}

function tableOf(table: SourceTable, { font, size }: Source, styles: string[], room: number): string {
  const { rows, alignments, weights, look } = table;
  const name = `t${styles.length}`;
  const width = room * look.width;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const { rules, isStriped, hasFilledHead, hasBoldHead, padding, scale } = look;
  styles.push(
    `<style:style style:name="${name}" style:family="table"><style:table-properties style:width="${width}pt" table:align="left" fo:margin-top="8pt" fo:margin-bottom="10pt"/></style:style><style:style style:name="${name}r" style:family="table-row"><style:table-row-properties fo:keep-together="always"/></style:style>`,
    ...weights.map(
      (weight, index) =>
        `<style:style style:name="${name}c${index}" style:family="table-column"><style:table-column-properties style:column-width="${(width * weight) / total}pt"/></style:style>`,
    ),
    ...['left', 'center', 'right'].flatMap((align) =>
      ['normal', 'bold'].map(
        (weight) =>
          `<style:style style:name="${name}${align}${weight}" style:family="paragraph"><style:paragraph-properties fo:text-align="${align}"/><style:text-properties style:font-name="${fonts[font]}" fo:font-size="${size * scale}pt" fo:font-weight="${weight}"/></style:style>`,
      ),
    ),
  );
  const heads = headRows(rows);
  const lines = rows.map((cells, index) => {
    const isHead = index < heads;
    const isFilled = (isStriped && !isHead && (index - heads) % 2 === 0) || (hasFilledHead && isHead);
    const style = `${name}x${index}`;
    const line = (isDrawn: boolean, side: string, thick = 0.6) =>
      `fo:border-${side}="${isDrawn ? `${thick}pt solid #333333` : 'none'}"`;
    const borders = [
      line(rules === 'grid' || (rules === 'book' && index === 0), 'top', 1),
      line(
        rules === 'grid' ||
          rules === 'rows' ||
          ((rules === 'head' || rules === 'book') && index === heads - 1) ||
          (rules === 'book' && index === rows.length - 1),
        'bottom',
      ),
      line(rules === 'grid', 'left'),
      line(rules === 'grid', 'right'),
    ];
    styles.push(
      `<style:style style:name="${style}" style:family="table-cell"><style:table-cell-properties fo:padding-left="${padding[0]}pt" fo:padding-right="${padding[0]}pt" fo:padding-top="${padding[1]}pt" fo:padding-bottom="${padding[1]}pt" ${borders.join(' ')} ${isFilled ? 'fo:background-color="#e6e9ee"' : ''}/></style:style>`,
    );
    let column = 0;
    const row = cells.map(({ text, columns }) => {
      const paragraph = `${name}${columns > 1 ? 'center' : alignments[column]}${isHead && hasBoldHead ? 'bold' : 'normal'}`;
      column += columns;
      return `<table:table-cell table:style-name="${style}" table:number-columns-spanned="${columns}"><text:p text:style-name="${paragraph}">${text}</text:p></table:table-cell>${'<table:covered-table-cell/>'.repeat(columns - 1)}`;
    });
    return `<table:table-row table:style-name="${name}r">${row.join('')}</table:table-row>`;
  });
  const columns = weights.map((_, index) => `<table:table-column table:style-name="${name}c${index}"/>`).join('');
  return `<table:table table:name="${name}" table:style-name="${name}">${columns}<table:table-header-rows>${lines.slice(0, heads).join('')}</table:table-header-rows>${lines.slice(heads).join('')}</table:table>`;
}
