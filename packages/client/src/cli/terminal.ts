interface Stream {
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** The output streams of a command. */
export interface Output {
  out: Stream;
  err: Stream;
}

/** Replaces control characters, for example in filenames, that would affect the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** Formats a size in a suitable unit. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toPrecision(3)} ${units[power]}`;
}

/** Formats rows as a table with aligned columns. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** Formats words in as many columns as fit, sorted downwards and indented. */
export function columns(words: string[], width: number): string {
  const indent = 2;
  const cell = Math.max(...words.map(({ length }) => length)) + 2;
  const height = Math.ceil(words.length / Math.max(1, Math.floor((width - indent) / cell)));
  return Array.from({ length: height }, (_row, row) => words.filter((_word, index) => index % height === row))
    .map(
      (line) =>
        `${' '.repeat(indent)}${line
          .map((word) => word.padEnd(cell))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}
