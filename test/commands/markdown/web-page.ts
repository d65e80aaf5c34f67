import type { Source, SourceBlock, SourceTable } from './documents.ts';

const fonts = { serif: 'Liberation Serif', sans: 'Liberation Sans' };

/** Returns a document as a web page to print. */
export function webPageOf({ blocks, columns, font, size, leading }: Source): string {
  const [title, ...rest] = blocks;
  const body = rest.map(htmlOf).join('\n');
  return `<!doctype html><html><head><style>
    @page { size: A4; margin: 20mm; }
    body { font: ${size}pt/${leading} '${fonts[font]}'; margin: 0; }
    h1 { font-size: ${size * 1.8}pt; margin: 0 0 .6em; } h2 { font-size: ${size * 1.35}pt; margin: .9em 0 .4em; break-after: avoid; }
    p { margin: 0 0 .7em; text-align: ${columns > 1 ? 'justify' : 'left'}; } pre { font: ${size * 0.9}pt/1.25 'Liberation Mono'; }
    ul, ol { margin: 0 0 .7em; padding-left: 2em; } table { border-collapse: collapse; margin: .8em 0 1em; } td { vertical-align: top; }
    .body { ${columns > 1 ? `columns: ${columns}; column-gap: 22pt; column-fill: balance;` : ''} }
    .index { columns: 3; column-gap: 18pt; } .index div { text-align: left; }
    .contents div { display: flex; } .contents i { flex: 1; overflow: hidden; white-space: nowrap; font-style: normal; margin: 0 4pt; }
    .form i { display: inline-block; width: 55%; border-bottom: .7pt solid #000; } .form div { margin: 0 0 6pt; }
    .address { margin: 1em 0; } .contents, .terms, .form { margin: 0 0 1em; } .terms dd { margin: 0 0 .4em 6em; } .terms dt { float: left; }
    dl { margin: 0; }
  </style></head><body>${title ? htmlOf(title) : ''}<div class="body">${body}</div></body></html>`;
}

function htmlOf(block: SourceBlock): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${block.text}</h${block.level}>`;
    case 'paragraph':
      return `<p>${block.text}</p>`;
    case 'list': {
      const tag = block.ordered ? 'ol' : 'ul';
      const items = block.items.map(({ text, items }) => {
        const inner = items.map((each) => `<li>${each}</li>`).join('');
        return `<li>${text}${inner === '' ? '' : `<ul>${inner}</ul>`}</li>`;
      });
      return `<${tag}>${items.join('')}</${tag}>`;
    }
    case 'lines': {
      if (block.look === 'code') return `<pre>${block.lines.map(([line]) => line).join('\n')}</pre>`;
      const lines = block.lines.map(([first, second]) => {
        if (block.look === 'contents') return `<div>${first}<i>${' .'.repeat(120)}</i>${second}</div>`;
        if (block.look === 'terms') return `<dl><dt>${first}</dt><dd>${second}</dd></dl>`;
        return `<div>${first}${block.look === 'form' ? ' <i></i>' : ''}</div>`;
      });
      return `<div class="${block.look}">${lines.join('')}</div>`;
    }
    default:
      return tableOf(block);
  }
}

function tableOf({ rows, alignments, weights, look }: SourceTable): string {
  const { rules, isStriped, hasFilledHead, hasBoldHead, padding, width, scale } = look;
  const heads = headRows(rows);
  const lines = rows.map((cells, index) => {
    const isHead = index < heads;
    const styles = [
      (isStriped && !isHead && (index - heads) % 2 === 0) || (hasFilledHead && isHead) ? 'background:#e6e9ee' : '',
      rules === 'rows' || (rules === 'head' && index === heads - 1) ? 'border-bottom:.6pt solid #666' : '',
      rules === 'book' && index === 0 ? 'border-top:1pt solid #000' : '',
      rules === 'book' && index === heads - 1 ? 'border-bottom:.5pt solid #000' : '',
      rules === 'book' && index === rows.length - 1 ? 'border-bottom:1pt solid #000' : '',
    ];
    let column = 0;
    const row = cells.map(({ text, columns }) => {
      const align = columns > 1 ? 'center' : alignments[column];
      column += columns;
      const style = [
        `text-align:${align}`,
        `padding:${padding[1]}pt ${padding[0]}pt`,
        rules === 'grid' ? 'border:.6pt solid #444' : '',
        isHead && hasBoldHead ? 'font-weight:bold' : '',
      ];
      return `<td colspan="${columns}" style="${style.join(';')}">${text}</td>`;
    });
    return `<tr style="break-inside:avoid;${styles.join(';')}">${row.join('')}</tr>`;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const widths = weights.map((weight) => `<col style="width:${(100 * weight) / total}%">`).join('');
  const body = `<thead>${lines.slice(0, heads).join('')}</thead><tbody>${lines.slice(heads).join('')}</tbody>`;
  return `<table style="width:${100 * width}%;font-size:${100 * scale}%;line-height:1.2"><colgroup>${widths}</colgroup>${body}</table>`;
}

/** Returns the number of rows that are a head. */
export function headRows(rows: SourceTable['rows']): number {
  return rows[0]?.some(({ columns }) => columns > 1) ? 2 : 1;
}
