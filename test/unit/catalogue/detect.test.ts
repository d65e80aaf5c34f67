import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../functions/catalogue/catalogues.ts';
import { detectFile, detectFormat, detectionBytes, formatAs } from '../../../shared/catalogue/detect.ts';

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

describe('plain text is what its name says, although it begins with', () => {
  test.each([
    ['the mark of a bitmap', 'BMW builds cars.'],
    ['the mark of a program', 'MZ is what DOS looks for.'],
    ['a box of QuickTime', 'The free lunch.'],
    ["the mark of Monkey's Audio", 'MAC addresses have six bytes.'],
  ])('%s', async (_what, text) => {
    expect(await detect(text, 'notes.md')).toBe('md');
  });
});

test('a page in XML is a page', async () => {
  expect(await detect('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', 'page.html')).toBe('html');
});

describe('a requested format', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  const as = async (content: string | Uint8Array, name: string, format: string) =>
    formatAs(catalogue, await detectFile(catalogue, Buffer.from(content), name), format);

  test.each(['md', 'csv', 'txt', 'html', 'rst', 'tex', 'json'])('of nameless text is believed: %s', async (format) => {
    expect(await as('a,b\n1,2\n', 'file', format)).toBe(format);
  });

  test.each([
    ['of text with another name', 'a;b', 'table.txt', 'csv'],
    ['in another spelling', 'Text', 'file', 'Markdown'],
    ['of a package', Buffer.from('504b03040a0000000000', 'hex'), 'file', 'docx'],
    ['that the content has', png, 'drawing.svg', 'png'],
    ['of a page in XML', '<?xml version="1.0"?><html/>', 'file', 'html'],
  ])('%s is believed', async (_what, content, name, format) => {
    expect(await as(content, name, format)).toBe(catalogue.canonical(format));
  });

  test.each([
    ['a picture', png, 'file', 'md'],
    ['a picture that is called so', png, 'notes.md', 'md'],
    ['a PDF', '%PDF-1.7', 'file', 'txt'],
    ['an archive', Buffer.from('1f8b0800', 'hex'), 'file', 'csv'],
  ])('is not believed of %s', async (_what, content, name, format) => {
    expect(await as(content, name, format)).toBeUndefined();
  });

  test('of what the service made is believed between texts only', () => {
    expect(formatAs(catalogue, { format: 'txt' }, 'md')).toBe('md');
    expect(formatAs(catalogue, { format: 'png' }, 'md')).toBeUndefined();
    expect(formatAs(catalogue, { format: 'txt' }, 'png')).toBeUndefined();
  });
});

describe('a text with the name of something else', () => {
  const page = '<!DOCTYPE html>\n<html><body>Not found</body></html>';

  test.each([
    ['photo.jpg', page, 'html'],
    ['report.docx', `\uFEFF<!-- cached -->\n${page}`, 'html'],
    ['report.pdf', '{ "error": "not found" }', 'json'],
  ])('is told apart: %s', async (name, text, content) => {
    const file = await detectFile(catalogue, Buffer.from(text), name);
    expect(file).toEqual({ format: name.split('.')[1], content });
    expect(formatAs(catalogue, file, undefined)).toBeUndefined();
    expect(formatAs(catalogue, file, file.format)).toBeUndefined();
    expect(formatAs(catalogue, file, 'html')).toBe('html');
  });

  test.each([
    ['page.html', page],
    ['page.xhtml', page],
    ['notes.md', page],
    ['data.ipynb', '{ "cells": [] }'],
    ['picture.xpm', '/* XPM */ static char *x[] = {'],
  ])('is not seen in %s', async (name, text) => {
    const file = await detectFile(catalogue, Buffer.from(text), name);
    expect(formatAs(catalogue, file, undefined)).toBe(file.format);
    expect(name).toContain(file.format);
  });
});
