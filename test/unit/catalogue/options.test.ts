import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions, type OptionValue } from '../../../shared/catalogue/options.ts';

const option = (name: string, change: Partial<OptionDescriptor>): OptionDescriptor => ({
  name,
  hint: '',
  data_type: 'string',
  ...change,
});

const strip = option('strip', { data_type: 'boolean', default_value: 'true' });
const quality = option('quality', { data_type: 'integer', properties: { min: 1, max: 100 } });
const angle = option('angle', { data_type: 'number', properties: { min: -360 } });
const scale = option('scale', { data_type: 'number', properties: { max: 4 } });
const title = option('title', {});
const background = option('background', { properties: { pattern: '#[0-9a-f]{6}' } });
const fit = option('fit', {
  type: 'enum',
  enum_values: [
    { value: 'max', hint: '' },
    { value: 'crop', hint: '' },
  ],
});
const depth = option('depth', {
  data_type: 'integer',
  type: 'enum',
  enum_values: [
    { value: '8', hint: '' },
    { value: '16', hint: '' },
  ],
});

/** The set of the spec's example: converting a jpg to pdf. */
const pageSize = option('pdf_page_size', {
  type: 'enum',
  enum_values: [
    { value: 'same-as-image', hint: '' },
    { value: '1240.2x1753.95', hint: 'A4' },
  ],
});
const enlarge = option('enlarge_images_to_fit', {
  data_type: 'boolean',
  default_value: 'true',
  conditions: [{ name: 'pdf_page_size', required: true, meta: [{ value: '1240.2x1753.95', label: 'A4' }] }],
});
const lossless = option('lossless', { data_type: 'boolean' });
const effort = option('effort', {
  data_type: 'integer',
  conditions: [{ name: 'lossless', required: false, meta: [{ value: false, label: 'off' }] }],
});

describe('a value of the right type', () => {
  it.each<[OptionDescriptor, unknown, OptionValue]>([
    [strip, true, true],
    [strip, false, false],
    [strip, 'false', false],
    [quality, 1, 1],
    [quality, 100, 100],
    [quality, '80', 80],
    [quality, 8.0, 8],
    [angle, -359.5, -359.5],
    [angle, 1e6, 1e6],
    [scale, '0.5', 0.5],
    [title, 'Ein Bild', 'Ein Bild'],
    [title, 2026, '2026'],
    [title, '', ''],
    [title, 'x'.repeat(1024), 'x'.repeat(1024)],
    [background, '#00ff00', '#00ff00'],
    [fit, 'crop', 'crop'],
    [depth, 16, 16],
    [depth, '8', 8],
  ])('is taken: %o accepts %j', (descriptor, given, value) => {
    const { values, errors } = checkOptions([descriptor], { [descriptor.name]: given });

    expect(errors).toEqual({});
    expect(values).toEqual({ [descriptor.name]: value });
  });
});

describe('a value that is wrong', () => {
  it.each<[OptionDescriptor, unknown, string]>([
    [strip, 1, 'Expected true or false for strip but received 1 of type number.'],
    [strip, 'yes', 'Expected true or false for strip but received "yes" of type string.'],
    [quality, 0, 'Expected an integer between 1 and 100 for quality but received 0 of type number.'],
    [quality, 101, 'Expected an integer between 1 and 100 for quality but received 101 of type number.'],
    [quality, 50.5, 'Expected an integer between 1 and 100 for quality but received 50.5 of type number.'],
    [quality, '', 'Expected an integer between 1 and 100 for quality but received "" of type string.'],
    [quality, ' ', 'Expected an integer between 1 and 100 for quality but received " " of type string.'],
    [quality, true, 'Expected an integer between 1 and 100 for quality but received true of type boolean.'],
    [quality, null, 'Expected an integer between 1 and 100 for quality but received null of type null.'],
    [quality, [50], 'Expected an integer between 1 and 100 for quality but received [50] of type array.'],
    [quality, { a: 1 }, 'Expected an integer between 1 and 100 for quality but received {"a":1} of type object.'],
    [angle, -361, 'Expected a number of at least -360 for angle but received -361 of type number.'],
    [angle, 'Infinity', 'Expected a number of at least -360 for angle but received "Infinity" of type string.'],
    [scale, 4.1, 'Expected a number of at most 4 for scale but received 4.1 of type number.'],
    [option('x', { data_type: 'number' }), 'a', 'Expected a number for x but received "a" of type string.'],
    [
      title,
      true,
      'Expected a string of at most 1024 characters without NUL for title but received true of type boolean.',
    ],
    [
      title,
      'a\0b',
      'Expected a string of at most 1024 characters without NUL for title but received "a\\u0000b" of type string.',
    ],
    [
      option('output_password', { data_type: 'string' }),
      'hunter2\0',
      'Expected a string of at most 1024 characters without NUL for output_password but received a value of type string.',
    ],
    [
      background,
      '#00ff00\n',
      'Expected a string of the form #[0-9a-f]{6} for background but received "#00ff00\\n" of type string.',
    ],
    [fit, 'fill', 'Expected one of "max", "crop" for fit but received "fill" of type string.'],
    [depth, 12, 'Expected one of "8", "16" for depth but received 12 of type number.'],
  ])('is refused with what is expected: %o given %j', (descriptor, given, message) => {
    const { errors } = checkOptions([descriptor], { [descriptor.name]: given });

    expect(errors).toEqual({ [descriptor.name]: [message] });
  });

  it('is shown shortened when it is long', () => {
    const { errors } = checkOptions([title], { title: 'x'.repeat(5000) });

    expect(errors.title?.[0]?.length).toBeLessThan(200);
    expect(errors.title?.[0]).toContain('x… of type string.');
  });

  it('is reported with every other mistake', () => {
    const { errors } = checkOptions([quality, fit], { quality: 0, fit: 'x', colour: 'red' });

    expect(Object.keys(errors)).toEqual(['quality', 'fit', 'colour']);
  });
});

describe('a name', () => {
  it('that is unknown is refused with the names there are', () => {
    expect(checkOptions([quality, fit], { colour: 'red' }).errors).toEqual({
      colour: ['Unknown option "colour". Valid options: quality, fit.'],
    });
    expect(checkOptions([], { colour: 'red' }).errors).toEqual({
      colour: ['Unknown option "colour". Valid options: none for this pair.'],
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])('%j is unknown as any other', (name) => {
    const { errors, values } = checkOptions([quality], JSON.parse(`{${JSON.stringify(name)}: 1}`));

    expect(Object.entries(errors)).toEqual([[name, [`Unknown option "${name}". Valid options: quality.`]]]);
    expect(Object.getPrototypeOf(errors)).toBe(Object.prototype);
    expect(values).toEqual({});
  });

  it('that is unknown ten thousand times over gets a response of limited size', () => {
    const given = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${'x'.repeat(100)}${index}`, 1]));

    const { errors } = checkOptions([quality], given);

    expect(Object.keys(errors).length).toBeGreaterThan(0);
    expect(JSON.stringify(errors).length).toBeLessThan(20_000);
  });
});

describe('a default', () => {
  it('is used, in its own type, when the option is left out', () => {
    expect(checkOptions([strip, quality], {}).values).toEqual({ strip: true });
  });

  it('is not used when the option is given', () => {
    expect(checkOptions([strip], { strip: false }).values).toEqual({ strip: false });
  });

  it('is not used when the condition of its option does not hold', () => {
    expect(checkOptions([pageSize, enlarge], {}).values).toEqual({});
    expect(checkOptions([pageSize, enlarge], { pdf_page_size: '1240.2x1753.95' }).values).toEqual({
      pdf_page_size: '1240.2x1753.95',
      enlarge_images_to_fit: true,
    });
  });
});

describe('conditions', () => {
  it('rule 1: a required one holds when the other option is there with one of the values', () => {
    const given = { pdf_page_size: '1240.2x1753.95', enlarge_images_to_fit: false };

    expect(checkOptions([pageSize, enlarge], given)).toEqual({ values: given, errors: {} });
  });

  it.each([{}, { pdf_page_size: 'same-as-image' }])(
    'rule 1: a required one refuses the option beside %j and says what would be valid',
    (beside) => {
      const { errors } = checkOptions([pageSize, enlarge], { ...beside, enlarge_images_to_fit: false });

      expect(errors).toEqual({
        enlarge_images_to_fit: [
          'Option enlarge_images_to_fit takes effect only together with pdf_page_size set to one of "1240.2x1753.95".',
        ],
      });
    },
  );

  it.each([{}, { lossless: false }, { lossless: 'false' }])(
    'rule 2: one that is not required lets the option be used beside %j',
    (beside) => {
      expect(checkOptions([lossless, effort], { ...beside, effort: 3 }).errors).toEqual({});
    },
  );

  it('rule 2: one that is not required refuses the option beside another value', () => {
    expect(checkOptions([lossless, effort], { lossless: true, effort: 3 }).errors).toEqual({
      effort: ['Option effort cannot be combined with this lossless; leave lossless out or set it to one of false.'],
    });
  });

  it('do not depend on the order in which options are given or described', () => {
    const given = { enlarge_images_to_fit: false, pdf_page_size: '1240.2x1753.95' };

    expect(checkOptions([enlarge, pageSize], given).errors).toEqual({});
  });
});

const names = ['a', 'b', 'c', 'toString', '__proto__'];
const descriptor: fc.Arbitrary<Omit<OptionDescriptor, 'name'>> = fc
  .record({
    data_type: fc.constantFrom('boolean' as const, 'string' as const, 'number' as const, 'integer' as const),
    bounds: fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 })),
    bounded: fc.boolean(),
    listed: fc.option(fc.uniqueArray(fc.constantFrom('1', '2', '3.5', 'x'), { minLength: 1 }), { nil: undefined }),
    default_value: fc.constantFrom(undefined, '', 'true', '1', '7', 'x'),
    condition: fc.option(
      fc.record({
        name: fc.constantFrom(...names),
        required: fc.boolean(),
        values: fc.array(fc.constantFrom<OptionValue>(true, 1, '1', 'x')),
      }),
      { nil: undefined },
    ),
  })
  .map(({ data_type, bounds, bounded, listed, default_value, condition }) => ({
    hint: '',
    data_type,
    ...(bounded ? { properties: { min: Math.min(...bounds), max: Math.max(...bounds) } } : {}),
    ...(listed && data_type !== 'boolean'
      ? { type: 'enum' as const, enum_values: listed.map((value) => ({ value, hint: '' })) }
      : {}),
    ...(default_value === undefined ? {} : { default_value }),
    ...(condition
      ? {
          conditions: [
            {
              name: condition.name,
              required: condition.required,
              meta: condition.values.map((value) => ({ value, label: '' })),
            },
          ],
        }
      : {}),
  }));

const descriptors: fc.Arbitrary<OptionDescriptor[]> = fc
  .tuple(fc.subarray(names), fc.array(descriptor, { minLength: names.length, maxLength: names.length }))
  .map(([chosen, described]) =>
    chosen.flatMap((name, index) => {
      const found = described[index];
      return found ? [{ ...found, name }] : [];
    }),
  );

const given = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...names), fc.string()),
      fc.oneof(
        fc.constantFrom<unknown>(true, false, 1, 2, 3.5, '1', 'x', 'true', Number.POSITIVE_INFINITY),
        fc.anything(),
      ),
    ),
  )
  .map((entries): Record<string, unknown> => Object.fromEntries(entries));

function fits(value: OptionValue | undefined, { data_type, type, enum_values, properties }: OptionDescriptor): boolean {
  if (type === 'enum') return enum_values?.some((item) => item.value === String(value)) ?? false;
  if (data_type === 'boolean' || data_type === 'string') return typeof value === data_type;
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (data_type === 'integer' && !Number.isInteger(value)) return false;
  return value >= (properties?.min ?? -Infinity) && value <= (properties?.max ?? Infinity);
}

describe('whatever is given', () => {
  it('is checked without throwing, and what is accepted fits its descriptor', () => {
    fc.assert(
      fc.property(descriptors, given, (described, options) => {
        const { values, errors } = checkOptions(described, options);

        const known = new Map(described.map((item) => [item.name, item]));
        for (const [name, value] of Object.entries(values)) {
          const found = known.get(name);
          expect(found !== undefined && fits(value, found)).toBe(true);
        }
        if (Object.keys(errors).length === 0)
          expect(Object.keys(options).filter((name) => !Object.hasOwn(values, name))).toEqual([]);
        for (const messages of Object.values(errors)) {
          for (const message of messages)
            expect(message).toMatch(/^(?:Expected .+ for .+ but received .* of type \w+|Unknown option|Option .+)/s);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('is accepted only where the conditions of the given options hold', () => {
    const likely = fc.dictionary(fc.constantFrom(...names), fc.constantFrom<OptionValue>(true, 1, 2, '1', 'x'), {
      maxKeys: 3,
    });
    fc.assert(
      fc.property(descriptors, likely, (described, options) => {
        const { values, errors } = checkOptions(described, options);

        const isGiven = (name: string) => Object.hasOwn(options, name) && Object.hasOwn(values, name);
        for (const { name, conditions = [] } of described.filter((item) => isGiven(item.name))) {
          const allHold = conditions.every((condition) =>
            isGiven(condition.name) && !isBad(condition.name, described, options)
              ? condition.meta.some(({ value }) => String(value) === String(values[condition.name]))
              : !condition.required,
          );
          if (!isBad(name, described, options)) expect(Object.hasOwn(errors, name)).toBe(!allHold);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Tells whether the value that was given for an option is refused on its own, whatever stands beside it. */
function isBad(name: string, described: OptionDescriptor[], options: Record<string, unknown>): boolean {
  const alone = described.filter((item) => item.name === name).map(({ conditions: _conditions, ...item }) => item);
  return Object.keys(checkOptions(alone, Object.fromEntries([[name, options[name]]])).errors).length > 0;
}
