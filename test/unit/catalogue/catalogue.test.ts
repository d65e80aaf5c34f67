import { describe, expect, test } from 'vitest';
import { Catalogue, type EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkProcessing } from '../../../shared/catalogue/check.ts';
import { detectFormat } from '../../../shared/catalogue/detect.ts';

const resources: EngineCatalogue['resources'] = {
  packaging: 'image',
  memoryMegabytes: 1,
  diskMegabytes: 1,
  timeoutSeconds: 1,
  typicalSeconds: 1,
  maxConcurrency: 1,
};

const codec = {
  name: 'codec',
  hint: '',
  data_type: 'string' as const,
  type: 'enum' as const,
  default_value: 'fine',
  enum_values: ['fine', 'coarse'].map((value) => ({ value, hint: '' })),
};

/** Reads a and b (also spelled bee), writes x and y; b needs the program bread, y the encoder why. */
const first: EngineCatalogue = {
  engine: 'first',
  summary: '',
  resources,
  formats: [
    { ext: 'a', mediaType: 'test/a' },
    { ext: 'b', mediaType: 'test/b' },
    { ext: 'bee', mediaType: 'test/b', aliasOf: 'b' },
    { ext: 'x', mediaType: 'test/x' },
    { ext: 'y', mediaType: 'test/y' },
  ],
  capabilities: [{ operation: 'convert', from: ['a', 'b', 'bee'], to: ['x', 'y'], options: [codec] }],
  components: { base: { label: 'Base' }, bread: { label: 'Bread' }, why: { label: 'Why' }, fine: { label: 'Fine' } },
  requires: (_operation, from, to) => ['base', ...(from === 'b' ? ['bread'] : []), ...(to === 'y' ? ['why'] : [])],
  detect: (start) => (start[0] === 66 ? 'b' : undefined),
};

const second: EngineCatalogue = {
  engine: 'second',
  summary: '',
  resources,
  formats: [],
  capabilities: [{ operation: 'convert', from: ['b'], to: ['x'], options: [] }],
};

const without = (...names: string[]) =>
  new Catalogue([first, second], { first: Object.fromEntries(names.map((name) => [name, ''])) });

describe('a catalogue', () => {
  test('offers every pair where nothing is missing', () => {
    const catalogue = new Catalogue([first, second]);
    expect(catalogue.inputs('convert', '*')).toEqual(['a', 'b', 'bee']);
    expect(catalogue.outputs('convert', '*')).toEqual(['x', 'y']);
    expect(catalogue.find('convert', 'b', 'x')?.engine).toBe('first');
    expect(catalogue.formats()).toEqual(['a', 'b', 'bee', 'x', 'y']);
  });

  test('drops exactly the pairs that need a missing component, by all spellings', () => {
    const catalogue = without('bread');
    expect(catalogue.outputs('convert', 'a')).toEqual(['x', 'y']);
    expect(catalogue.outputs('convert', 'bee')).toEqual([]);
    expect(catalogue.find('convert', 'b', 'y')).toBeUndefined();
    expect(catalogue.inputs('convert', 'y')).toEqual(['a']);
    expect(catalogue.formats()).toEqual(['a', 'b', 'x', 'y']);
    expect(catalogue.isUsable('first')).toBe(true);
  });

  test('gives a dropped pair to another engine that can do it', () => {
    expect(without('bread').find('convert', 'b', 'x')?.engine).toBe('second');
  });

  test('calls an engine unusable when it has no pair left, and one without pairs when it lacks anything', () => {
    const mover: EngineCatalogue = {
      ...second,
      engine: 'mover',
      capabilities: [],
      components: { van: { label: 'Van' } },
    };
    const catalogue = new Catalogue([first, second, mover], { first: { base: '' }, mover: { van: '' } });
    expect(['first', 'second', 'mover'].map((engine) => catalogue.isUsable(engine))).toEqual([false, true, false]);
    expect(new Catalogue([mover]).isUsable('mover')).toBe(true);
  });

  test('knows and detects formats whatever is missing', async () => {
    const catalogue = without('base');
    expect(catalogue.outputs('convert', 'a')).toEqual([]);
    expect(catalogue.canonical('bee')).toBe('b');
    expect(catalogue.mediaType('b')).toBe('test/b');
    expect(await detectFormat(catalogue, Buffer.from('B'), 'file.a')).toBe('b');
  });

  test('does not offer option values that name a missing component', () => {
    const [option] = without('fine').find('convert', 'a', 'x')?.capability.options ?? [];
    expect(option).toMatchObject({ default_value: 'coarse', enum_values: [{ value: 'coarse' }] });
  });

  test('refuses dropped pairs in requests with what is left', () => {
    const request = { operation: 'convert' as const, inputFormat: 'a', outputFormat: 'y', options: {} };
    const missing = 'a program that it needs is not installed on this instance; GET /health lists what is missing.';
    expect(checkProcessing(without('why'), request)).toEqual({
      errors: { output_format: [`Cannot convert "a" to "y": ${missing} Valid output formats for a: x.`] },
      reason: 'unsupported_format',
    });
    expect(checkProcessing(without('bread'), { ...request, inputFormat: 'b' })).toEqual({
      errors: { output_format: [`Cannot convert "b" to "y": ${missing} Valid output formats for b: x.`] },
      reason: 'unsupported_format',
    });
  });
});
