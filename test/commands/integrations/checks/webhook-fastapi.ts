import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';
import { checkReceiver } from '../webhook-receiver.ts';

export const check: Check = async () => {
  await using example = new Example('webhook-fastapi');
  const requirements = readFileSync(join(example.folder, 'requirements.txt'), 'utf8').trim().split('\n');
  const bin = example.installPython([...requirements, 'mypy']);
  await example.succeed(join(bin, 'mypy'), ['--strict', 'receiver.py']);
  const port = await freePort();
  const database = { DATABASE: example.file('webhooks.sqlite') };
  const args = ['receiver:app', '--port', String(port)];
  const outcome = await checkReceiver({
    port,
    start: (env) => example.start(join(bin, 'uvicorn'), args, 'Uvicorn running', { env: { ...env, ...database } }),
  });
  return `${outcome}; mypy --strict passes`;
};
