import { suggestion } from '../operations/nearest-name.ts';
import type { OptionCondition, OptionDescriptor } from './catalogue.ts';

export type OptionValue = string | number | boolean;
export type OptionValues = Record<string, OptionValue>;

export interface CheckedOptions {
  /** The given options with their types, and the defaults of those omitted. */
  values: OptionValues;
  /** Option name to what is wrong with it. */
  errors: Record<string, string[]>;
}

/** Returns whether the values of an option must never be shown, logged or stored in a record. */
export function isSecretOption(name: string): boolean {
  return /password|certificate|form_data/i.test(name);
}

/** Maximum mistakes per response: a client may send any number of options, and the response has a size limit. */
const maxErrors = 20;

/** Checks options against their descriptors: names, types, ranges, enumerations and the spec's two rules for conditions. */
export function checkOptions(descriptors: readonly OptionDescriptor[], given: Record<string, unknown>): CheckedOptions {
  const known = new Map(descriptors.map((descriptor) => [descriptor.name, descriptor]));
  const errors = new Map<string, string[]>();
  const values = new Map<string, OptionValue>();

  for (const [name, raw] of Object.entries(given)) {
    if (errors.size >= maxErrors) break;
    const descriptor = known.get(name);
    if (!descriptor) {
      const valid = [...known.keys()].join(', ') || 'none for this pair';
      errors.set(name, [`Unknown option ${quote(name)}.${suggestion(name, known.keys())} Valid options: ${valid}.`]);
      continue;
    }
    const value = convert(descriptor, raw);
    if (value === undefined)
      errors.set(name, [
        `Expected ${expectation(descriptor)} for ${name} but received ${describe(raw, isSecretOption(name))}.`,
      ]);
    else values.set(name, value);
  }

  for (const descriptor of descriptors) {
    if (!values.has(descriptor.name)) continue;
    const broken = (descriptor.conditions ?? []).filter((condition) => !holds(condition, values));
    if (broken.length > 0)
      errors.set(
        descriptor.name,
        broken.map((condition) => conditionMessage(descriptor.name, condition)),
      );
  }

  for (const descriptor of descriptors) {
    if (values.has(descriptor.name) || descriptor.default_value === undefined || descriptor.default_value === '')
      continue;
    if (!(descriptor.conditions ?? []).every((condition) => holds(condition, values))) continue;
    const value = convert(descriptor, descriptor.default_value);
    if (value !== undefined) values.set(descriptor.name, value);
  }
  return { values: Object.fromEntries(values), errors: Object.fromEntries(errors) };
}

function convert(descriptor: OptionDescriptor, raw: unknown): OptionValue | undefined {
  switch (descriptor.data_type) {
    case 'boolean':
      if (typeof raw === 'boolean') return raw;
      return raw === 'true' ? true : raw === 'false' ? false : undefined;
    case 'integer':
    case 'number': {
      // Published clients also send numbers as strings, because the descriptor's default_value is one.
      const value = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (descriptor.data_type === 'integer' && !Number.isInteger(value)) return undefined;
      const { min = -Infinity, max = Infinity } = descriptor.properties ?? {};
      if (descriptor.type === 'enum') return enumerated(descriptor, String(value)) === undefined ? undefined : value;
      return value >= min && value <= max ? value : undefined;
    }
    case 'string': {
      if (typeof raw !== 'string' && typeof raw !== 'number') return undefined;
      const value = String(raw);
      if (descriptor.type === 'enum') return enumerated(descriptor, value);
      // Program arguments cannot contain NUL.
      const { pattern, maxLength = 1024 } = descriptor.properties ?? {};
      if (value.length > maxLength || value.includes('\0')) return undefined;
      return pattern === undefined || new RegExp(`^(?:${pattern})$`, 'u').test(value) ? value : undefined;
    }
  }
}

function enumerated(descriptor: OptionDescriptor, value: string): string | undefined {
  return descriptor.enum_values?.find((item) => item.value === value)?.value;
}

function holds(condition: OptionCondition, values: Map<string, OptionValue>): boolean {
  const other = values.get(condition.name);
  if (other === undefined) return !condition.required;
  return condition.meta.some(({ value }) => String(value) === String(other));
}

function conditionMessage(name: string, condition: OptionCondition): string {
  const accepted = condition.meta.map(({ value }) => JSON.stringify(value)).join(', ');
  return condition.required
    ? `Option ${name} takes effect only together with ${condition.name} set to one of ${accepted}.`
    : `Option ${name} cannot be combined with this ${condition.name}; leave ${condition.name} out or set it to one of ${accepted}.`;
}

function expectation(descriptor: OptionDescriptor): string {
  if (descriptor.type === 'enum')
    return `one of ${(descriptor.enum_values ?? []).map((item) => JSON.stringify(item.value)).join(', ')}`;
  if (descriptor.data_type === 'boolean') return 'true or false';
  if (descriptor.data_type === 'string') {
    const pattern = descriptor.properties?.pattern;
    return pattern
      ? `a string of the form ${pattern}`
      : `a string of at most ${descriptor.properties?.maxLength ?? 1024} characters without NUL`;
  }
  const { min, max } = descriptor.properties ?? {};
  const bounds = [min === undefined ? '' : ` of at least ${min}`, max === undefined ? '' : ` of at most ${max}`];
  const range = min !== undefined && max !== undefined ? ` between ${min} and ${max}` : bounds.join('');
  return `${descriptor.data_type === 'integer' ? 'an integer' : 'a number'}${range}`;
}

function describe(value: unknown, isSecret: boolean): string {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return `${isSecret ? 'a value' : quote(value)} of type ${type}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77).toWellFormed()}…` : text;
}
