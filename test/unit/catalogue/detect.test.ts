import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../functions/engines/runtime/catalogues.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';

const detect = (content: string | Uint8Array, name: string) =>
  detectFormat(catalogue, typeof content === 'string' ? Buffer.from(content) : content, name);

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

describe('an SVG is detected', () => {
  test.each([
    ['by itself', svg],
    ['after a byte order mark', `\uFEFF${svg}`],
    ['after more space than most files begin with', `${' \n'.repeat(1_000)}${svg}`],
    [
      'after a declaration, a comment and a document type with entities',
      `<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg [ <!ENTITY a "b"> ]>\n${svg}`,
    ],
    ['with more behind it than is looked at', `${svg.slice(0, -2)}>${'<g/>'.repeat(detectionBytes)}</svg>`],
  ])('%s', async (_how, content) => {
    expect(await detect(content, 'picture.bin')).toBe('svg');
  });

  test('apart from a page that has one in it', async () => {
    expect(await detect(`<html><body>${svg}</body></html>`, 'page.html')).toBe('html');
  });
});

describe('content decides', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

  test('against the name', async () => {
    expect(await detect(png, 'drawing.svg')).toBe('png');
  });

  test('by its start alone, however much follows', async () => {
    const long = Buffer.concat([png, Buffer.alloc(detectionBytes), Buffer.from(svg)]);
    expect(await detect(long, 'unknown')).toBe('png');
  });

  test('and the name where it leaves it open', async () => {
    expect(await detect('a,b\n1,2\n', 'table.csv')).toBe('csv');
  });
});
