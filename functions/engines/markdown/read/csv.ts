import { type Cell, type Content, textOf } from '../model.ts';

const delimiters: Record<string, string> = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

/** Reads delimited text as a table. */
export function readCsv(text: string, delimiter: string | undefined): Content {
  const rows = rowsOf(text.replace(/^\ufeff?(?:sep=.\r?\n)?/i, ''), delimiters[delimiter ?? ''] ?? detect(text));
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const cells = rows.map((row) =>
    Array.from({ length: width }, (_, place): Cell => {
      const value = row[place]?.trim() ?? '';
      return { blocks: value === '' ? [] : [{ kind: 'paragraph', content: [textOf(value)] }], columns: 1, rows: 1 };
    }),
  );
  return { blocks: [{ kind: 'table', rows: cells, headerRows: 1 }], notes: new Map(), pictures: [] };
}

/** Returns the delimiter that splits the first lines most evenly. */
function detect(text: string): string {
  const lines = text
    .slice(0, 20_000)
    .split(/\r?\n/)
    .slice(0, 20)
    .filter((line) => line !== '');
  const scores = Object.values(delimiters).map((delimiter) => {
    const counts = lines.map((line) => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length - 1);
    const [first = 0] = counts;
    return { delimiter, score: counts.filter((count) => count === first).length * Math.min(first, 1_000) };
  });
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).delimiter;
}

function rowsOf(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let value = '';
    if (text[at] === '"') {
      let end = at + 1;
      for (;;) {
        const quote = text.indexOf('"', end);
        if (quote < 0) {
          value += text.slice(end);
          end = text.length;
          break;
        }
        value += text.slice(end, quote);
        end = quote + 1;
        if (text[end] !== '"') break;
        value += '"';
        end += 1;
      }
      at = end;
    }
    const start = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at += 1;
    row.push(value + text.slice(start, at).replace(/\r$/, ''));
    if (text[at] !== delimiter) {
      if (row.some((cell) => cell.trim() !== '')) rows.push(row);
      row = [];
    }
    at += 1;
  }
  if (row.some((cell) => cell.trim() !== '')) rows.push(row);
  return rows;
}
