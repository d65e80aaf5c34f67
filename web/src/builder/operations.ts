/** The part of JSON Schema that describes the parameters of operations. */
interface Schema {
  $ref?: string;
  type?: string;
  const?: string;
  enum?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  description?: string;
  examples?: string[];
  format?: string;
  maxLength?: number;
  default?: unknown;
}

/** The part of the OpenAPI document that describes operations. */
export interface Description {
  paths: Record<string, { post?: { summary: string; tags: string[] } }>;
  components: { schemas: Record<string, Schema> };
}

export interface Parameter {
  name: string;
  kind: 'text' | 'long text' | 'secret' | 'number' | 'boolean' | 'choice' | 'pairs' | 'tasks';
  isRequired: boolean;
  hint: string;
  example: string;
  /** The values of a choice. */
  values: string[];
}

/** An operation for tasks. */
export interface Operation {
  name: string;
  summary: string;
  /** Its group in the API reference. */
  group: string;
  takesInput: boolean;
  takesOptions: boolean;
  takesInputFormat: boolean;
  /** Whether it accepts or requires an output format. */
  outputFormat: 'required' | 'optional' | 'none';
  /** Its output formats, if the document lists them. */
  outputFormats: string[] | undefined;
  /** Its other parameters. */
  parameters: Parameter[];
}

/** Returns the operations that the service describes in its OpenAPI document. */
export function operationsOf({ paths, components: { schemas } }: Description): Operation[] {
  const definitions = (schemas.TaskDefinition?.oneOf ?? []).flatMap(({ $ref = '' }) => {
    const schema = schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
    return schema ? [schema] : [];
  });
  return definitions.map(({ properties = {}, required = [] }) => {
    const { operation, input, options, input_format, output_format, ...others } = properties;
    const name = operation?.const ?? '';
    const endpoint = paths[`/v1/process/${name}`]?.post;
    return {
      name,
      summary: endpoint?.summary ?? name,
      group: endpoint?.tags[0] ?? '',
      takesInput: input !== undefined,
      takesOptions: options !== undefined,
      takesInputFormat: input_format !== undefined,
      outputFormat: !output_format ? 'none' : required.includes('output_format') ? 'required' : 'optional',
      outputFormats: output_format?.enum,
      parameters: Object.entries(others)
        .map(([each, schema]) => parameterOf(each, schema, required.includes(each)))
        .sort((a, b) => Number(b.isRequired) - Number(a.isRequired)),
    };
  });
}

function parameterOf(name: string, schema: Schema, isRequired: boolean): Parameter {
  return {
    name,
    kind: kindOf(schema),
    isRequired,
    hint: schema.description ?? '',
    example: schema.examples?.[0] ?? '',
    values: schema.enum ?? [],
  };
}

/** Longer texts get several lines. */
const maxLineLength = 10_000;

function kindOf({ type, enum: values, format, maxLength = 0, anyOf = [] }: Schema): Parameter['kind'] {
  if (anyOf.some((either) => either.type === 'array')) return 'tasks';
  if (values) return 'choice';
  if (type === 'boolean') return 'boolean';
  if (type === 'object') return 'pairs';
  if (type === 'integer' || type === 'number') return 'number';
  if (maxLength > maxLineLength) return 'long text';
  return format === 'password' ? 'secret' : 'text';
}
