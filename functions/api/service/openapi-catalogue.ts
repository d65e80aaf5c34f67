import type { Catalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { type ProcessingOperation, processingOperations } from '../../../shared/operations/operations.ts';
import { catalogue } from '../../catalogue/catalogues.ts';

type Json = Record<string, unknown>;

/** Returns the schemas of the formats and options available on this instance, by their names in the OpenAPI document. */
export function catalogueSchemas(): Record<string, Json> {
  return {
    Format: oneOf(withAliases(catalogue, catalogue.formats())),
    ...Object.fromEntries(
      processingOperations.flatMap((operation) => [
        [nameOf(operation, 'InputFormat'), oneOf(withAliases(catalogue, catalogue.inputs(operation, '*')))],
        [nameOf(operation, 'OutputFormat'), oneOf(withAliases(catalogue, catalogue.outputs(operation, '*')))],
        [nameOf(operation, 'Options'), optionsOf(operation)],
      ]),
    ),
  };
}

/** Replaces the free-text formats and options of an operation with references to the available ones. */
export function withCatalogue(operation: ProcessingOperation, { properties, ...schema }: Json): Json {
  const { input_format: input, output_format: output, options, ...others } = Object(properties);
  return {
    ...schema,
    properties: {
      ...others,
      ...(input && { input_format: reference(operation, 'InputFormat', input) }),
      // The spec fixes the output formats of a merge.
      ...(output && { output_format: output.enum ? output : reference(operation, 'OutputFormat', output) }),
      options: { ...reference(operation, 'Options', options), default: {} },
    },
  };
}

function reference(operation: ProcessingOperation, part: string, { description }: Json): Json {
  return { $ref: `#/components/schemas/${nameOf(operation, part)}`, description };
}

function nameOf(operation: ProcessingOperation, part: string): string {
  const words = operation.split('/').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}${part}`;
}

function withAliases(from: Catalogue, formats: string[]): string[] {
  const aliases = from.engines
    .flatMap((engine) => engine.formats)
    .filter(({ aliasOf }) => formats.includes(aliasOf ?? ''));
  return [...new Set([...formats, ...aliases.map(({ ext }) => ext)])].sort();
}

function oneOf(formats: string[]): Json {
  const description = 'Lower-case extension without a dot. Upper case and a leading dot are accepted, too.';
  return formats.length > 0 ? { type: 'string', enum: formats, description } : { not: {}, description };
}

function optionsOf(operation: ProcessingOperation): Json {
  const byName = new Map<string, Map<string, Json>>();
  for (const { capabilities } of catalogue.engines)
    for (const capability of capabilities.filter((candidate) => candidate.operation === operation))
      for (const option of capability.options) {
        const schema = optionSchema(option);
        byName.set(option.name, (byName.get(option.name) ?? new Map()).set(JSON.stringify(schema), schema));
      }
  const properties = [...byName]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, schemas]) => {
      const [first, ...others] = schemas.values();
      return [name, others.length === 0 ? first : { anyOf: [...schemas.values()] }];
    });
  return {
    type: 'object',
    description: `Options of ${operation}. GET /v1/query/options/${operation} lists the options of a pair of formats and their dependencies.`,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    maxProperties: 100,
  };
}

function optionSchema({ data_type, type, enum_values, properties = {} }: OptionDescriptor): Json {
  const values = (enum_values ?? []).map(({ value }) => value);
  if (data_type === 'boolean') return { enum: [true, false, 'true', 'false'] };
  if (type === 'enum') return { enum: data_type === 'string' ? values : [...values, ...values.map(Number)] };
  if (data_type === 'string') {
    const pattern = properties.pattern?.replaceAll('\\p{Cc}', '\\x00-\\x1f\\x7f-\\x9f');
    return defined({
      type: 'string',
      maxLength: properties?.maxLength ?? 1024,
      pattern: pattern && `^(?:${pattern})$`,
    });
  }
  return defined({ type: data_type, minimum: properties.min, maximum: properties.max });
}
