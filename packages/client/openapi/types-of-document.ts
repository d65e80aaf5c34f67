import openapiTS, { astToString } from 'openapi-typescript';
import { openapiDocument } from '../../../functions/api/service/openapi-document.ts';

/** The module that holds the generated types. */
export const typesFile: URL = new URL('../src/openapi.ts', import.meta.url);

const header =
  '// Generated from the OpenAPI document by `npm run types --workspace packages/client`. Do not edit.\n\n';

/** Generates types from the OpenAPI document of a service with all engine components. */
export async function generatedTypes(): Promise<string> {
  const document = JSON.stringify(openapiDocument('http://localhost:3000'), withoutErrors);
  // A field with a default is optional in a request.
  return `${header}${astToString(await openapiTS(document, { defaultNonNullable: false, alphabetize: true }))}`;
}

/** Omits error responses, which are all alike and would be most of the types. The client throws them as errors. */
function withoutErrors(name: string, value: unknown): unknown {
  if (name !== 'responses' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([status]) => !/^[45]/.test(status)));
}
