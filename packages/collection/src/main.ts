import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openapiDocument } from '../../../functions/api/service/openapi-document.ts';
import { brunoCollection } from './bruno.ts';
import { documentSchema } from './document.ts';
import { sampleName, samplePdf } from './examples.ts';
import { postmanCollection } from './postman.ts';
import { requestsOf } from './requests.ts';

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  process.stderr.write('Expected one folder, as in: npm run collection -- collections\n');
  process.exit(2);
}

const requests = requestsOf(documentSchema.parse(openapiDocument('http://localhost:3000')));
const collections = {
  bruno: { ...brunoCollection(requests), [sampleName]: samplePdf() },
  postman: { ...postmanCollection(requests), [sampleName]: samplePdf() },
};
for (const [name, files] of Object.entries(collections))
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, name, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
process.stdout.write(`${requests.length} requests in ${join(folder, 'bruno')} and ${join(folder, 'postman')}\n`);
