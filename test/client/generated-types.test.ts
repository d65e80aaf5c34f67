import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generatedTypes, typesFile } from '../../packages/client/openapi/types-of-document.ts';

test('the types of the client are those of the OpenAPI document', async () => {
  const isCurrent = (await readFile(typesFile, 'utf8')) === (await generatedTypes());
  expect(isCurrent, 'npm run types --workspace packages/client makes them anew').toBe(true);
});
