import type { Readable } from 'node:stream';

/** CloudWatch's limit for one event; a longer line is split. */
const maxLine = 1_048_576;

/** Calls back with every line of a stream, including an unterminated last one. */
export function readLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    if (rest.length > maxLine) {
      take(rest);
      rest = '';
    }
  });
  stream.once('close', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => stream.destroy());
}
