import { writeFile } from 'node:fs/promises';
import { generatedTypes, typesFile } from './types-of-document.ts';

await writeFile(typesFile, await generatedTypes());
