import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { readInstantResult } from '../../../packages/client/src/instant.ts';

/** Returns a ZIP of two files as the service sends it. */
async function zipped(headers: Record<string, string>): Promise<Response> {
  const zip = new ZipFile();
  for (const name of ['a.m3u8', 'b.m4s']) zip.addBuffer(Buffer.from(name), name, { compress: false });
  zip.end();
  const disposition = 'attachment; filename="film.zip"';
  return new Response(new Uint8Array(await buffer(zip.outputStream)), {
    headers: { 'content-type': 'application/zip', 'content-disposition': disposition, ...headers },
  });
}

const namesOf = async (response: Response, to: string) =>
  (await readInstantResult(response, to)).files.map(({ filename }) => filename);

describe('The result of an instant request', () => {
  test.each(['hls', 'dash', 'zip'])('is one ZIP if it was converted to %s', async (to) => {
    expect(await namesOf(await zipped({}), to)).toEqual(['film.zip']);
  });

  test.each([{ 'lathe-archive': 'image/jpeg' }, {}])('is each of several files (%o)', async (headers) => {
    expect(await namesOf(await zipped(headers), 'jpg')).toEqual(['a.m3u8', 'b.m4s']);
  });
});
