import { describe, expect, it } from 'vitest';
import { type Body, call } from './api.ts';

const exts = (body: Body): string[] => body.formats.map(({ ext }: Body) => ext);

describe('Format queries', () => {
  it('GET /v1/query/formats lists all supported formats without a key', async () => {
    const { status, body } = await call('/v1/query/formats', { as: 'nobody' });
    expect(status).toBe(200);
    expect(exts(body)).toEqual(expect.arrayContaining(['png', 'jpg', 'webp']));
    expect(exts(body).every((ext) => /^[a-z0-9][a-z0-9.-]*$/.test(ext))).toBe(true);
  });

  it.each(['convert', 'compress', 'merge', 'crop', 'trim'])(
    'GET /v1/query/formats/%s answers a format list without a key',
    async (operation) => {
      const { status, body } = await call(`/v1/query/formats/${operation}`, { as: 'nobody' });
      expect(status).toBe(200);
      expect(Array.isArray(body.formats)).toBe(true);
    },
  );

  it('input_format lists the output formats for it', async () => {
    const { body } = await call('/v1/query/formats/convert?input_format=png');
    expect(exts(body)).toEqual(expect.arrayContaining(['jpg', 'webp', 'gif']));
  });

  it('output_format lists the input formats for it', async () => {
    const { body } = await call('/v1/query/formats/convert?output_format=webp');
    expect(exts(body)).toEqual(expect.arrayContaining(['jpg', 'png', 'gif']));
  });

  it('the value * means all formats, on either side', async () => {
    const outputs = exts((await call('/v1/query/formats/convert?input_format=*')).body);
    const inputs = exts((await call('/v1/query/formats/convert?output_format=*')).body);
    expect(outputs).toEqual(expect.arrayContaining(['jpg', 'webp']));
    expect(inputs).toEqual(expect.arrayContaining(['jpg', 'png']));
  });

  it('an extension that is another spelling of a format names that format', async () => {
    const { body } = await call('/v1/query/formats/convert?input_format=png');
    const formats = body.formats.filter(({ ext }: Body) => ['jpg', 'jpeg'].includes(ext));
    expect(formats).toEqual(
      expect.arrayContaining([
        { ext: 'jpg', media_type: 'image/jpeg' },
        { ext: 'jpeg', media_type: 'image/jpeg', alias_of: 'jpg' },
      ]),
    );
  });

  it.each(['input_format', 'output_format'])(
    'refuses an unknown extension as %s, and names similar ones',
    async (name) => {
      const { status, body } = await call(`/v1/query/formats/convert?${name}=webbp`);
      expect(status).toBe(400);
      expect(body.errors[name]).toEqual([
        'Expected the extension of a format but received "webbp". Did you mean webp?',
      ]);
    },
  );

  it('a format that the operation does not take has no formats', async () => {
    expect(exts((await call('/v1/query/formats/crop?input_format=docx')).body)).toEqual([]);
  });

  it('refuses both at a time', async () => {
    const { status, body } = await call('/v1/query/formats/convert?input_format=png&output_format=jpg');
    expect(status).toBe(400);
    expect(body.errors).toHaveProperty('output_format');
  });

  it('every listed pair of an input has an option descriptor', async () => {
    const outputs = exts((await call('/v1/query/formats/convert?input_format=png')).body);
    for (const output of outputs.slice(0, 12)) {
      expect((await call(`/v1/query/options/convert?input_format=png&output_format=${output}`)).status).toBe(200);
    }
  });
});

describe('Option descriptor', () => {
  it('has sourceExt, targetExt, operation and options, each with every field of the table', async () => {
    const { status, body } = await call('/v1/query/options/convert?input_format=png&output_format=jpg', {
      as: 'nobody',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      sourceExt: 'png',
      targetExt: 'jpg',
      operation: 'convert',
      options: expect.any(Array),
    });
    expect(body.options.length).toBeGreaterThan(0);
    for (const option of body.options) {
      expect(option).toMatchObject({
        name: expect.any(String),
        hint: expect.any(String),
        data_type: expect.stringMatching(/^(boolean|string|number|integer)$/),
        default_value: expect.any(String),
        type: expect.any(String),
        conditions: expect.any(Array),
      });
      if (option.type === 'enum')
        expect(option.enum_values[0]).toMatchObject({ value: expect.any(String), hint: expect.any(String) });
      for (const condition of option.conditions) {
        expect(condition).toMatchObject({
          name: expect.any(String),
          required: expect.any(Boolean),
          meta: expect.any(Array),
        });
      }
    }
  });

  it('strip is a boolean with default true', async () => {
    const { body } = await call('/v1/query/options/convert?input_format=png&output_format=jpg');
    expect(body.options.find(({ name }: Body) => name === 'strip')).toMatchObject({
      data_type: 'boolean',
      default_value: 'true',
    });
  });

  it('a pair that no engine converts is a 400 that lists what is valid', async () => {
    const { status, body } = await call('/v1/query/options/convert?input_format=png&output_format=nonsense');
    expect(status).toBe(400);
    expect(body.errors.output_format[0]).toContain('Valid output formats');
  });

  it('a missing format is a 400 that names it', async () => {
    expect((await call('/v1/query/options/convert?input_format=png')).body.errors).toHaveProperty('output_format');
    expect((await call('/v1/query/options/convert?output_format=png')).body.errors).toHaveProperty('input_format');
  });
});
