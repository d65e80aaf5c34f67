import { describe, expect, it } from 'vitest';
import { readInstantRequest } from '../../../functions/api/instant/read-request.ts';
import { maxInstantBytes } from '../../../shared/files/limits.ts';

const boundary = '----FormBoundary7MA4YWxkTrZu0gW';
const form = `multipart/form-data; boundary=${boundary}`;

function part(disposition: string, content = 'content'): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
}

function formOf(...parts: string[]): Buffer {
  return Buffer.from(`${parts.join('')}--${boundary}--\r\n`);
}

const file = part('name="file"; filename="a.png"');
const field = (name: string, value: string) => part(`name="${name}"`, value);

async function read(content: Buffer | string, type = form, query = 'output_format=webp') {
  return readInstantRequest('convert', { content: Buffer.from(content), type, query });
}

async function parametersOf(...request: Parameters<typeof read>) {
  const { requests } = await read(...request);
  return requests.find(({ operation }) => operation === 'convert')?.parameters;
}

async function namesOf(...request: Parameters<typeof read>) {
  const { requests } = await read(...request);
  return requests.filter(({ operation }) => operation === 'import/base64').map(({ parameters }) => parameters.filename);
}

describe('A form', () => {
  it.each([
    ['a line break', 'a%0D%0ASet-Cookie: a=b.png', 'aSet-Cookie_ a=b.png'],
    ['a quote', 'a%22; x.png', 'a_; x.png'],
    ['a path', '../../etc/passwd', 'passwd'],
    ['a NUL', 'a\0b.png', 'ab.png'],
    ['a direction', 'a\u202egnp.exe', 'agnp.exe'],
    ['letters of any script', 'übung €.png', 'übung €.png'],
    ['nothing but dots', '..', 'file'],
  ])('names its file safely: %s', async (_, filename, name) => {
    expect(await namesOf(formOf(part(`name="file"; filename="${filename}"`)))).toEqual([name]);
  });

  it.each([
    ['no boundary', 'multipart/form-data'],
    ['another boundary', 'multipart/form-data; boundary=other'],
    ['a boundary with a line break', 'multipart/form-data; boundary="a\r\nb"'],
  ])('is refused: %s', async (_, type) => {
    await expect(read(formOf(file), type)).rejects.toMatchObject({ status: 400, errorCode: 'bad_request' });
  });

  it('is refused without its end', async () => {
    await expect(read(formOf(file).subarray(0, -8))).rejects.toMatchObject({ status: 400 });
  });

  it('combines options of the query and of the form, and the last of a name counts', async () => {
    const content = formOf(field('options', '{"width":1,"height":2}'), field('options[width]', '3'), file);

    expect(await parametersOf(content, form, 'output_format=webp&options[quality]=4')).toMatchObject({
      options: { quality: '4', width: '3', height: 2 },
    });
  });

  it('has no more files than a job has tasks', async () => {
    expect(await namesOf(formOf(file.repeat(497)))).toHaveLength(497);
    await expect(read(formOf(file.repeat(498)))).rejects.toMatchObject({ status: 413 });
  });

  it('of tens of thousands of parts is refused before they are parsed', async () => {
    const content = formOf(file.repeat(35_000));
    const before = process.cpuUsage();

    await expect(read(content)).rejects.toMatchObject({ status: 413, errorCode: 'payload_too_large' });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
  });
});

describe('A name of a prototype', () => {
  const own = { html: '<p>', output_format: 'webp' };

  it.each([
    ['in a form', formOf(field('__proto__', 'a'), field('options[__proto__]', 'b'), file), form],
    ['in the options of a form', formOf(field('options', '{"__proto__":{"quality":1}}'), file), form],
    ['in JSON', `{"__proto__":{"input_format":"png"},${JSON.stringify(own).slice(1)}`, 'application/json'],
    ['in options of JSON', `{"options":{"__proto__":{"a":1}},${JSON.stringify(own).slice(1)}`, 'application/json'],
  ])('has no effect: %s', async (_, content, type) => {
    const parameters = await parametersOf(content, type);

    expect(parameters?.output_format).toBe('webp');
    expect(parameters?.input_format).toBeUndefined();
    expect(Object.keys(parameters?.options ?? {}).filter((name) => name !== '__proto__')).toEqual([]);
    expect(Object.keys({})).toEqual([]);
    expect('quality' in {} || 'a' in {}).toBe(false);
  });
});

describe('The files of a request', () => {
  it('may have 4.4 MB in all', async () => {
    const half = maxInstantBytes / 2;

    expect((await read(Buffer.alloc(maxInstantBytes), 'image/png')).contents.size).toBe(1);
    await expect(read(Buffer.alloc(maxInstantBytes + 1), 'image/png')).rejects.toMatchObject({ status: 413 });
    const two = (size: number) => formOf(file, part('name="file"; filename="b"', 'b'.repeat(size)));
    expect((await read(two(half))).contents.size).toBe(2);
    await expect(read(two(maxInstantBytes))).rejects.toMatchObject({ status: 413 });
  });

  it('include HTML, whose letters may have several bytes', async () => {
    const json = (html: string) => JSON.stringify({ html, output_format: 'pdf' });

    expect((await read(json('é'.repeat(maxInstantBytes / 2)), 'application/json')).contents.size).toBe(1);
    await expect(read(json('é'.repeat(maxInstantBytes / 2 + 1)), 'application/json')).rejects.toMatchObject({
      status: 413,
      errorCode: 'payload_too_large',
    });
  });
});
