import { afterEach, expect, test, vi } from 'vitest';
import { catalogue } from '../../../functions/catalogue/catalogues.ts';
import {
  groupFormats,
  likelyOutput,
  outputsOf,
  searchFormats,
  usualOutputs,
} from '../../../web/src/convert/formats.ts';

afterEach(() => vi.unstubAllGlobals());

/** Has the service list its formats as the API does. */
function withFormats(): void {
  const formats = catalogue.formats().map((ext) => {
    const name = catalogue.canonical(ext);
    return name === ext ? { ext } : { ext, alias_of: name };
  });
  vi.stubGlobal('fetch', async () => new Response(JSON.stringify({ formats })));
}

test('every format of the service but its aliases has a group', async () => {
  withFormats();
  const formats = await outputsOf('*');
  expect(formats).toContain('jpg');
  expect(formats.filter((format) => ['jpeg', 'tif', 'htm', 'm4a4', 'wave', 'tgz'].includes(format))).toEqual([]);
  expect(groupFormats(formats).find(({ title }) => title === 'Other')).toBeUndefined();
});

test('a search finds formats by their aliases, exact names first', async () => {
  withFormats();
  const formats = await outputsOf('*');
  expect(searchFormats(formats, 'jpeg')[0]).toBe('jpg');
  expect(searchFormats(formats, '.TS')[0]).toBe('ts');
  expect(searchFormats(formats, 'tgz')).toEqual(['tar.gz']);
  expect(searchFormats(formats, 'unheard')).toEqual([]);
});

test('the usual formats lead, except for the format itself', async () => {
  withFormats();
  const formats = await outputsOf('*');
  expect(usualOutputs('jpeg', formats)).not.toContain('jpg');
  expect(likelyOutput('png', formats)).toBe('webp');
  expect(likelyOutput('avi', formats)).toBe('mp4');
  expect(groupFormats(formats, 'mp3')[0]?.title).toBe('Audio');
});
