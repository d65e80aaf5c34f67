import openapiTS, { astToString } from 'openapi-typescript';
import { openapiDocument } from '../../../functions/api/service/openapi-document.ts';

/** The module that holds the generated types. */
export const typesFile: URL = new URL('../src/openapi.ts', import.meta.url);

const header = '// Generated from the OpenAPI document by `npm run types --workspace lathe-client`. Do not edit.\n\n';

/** Returns the types of the service's OpenAPI document, as it is where no component of an engine is missing. */
export async function generatedTypes(): Promise<string> {
  const document = JSON.stringify(openapiDocument('http://localhost:3000'), withoutErrors);
  // A field with a default may be left out of a request.
  return `${header}${astToString(await openapiTS(document, { defaultNonNullable: false, alphabetize: true }))}`;
}

/** Leaves out the responses that the client throws as errors, which all look alike and make up most of the types. */
function withoutErrors(name: string, value: unknown): unknown {
  if (name !== 'responses' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([status]) => !/^[45]/.test(status)));
}
