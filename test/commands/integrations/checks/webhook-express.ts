import { freePort } from '../../../support/free-port.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';
import { checkReceiver } from '../webhook-receiver.ts';

export const check: Check = async () => {
  await using example = new Example('webhook-express');
  example.installNpm();
  const database = { DATABASE: example.file('webhooks.sqlite') };
  return await checkReceiver({
    port: await freePort(),
    start: (env) =>
      example.start(process.execPath, ['receiver.ts'], 'Receiving webhooks', { env: { ...env, ...database } }),
  });
};
