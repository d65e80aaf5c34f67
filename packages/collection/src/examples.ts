import type { ApiDocument, JsonSchema } from './document.ts';

/** The name of the sample file, next to the requests that send it. */
export const sampleName = 'note.pdf';

/** Returns a PDF of one page with a line of text. */
export function samplePdf(): string {
  const text = 'BT /F 24 Tf 40 100 Td (A note for Lathe) Tj ET';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return `${pdf}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
}

const importOfSample = { filename: sampleName, file: `data:application/pdf;base64,${btoa(samplePdf())}` };

/** Bodies that do more than the required fields. */
export const bodies: Record<string, unknown> = {
  'create-job': {
    tasks: {
      note: { operation: 'import/base64', ...importOfSample },
      picture: { operation: 'convert', input: 'note', output_format: 'png' },
      link: { operation: 'export/url', input: 'picture' },
    },
  },
  'import-base64': importOfSample,
};

/** Values of fields and parameters, by their names, that fit the sample. */
const values: Record<string, unknown> = {
  input: '{{taskId}}',
  operation: 'convert',
  output_format: 'png',
  input_format: 'pdf',
  'Idempotency-Key': '{{$guid}}',
  Prefer: 'wait=25',
};

/** Builds examples of the document's schemas. */
export class Examples {
  readonly #schemas: ApiDocument['components']['schemas'];

  constructor(document: ApiDocument) {
    this.#schemas = document.components.schemas;
  }

  /** Returns a value that a field of this name may have. */
  of(name: string, schema: JsonSchema): unknown {
    return values[name] ?? this.#valueOf(schema);
  }

  /** Returns an object with the required fields of a schema. */
  requiredFields(schema: JsonSchema): Record<string, unknown> {
    const { properties, required } = this.#resolved(schema);
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(names.map((name) => [name, this.of(name, schemaIn(properties, name))]));
  }

  #valueOf(unresolved: JsonSchema): unknown {
    const schema = this.#resolved(unresolved);
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    for (const list of [schema.examples, schema.enum]) if (Array.isArray(list) && list.length > 0) return list[0];
    for (const list of [schema.anyOf, schema.oneOf])
      if (Array.isArray(list) && list.length > 0) return this.#valueOf(Object(list[0]));
    switch (schema.type) {
      case 'object':
        return this.requiredFields(schema);
      case 'array':
        return [this.#valueOf(schemaIn(schema, 'items'))];
      case 'integer':
      case 'number':
        return schema.minimum ?? 1;
      case 'boolean':
        return true;
      default:
        return 'text';
    }
  }

  #resolved(schema: JsonSchema): JsonSchema {
    if (typeof schema.$ref !== 'string') return schema;
    return this.#resolved(this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  }
}

function schemaIn(owner: unknown, name: string): JsonSchema {
  return Object(Object(owner)[name]);
}
