import { afterAll, beforeAll } from 'vitest';
import { startStack, type TestStack } from '../events/stack.ts';
import { twoHalves } from '../support/images.ts';
import { type FileServer, startFileServer } from '../transfers/file-server.ts';

/** The service that the scenarios use, and a site that it may import a picture from; /never.png never responds. */
export let stack: TestStack;
export let site: FileServer;
/** A picture of 48 by 24 pixels. */
export let picture: Buffer<ArrayBuffer>;

beforeAll(async () => {
  picture = Buffer.from(await twoHalves(48, 24));
  site = await startFileServer((request, response) => {
    if (!request.url?.startsWith('/never.png')) response.end(picture);
  });
  stack = await startStack({ LATHE_ALLOW_HOSTS: `127.0.0.1:${site.port}` });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});
